import { encodeFacts } from '../../../facts/encode-facts.ts'
import { factsOf } from '../../../facts/facts-of.ts'
import type { Facts } from '../../../facts/facts.ts'
import { foldSummary } from '../summary/fold.ts'
import { summaryPrompt } from '../summary/prompt.ts'
import { inventedBy } from './find-invented.ts'
import { prove, type Proof } from './prove.ts'
import { withoutRepeated } from './repeated-words.ts'
import { factorOf } from '../../../tokens/calibrate.ts'
import { estimateText } from '../../../tokens/estimate.ts'
import { offersRecall } from '../../../transcript/recall-tool.ts'
import type { EntryId } from '../../../transcript/entry.ts'
import type { View, ViewNode } from '../../../transcript/view.ts'
import { isBlock, toBlocks } from '../../../wire/message.ts'
import type { CompactSetup } from '../compaction-setup.ts'
import type { KeptPlan } from '../keep/keep-for.ts'
import { SUMMARY_TOKENS_MAX } from '../../../request/plain-request.ts'
import { roomUntilFull } from '../../../situation/is-full.ts'
import { CHARS_PER_TOKEN, LEAST_CHARS_PER_TOKEN } from '../../../tokens/chars-per-token.ts'

// Whether a text may replace what leaves the view: it must be smaller and leave room, and what it forgot is appended to it.

/** Largest share of the conversation afterwards: more would be a record with a summary next to it. */
const REPAIR_SHARE_MAX = 0.25
/** Share of the room for summary and repairs that the summary must leave free: what the record alone would take, within these bounds. */
const REPAIR_ROOM_SHARE_MIN = 0.15
const REPAIR_ROOM_SHARE_MAX = 0.5
/** Share of the room to write in: a model keeps only roughly to a requested length. */
const WRITABLE_SHARE = 0.8
const PROMPT = summaryPrompt({ kind: 'whole' })
/** The need of summary and repairs: its bounds as shares of what the window holds after the prefix, and how many times the record it is. */
const NEED_SHARE_MIN = 0.1
const NEED_SHARE_MAX = 0.3
const NEED_PER_RECORD = 2
const FITTINGS_MAX = 4
/** A text that was shortened by its excess seldom fits exactly. */
const FITTING_MARGIN = 0.97

export interface Judgeable {
  readonly view: View
  readonly plan: KeptPlan
  readonly setup: Pick<CompactSetup, 'calibration' | 'prefixTokens'>
}

export interface SummaryJudge {
  /** Undefined if the text may not be used. `isOurs`: it may be changed; one that the provider signed may not. */
  readonly proofOf: (text: string, isOurs?: boolean) => Proof | undefined
  /** The summary that needs no model. It is always available. */
  readonly fold: () => Proof
  /** Most that a summary may take. */
  readonly tokensMax: number
}

export function createJudge({ view, plan, setup }: Judgeable, facts: Facts): SummaryJudge {
  const factor = factorOf(setup.calibration)
  const tokensOf = (text: string): number => factor * estimateText(text)
  const replaced = factor * plan.summarised.reduce((sum, node) => sum + rawOf(node), 0)
  const visibleEntries = new Set([...plan.copied, ...plan.kept].flatMap((node) => node.entries))
  const clearedEntries = clearedIn(view)
  const visible = textOf([...plan.copied, ...plan.kept])
  const said = { visible, visibleEntries, clearedEntries }
  const hasRecall = offersRecall(view.prefix)
  const inView = facts.words.flatMap(({ entry, text, cut }) =>
    visibleEntries.has(entry) && !cut ? [text] : [],
  )
  const occurs = namesIn(view, facts)
  const proved = (summary: string, isComputed = false): Proof => {
    const room = plan.summaryTokens - tokensOf(summary)
    const others = setup.prefixTokens + plan.keptTokens + tokensOf(summary)
    const share = (REPAIR_SHARE_MAX / (1 - REPAIR_SHARE_MAX)) * others
    return fitted(Math.min(room, share), {
      write: (budgetChars) => prove({ ...said, summary, facts, budgetChars, occurs, hasRecall, isComputed }),
      tokensOf: ({ repairs }) => tokensOf(repairs),
    })
  }
  const reserve = Math.max(
    REPAIR_ROOM_SHARE_MIN * plan.summaryTokens,
    Math.min(REPAIR_ROOM_SHARE_MAX * plan.summaryTokens, tokensOf(recordOf(facts))),
  )
  const tokensMax = plan.summaryTokens - reserve
  return {
    proofOf: (given, isOurs = true) => {
      const text = isOurs ? withoutRepeated(given, inView) : given
      const tokens = tokensOf(text)
      if (tokens >= replaced || tokens > plan.summaryTokens) return undefined
      const proof = proved(text)
      // Longer than requested, but nothing is missing.
      return tokens <= tokensMax || proof.left === 0 ? proof : undefined
    },
    fold: () =>
      proved(
        fitted(plan.summaryTokens, {
          charsMax: plan.foldTokens * CHARS_PER_TOKEN,
          write: (budgetChars) =>
            foldSummary({ ...said, facts, budgetChars, kind: plan.span, hasRecall, isToBeProved: true }),
          tokensOf,
        }),
        true,
      ),
    tokensMax,
  }
}

