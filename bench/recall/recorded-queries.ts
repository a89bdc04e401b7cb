import { createReadStream, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { readSession } from '../../packages/palimpsest/src/lab/replay/read/read-session.ts'
import { contextOf, type ContextQuery } from '../../packages/palimpsest/src/recall/context-of.ts'
import { aboutOf } from '../../packages/palimpsest/src/recall/index-rows.ts'
import type { MessageEntry } from '../../packages/palimpsest/src/transcript/entry.ts'
import { isBlock, toBlocks, type Block } from '../../packages/palimpsest/src/wire/message.ts'
import { RECORDED_DATA } from '../../test/kit/recorded.ts'

// Questions that recorded agents answered themselves: what it said before a call is the question, and the call or result that alone held a name
// which it then used is the answer. Only what is further back than a small window counts.

export interface RecordedBlock {
  readonly entry: string
  readonly kind: 'user' | 'assistant' | 'tool_use' | 'tool_result'
  /** A call and its result are one. */
  readonly unit: string
  readonly about: string
  readonly text: string
  readonly block: Block
}

export interface RecordedTalk {
  readonly project: string
  readonly name: string
  readonly entries: readonly MessageEntry[]
  readonly blocks: readonly RecordedBlock[]
  readonly queries: readonly RecordedQuery[]
}

export interface RecordedQuery {
  /** The sentence before the call, without names of code. */
  readonly bare: string
  /** As it stood. */
  readonly whole: string
  /** What the calls before were about. */
  readonly context: readonly ContextQuery[]
  /** The first block that is still in the window. */
  readonly cut: number
  readonly targets: ReadonlySet<string>
}

const WINDOW_TOKENS = 12_000
const CHARS_PER_TOKEN = 3
/** The last three calls and their results lie in fewer. */
const CONTEXT_BLOCKS = 60
const SENTENCE_CHARS_MAX = 400

export async function readTalks(): Promise<readonly RecordedTalk[]> {
  const talks: RecordedTalk[] = []
  for (const [index, folder] of [
    ['INDEX.tsv', 'sessions'],
    ['INDEX-2.tsv', 'sessions-2'],
  ] as const)
    for (const { path, project } of rowsOf(index)) {
      const file = join(RECORDED_DATA, folder, path)
      const { entries } = await readSession(createReadStream(file, { encoding: 'utf8' }))
      const messages = entries.filter((entry) => entry.kind === 'message')
      const blocks = blocksOf(messages)
      talks.push({
        project,
        name: `talk-${talks.length}`,
        entries: messages,
        blocks,
        queries: queriesOf(blocks),
      })
    }
  return talks
}

function rowsOf(index: string): readonly { readonly path: string; readonly project: string }[] {
  const [head = '', ...lines] = readFileSync(join(RECORDED_DATA, index), 'utf8').trim().split('\n')
  const names = head.split('\t')
  return lines.map((line) => {
    const cells = line.split('\t')
    const cell = (name: string): string => cells[names.indexOf(name)] ?? ''
    const repository = cell('source_repo').split('/').at(-1) ?? ''
    return { path: cell('path'), project: cell('project') === '' ? repository : cell('project') }
  })
}

function blocksOf(entries: readonly MessageEntry[]): readonly RecordedBlock[] {
  const abouts = new Map<string, string>()
  return entries.flatMap((entry) =>
    toBlocks(entry.message.content).flatMap((block, i): readonly RecordedBlock[] => {
      const of = { entry: entry.id, unit: `${entry.id}:${i}`, about: '', block }
      if (isBlock(block, 'text'))
        return [{ ...of, kind: entry.message.role === 'assistant' ? 'assistant' : 'user', text: block.text }]
      if (isBlock(block, 'tool_use')) {
        abouts.set(block.id, aboutOf(block.input))
        const text = leavesOf(block.input).join('\n')
        return [{ ...of, kind: 'tool_use', unit: block.id, about: aboutOf(block.input), text }]
      }
      if (!isBlock(block, 'tool_result')) return []
      const { tool_use_id: unit, content = '' } = block
      const text = toBlocks(content).flatMap(textIn).join('\n')
      return [{ ...of, kind: 'tool_result', unit, about: abouts.get(unit) ?? '', text }]
    }),
  )
}

function textIn(block: Block): readonly string[] {
  return isBlock(block, 'text') ? [block.text] : []
}

function leavesOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(leavesOf) : []
}

