import { basename } from 'node:path'

import { findPermissionMode } from '../../agent/permissions/permission-mode.ts'
import { splitRuleList } from '../../agent/permissions/rule.ts'
import { toPrintable } from '../../agent/printable.ts'
import { isOwnTool } from '../../agent/tools/tool-natures.ts'
import { MEMORY_SCOPES, type AgentType } from './agent-type.ts'
import { readFrontMatter, type HeadField } from './front-matter.ts'

// Parses a file that describes an agent type, in the form of existing coding agents. What we do not understand is named and skipped; it
// never gives the agent more rights.

export interface ParsedAgentFile {
  /** Undefined: the file describes no agent. */
  readonly type: AgentType | undefined
  readonly problems: readonly string[]
}

const NAME_CHARS_MAX = 64
/** Longest description in a list of types, in characters; the file has the rest. */
const DESCRIPTION_CHARS_MAX = 1_024
const TURNS_MAX = 10_000

/** Fields that other agents use, and that change nothing here. */
const OF_OTHERS = new Set(['color', 'version', 'author', 'license', 'tags', 'category', 'metadata'])
/** Known fields that are not implemented yet. */
const WITHOUT_EFFECT = new Set(['skills', 'mcpServers', 'hooks', 'effort', 'initialPrompt'])
const USED = new Set([
  'name',
  'description',
  'tools',
  'disallowedTools',
  'model',
  'permissionMode',
  'maxTurns',
  'background',
  'isolation',
  'memory',
])

export async function parseAgentFile(
  text: string,
  place: { readonly path: string; readonly source: AgentType['source'] },
): Promise<ParsedAgentFile> {
  const found = await readFrontMatter(text)
  if (!found) return { type: undefined, problems: ['no front matter: it describes no agent'] }
  const { fields, body } = found
  const problems: string[] = []
  const name = textOf(fields.get('name')) ?? basename(place.path, '.md')
  if (name.length > NAME_CHARS_MAX || name !== toPrintable(name) || /[\r\n]/.test(name))
    return {
      type: undefined,
      problems: [`its name is longer than ${NAME_CHARS_MAX} characters, or is not a plain line`],
    }
  const description = textOf(fields.get('description')) ?? ''
  if (description === '') problems.push('it has no description: say when to use it')
  if (body === '') problems.push('it has no prompt after the front matter')
  const tools = toolsOf('tools', fields, problems)
  const unknown = [...fields.keys()].filter(
    (key) => !USED.has(key) && !OF_OTHERS.has(key) && !WITHOUT_EFFECT.has(key),
  )
  const idle = [...fields.keys()].filter((key) => WITHOUT_EFFECT.has(key))
  if (unknown.length > 0) problems.push(`unknown fields: ${unknown.join(', ')}`)
  if (idle.length > 0) problems.push(`fields that have no effect yet: ${idle.join(', ')}`)
  const type: AgentType = {
    ...place,
    name,
    description: toPrintable(description).replaceAll(/\s+/g, ' ').slice(0, DESCRIPTION_CHARS_MAX),
    prompt: body,
    tools: tools?.includes('*') ? undefined : tools,
    disallowedTools: toolsOf('disallowedTools', fields, problems) ?? [],
    model: modelOf(fields.get('model')),
    mode: modeOf(fields.get('permissionMode'), problems),
    maxTurns: turnsOf(fields.get('maxTurns'), problems),
    memory: memoryOf(fields.get('memory'), place.source, problems),
    background: fields.get('background') === true,
    isolation: isolationOf(fields.get('isolation'), problems),
  }
  return { type, problems }
}

function textOf(field: HeadField): string | undefined {
  const text = Array.isArray(field) ? field.join(', ') : field === undefined ? '' : String(field)
  return text.trim() === '' ? undefined : text.trim()
}

/** Other agents' names for our tools. */
const OTHER_NAMES = new Map([
  ['task', 'Agent'],
  ['askuserquestion', 'AskUser'],
  ['multiedit', 'Edit'],
])

/** A tool by our name or another agent's; undefined if there is no such tool. */
export function findToolName(name: string): string | undefined {
  if (isOwnTool(name) || name === '*') return name
  return OTHER_NAMES.get(name.toLowerCase())
}

/** One tool of a server, or all of them. */
const MCP_TOOL = /^mcp__(.+?)(?:__|$)/

function toolsOf(
  field: 'tools' | 'disallowedTools',
  fields: ReadonlyMap<string, HeadField>,
  problems: string[],
): readonly string[] | undefined {
  const value = fields.get(field)
  if (value === undefined || value === '') return undefined
  const listed = (Array.isArray(value) ? value.join(',') : String(value)).replaceAll(/^\[|\]$/g, '')
  const named = splitRuleList(listed).map((text) => ({ text, name: text.split('(', 1)[0] ?? '' }))
  const known = named.flatMap(({ name }) => findToolName(name) ?? [])
  const unknown = named.filter(({ name }) => findToolName(name) === undefined)
  const bound = named.filter(({ text, name }) => text !== name && findToolName(name) !== undefined)
  const servers = [...new Set(unknown.flatMap(({ name }) => MCP_TOOL.exec(name)?.[1] ?? []))]
  const strange = unknown.filter(({ name }) => !MCP_TOOL.test(name))
  if (strange.length > 0) problems.push(`unknown ${field}: ${strange.map(({ text }) => text).join(', ')}`)
  // One file may name dozens of tools, but the user connects servers.
  if (servers.length > 0)
    problems.push(`${field} of MCP servers that are not connected: ${servers.join(', ')}`)
  // A ban on part of a tool bans the whole tool; a grant of a part gives no more than the parent has.
  if (bound.length > 0)
    problems.push(`patterns in ${field} are not used: ${bound.map(({ text }) => text).join(', ')}`)
  return [...new Set(known)]
}

function modelOf(field: HeadField): string | undefined {
  const text = textOf(field)
  return text === undefined || text === 'inherit' ? undefined : text
}

function modeOf(field: HeadField, problems: string[]): AgentType['mode'] {
  const text = textOf(field)
  if (text === undefined) return undefined
  const mode = findPermissionMode(text)
  if (mode === undefined) problems.push(`unknown permissionMode: ${text}`)
  return mode
}

function turnsOf(field: HeadField, problems: string[]): number | undefined {
  if (field === undefined) return undefined
  const turns = Number(field)
  if (Number.isInteger(turns) && turns >= 1 && turns <= TURNS_MAX) return turns
  problems.push(`maxTurns must be a whole number from 1 to ${TURNS_MAX}`)
  return undefined
}

/** Memory across all projects belongs to the user: a file that came with a project neither reads nor fills it. */
function memoryOf(field: HeadField, source: AgentType['source'], problems: string[]): AgentType['memory'] {
  if (field === undefined) return undefined
  const scope = MEMORY_SCOPES.find((one) => one === field)
  if (scope === undefined)
    problems.push(`unknown memory: ${String(field)}. Use one of ${MEMORY_SCOPES.join(', ')}`)
  if (scope !== 'user' || source !== 'project') return scope
  problems.push('"memory: user" works only in your own types; it is local here')
  return 'local'
}

function isolationOf(field: HeadField, problems: string[]): AgentType['isolation'] {
  if (field === undefined || field === 'worktree') return field
  problems.push(`unknown isolation: ${String(field)}`)
  return undefined
}