/** Answers with a result that was replaced by other text. */
function clearedIn({ nodes }: View): ReadonlySet<EntryId> {
  return new Set(
    nodes.flatMap(({ answers, blocks }, index) => {
      const isCleared = blocks.some(({ block, original }) => isBlock(block, 'tool_result') && !original)
      return answers !== undefined && isCleared ? (nodes[index - 1]?.entries ?? []) : []
    }),
  )
}

/** Whether a name occurs in what was said. An earlier summary is trusted, except for what it had made up itself. */
function namesIn(view: View, facts: Facts): (identifier: string) => boolean {
  const isSummary = ({ source }: ViewNode): boolean => source.part === 'summary'
  const said = textOf(view.nodes.filter((node) => !isSummary(node)))
  const known = `${said}\n${JSON.stringify(encodeFacts(facts))}`
  const summaries = textOf(view.nodes.filter(isSummary))
  const doubted = new Set(inventedBy(view.boundary?.entry))
  return (identifier) =>
    known.includes(identifier) || (!doubted.has(identifier) && summaries.includes(identifier))
}

/** What the summary or its repairs must say in full. Words of the user may be cut, so they are not part of it. */
function recordOf(facts: Facts): string {
  const needed = { ...facts, words: [] }
  return prove({ summary: '', facts: needed, visible: '', budgetChars: Infinity }).repairs
}

/** What summary and repairs need together. `partTokens`: size of what is to be summarized, if that is less than the window holds. */
export function neededTokens(
  view: View,
  {
    calibration,
    thresholds,
    prefixTokens,
  }: Pick<CompactSetup, 'calibration' | 'thresholds' | 'prefixTokens'>,
  partTokens = Infinity,
): number {
  const base = Math.min(roomUntilFull(thresholds, prefixTokens), partTokens)
  const record = factorOf(calibration) * estimateText(recordOf(factsOf(view)))
  const wanted = Math.max(NEED_SHARE_MIN * base, NEED_PER_RECORD * record)
  return Math.min(wanted, NEED_SHARE_MAX * base)
}

/** How long a summary may be; undefined if there is more room than models use. */
export function charsToAskFor(
  { tokensMax }: Pick<SummaryJudge, 'tokensMax'>,
  view: View,
  setup: CompactSetup,
): number | undefined {
  const promptTokens = factorOf(setup.calibration) * estimateText(PROMPT)
  const writable = setup.facts.contextWindow - lastSentTokens(view, setup) - promptTokens
  const tokens = Math.max(0, Math.min(tokensMax, WRITABLE_SHARE * writable))
  return tokens < SUMMARY_TOKENS_MAX ? Math.floor(tokens * LEAST_CHARS_PER_TOKEN) : undefined
}

/** Size of the previous request. A request for a summary adds its prompt after that, and the summary must fit into the window too. */
function lastSentTokens({ nodes }: View, { sizeTokens, calibration }: CompactSetup): number {
  const newest = nodes.findLastIndex((node) => node.role === 'assistant')
  const since = newest < 0 ? [] : nodes.slice(newest)
  return sizeTokens - factorOf(calibration) * since.reduce((sum, node) => sum + rawOf(node), 0)
}

/** Estimated tokens of a message, before calibration. */
export function rawOf(node: ViewNode): number {
  return node.blocks.reduce((sum, block) => sum + block.tokens, 0)
}

interface Fitting<T> {
  /** Absent: only `tokensMax` limits the length. */
  readonly charsMax?: number
  readonly write: (charsMax: number) => T
  readonly tokensOf: (written: T) => number
}

/** Budgets are in characters and room is in tokens: writes again, shorter, until it fits. */
function fitted<T>(tokensMax: number, { charsMax = Infinity, write, tokensOf }: Fitting<T>): T {
  let chars = Math.max(0, Math.floor(Math.min(charsMax, tokensMax * CHARS_PER_TOKEN)))
  let written = write(chars)
  for (let i = 0; i < FITTINGS_MAX; i++) {
    const tokens = tokensOf(written)
    if (tokens <= Math.max(0, tokensMax)) break
    chars = Math.floor(((chars * Math.max(0, tokensMax)) / tokens) * FITTING_MARGIN)
    written = write(chars)
  }
  return written
}

function textOf(nodes: readonly ViewNode[]): string {
  return nodes.flatMap((node) => node.blocks.map(({ block, json }) => shownText(block, json))).join('\n')
}

function shownText(block: ViewNode['blocks'][number]['block'], json: string): string {
  if (isBlock(block, 'text')) return block.text
  // As it is sent, and as it reads.
  if (isBlock(block, 'tool_use')) return [json, ...leavesOf(block.input)].join('\n')
  if (!isBlock(block, 'tool_result')) return json
  return toBlocks(block.content ?? '')
    .map((part) => (isBlock(part, 'text') ? part.text : ''))
    .join('\n')
}

/** All strings in a value. */
function leavesOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(leavesOf) : []
}
