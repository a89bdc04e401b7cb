import { parseMemory } from '../front-matter.ts'
import type { Proposal } from '../judge-proposal.ts'
import { isMemoryName } from '../memory-name.ts'
import type { Memory } from '../memory.ts'
import { parseStored } from '../stored-memories.ts'

// What a model writes as a memory, as a proposal: the file it wants to write, or the files in its answer.

/** `ids`: ids of messages, by the short names that the model was given. */
export function parseProposal(
  text: string,
  {
    name,
    ids,
  }: { readonly name?: string | undefined; readonly ids?: ReadonlyMap<string, string> | undefined } = {},
): Proposal {
  const memory = parseStored(name ?? '', text)
  const named = lineOf(memory, 'messages').flatMap((one) => ids?.get(one) ?? one)
  const messages = [...memory.source.map(({ message }) => ids?.get(message) ?? message), ...named]
  const { description, type, body } = memory
  return { name, description, type, body, messages, ends: lineOf(memory, 'ends').filter(isMemoryName) }
}

function lineOf({ other }: Memory, key: string): readonly string[] {
  const line = other.find((one) => one.startsWith(`${key}:`))?.slice(key.length + 1) ?? ''
  return line.split(/[\s,[\]"']+/).flatMap((word) => (word === '' ? [] : [word.replace(/\.md$/, '')]))
}

/** Where a document begins: a fence, and then the first member of its front matter. */
const BEGIN = /^---\n(?=(?:name|description|type):)/gm
/** Most memories in one answer: more are a report. */
const PROPOSALS_MAX = 20

/** The memories in an answer of a model that has no tools to write them. */
export function proposalsIn(answer: string, ids: ReadonlyMap<string, string>): readonly Proposal[] {
  const text = answer.replaceAll('\r\n', '\n').replaceAll(/^```\w*\n?/gm, '')
  const starts = [...text.matchAll(BEGIN)].map(({ index }) => index)
  return starts.slice(0, PROPOSALS_MAX).flatMap((start, i) => {
    const document = text.slice(start, starts[i + 1]).trim()
    const wished = /^name:\s*["']?([\w-]+)["']?\s*$/m.exec(document)?.[1]
    const name = wished !== undefined && isMemoryName(wished) ? wished : undefined
    const isWhole = parseMemory(`${document}\n`, parseStored('', '')) !== undefined
    return isWhole ? [parseProposal(document, { name, ids })] : []
  })
}
