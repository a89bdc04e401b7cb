import { lstat, mkdir } from 'node:fs/promises'
import { join } from 'node:path'

import { placeFile } from '../../agent/files/place-file.ts'
import { readRegular } from '../../agent/files/open-regular.ts'
import { realPathOf } from '../../agent/paths/real-path.ts'
import { Refusal } from '../../agent/refusal.ts'
import { parseAgentFile } from './parse-agent-file.ts'

// Agent files that the user creates and edits by answering questions. The rest of a file stays as it is.

export interface NewAgentType {
  readonly name: string
  readonly description: string
  /** Empty: all tools. */
  readonly tools: string
  /** Empty: the conversation's model. */
  readonly model: string
  readonly prompt: string
}

/** Fields that the questions change. */
export const EDITED_FIELDS = ['description', 'tools', 'model'] as const
export type EditedField = (typeof EDITED_FIELDS)[number]

const NAME = /^[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?$/i

/** What is wrong with a name, or undefined. The name becomes a file name. */
export function nameProblem(name: string): string | undefined {
  if (!NAME.test(name)) return `"${name}" is not a valid type name: use up to 64 letters, digits, - and _`
  return name.toLowerCase() === 'fork' ? '"fork" is reserved for forks; choose another name' : undefined
}

/** Returns the path of the new file. Refuses if the file exists, or if the path to the folder has a link. */
export async function createAgentFile(folder: string, type: NewAgentType): Promise<string> {
  const problem = nameProblem(type.name)
  if (problem !== undefined) throw new Refusal(problem)
  if ((await realPathOf(folder)) !== folder)
    throw new Refusal(`${folder} is reached through a link. Remove the link, or write the file yourself`)
  const path = join(folder, `${type.name}.md`)
  const fields = [
    `name: ${type.name}`,
    `description: ${quoted(type.description)}`,
    ...(type.tools === '' ? [] : [`tools: ${quoted(type.tools)}`]),
    ...(type.model === '' ? [] : [`model: ${quoted(type.model)}`]),
  ]
  const text = `---\n${fields.join('\n')}\n---\n\n${type.prompt.trim()}\n`
  await requireValid(text, path)
  if ((await lstat(path).catch(() => undefined)) !== undefined)
    throw new Refusal(`${path} already exists; /agents edit ${type.name} changes it`)
  await mkdir(folder, { recursive: true })
  await placeFile({ path, bytes: Buffer.from(text), replaces: 'absent' })
  return path
}

const FILE_BYTES_MAX = 512 * 1024

/** An empty value removes the field. */
export async function editAgentFile(path: string, field: EditedField, value: string): Promise<void> {
  const real = await realPathOf(path)
  const { bytes } = await readRegular(real, FILE_BYTES_MAX)
  const text = withField(bytes.toString('utf8'), field, value)
  await requireValid(text, path)
  await placeFile({ path: real, bytes: Buffer.from(text), replaces: 'file' })
}

async function requireValid(text: string, path: string): Promise<void> {
  const { type, problems } = await parseAgentFile(text, { path, source: 'user' })
  const bad = problems.filter((problem) => problem.startsWith('unknown tools'))
  if (!type || bad.length > 0) throw new Refusal(`nothing was written: ${[...problems].join('; ')}`)
}

/** A JSON string is always a valid YAML string. */
function quoted(text: string): string {
  return JSON.stringify(text.replaceAll(/\s+/g, ' ').trim())
}

/** The other lines stay as they are, including comments and order. */
export function withField(text: string, field: EditedField, value: string): string {
  const lines = text.split('\n')
  const end = lines.findIndex((line, place) => place > 0 && /^---[ \t]*\r?$/.test(line))
  if (end === -1) throw new Refusal('the file has no front matter to change')
  const start = lines.findIndex((line, place) => place < end && line.startsWith(`${field}:`))
  const fresh = value.trim() === '' ? [] : [`${field}: ${quoted(value)}`]
  if (start === -1) return [...lines.slice(0, end), ...fresh, ...lines.slice(end)].join('\n')
  // Folded or listed lines below the name belong to it.
  const after = lines.findIndex((line, place) => place > start && (place >= end || !/^(\s|-\s)/.test(line)))
  return [...lines.slice(0, start), ...fresh, ...lines.slice(after)].join('\n')
}