const NAME = /[A-Za-z_$][\w$]*(?:[./-][\w$]+)*/g

/** A name of code: nobody says it by chance. */
function isName(word: string): boolean {
  return word.length >= 5 && /[a-z][A-Z]|_|[a-z]\d|[A-Z]{2,}[a-z]|[a-z]\.[a-z]|\//.test(word)
}

function namesIn(text: string): ReadonlySet<string> {
  return new Set((text.match(NAME) ?? []).filter(isName))
}

function queriesOf(blocks: readonly RecordedBlock[]): readonly RecordedQuery[] {
  const holders = new Map<string, number[]>()
  const ends: number[] = []
  const queries: RecordedQuery[] = []
  let chars = 0
  for (const [i, block] of blocks.entries()) {
    const said = block.kind === 'tool_use' ? saidBefore(blocks, i) : undefined
    if (said !== undefined) {
      let cut = i
      while (cut > 0 && chars - (ends[cut - 1] ?? 0) < WINDOW_TOKENS * CHARS_PER_TOKEN) cut--
      const targets = targetsOf(block, { blocks, holders, cut })
      const bare = said.replaceAll(NAME, (word) => (isName(word) ? ' ' : word)).replaceAll(/`[^`]*`/g, ' ')
      const context = contextOf(contextBlocks(blocks, i))
      if (targets.size > 0 && /\p{L}{3}/u.test(bare))
        queries.push({ bare, whole: said, context, cut, targets })
    }
    for (const name of namesIn(block.text)) holders.set(name, [...(holders.get(name) ?? []), i])
    chars += block.text.length
    ends[i] = chars
  }
  return queries
}

/** What stands before the call, without the text that the question was taken from: names that were removed must not come back. */
function contextBlocks(blocks: readonly RecordedBlock[], at: number): readonly Block[] {
  const before = blocks.slice(Math.max(0, at - CONTEXT_BLOCKS), at)
  const said = before.findLastIndex(({ kind }) => kind === 'assistant')
  return before.filter((_, i) => i !== said).map(({ block }) => block)
}

/** The last sentence of the answer that calls. */
function saidBefore(blocks: readonly RecordedBlock[], at: number): string | undefined {
  for (let i = at - 1; i >= 0; i--) {
    const block = blocks[i]
    if (block?.kind === 'tool_use') continue
    if (block?.kind !== 'assistant') return undefined
    const sentences = block.text.trim().split(/(?<=[.!?:])\s+|\n+/)
    const last = sentences.findLast((sentence) => sentence.trim() !== '')
    return last?.slice(0, SENTENCE_CHARS_MAX)
  }
  return undefined
}

/** Calls and results that alone hold a name which this call uses, and lie before the window. */
function targetsOf(
  { text }: RecordedBlock,
  at: {
    readonly blocks: readonly RecordedBlock[]
    readonly holders: ReadonlyMap<string, readonly number[]>
    readonly cut: number
  },
): ReadonlySet<string> {
  const targets = new Set<string>()
  for (const name of namesIn(text)) {
    const held = (at.holders.get(name) ?? []).flatMap((i) => at.blocks[i] ?? [])
    const [first] = held
    if (!first?.kind.startsWith('tool_') || held.some(({ unit }) => unit !== first.unit)) continue
    if ((at.holders.get(name) ?? []).every((i) => i < at.cut)) targets.add(first.unit)
  }
  return targets
}
