import type { StoredEntry } from '../../transcript/entry.ts'
import { toViewBlock, type ViewBlock } from '../../transcript/view-block.ts'
import type { View } from '../../transcript/view.ts'
import { isBlock, toBlocks, type Block, type ToolResultBlock } from '../../wire/message.ts'
import type { JsonText } from '../../wire/json.ts'
import type { StoragePolicy } from './policy.ts'
import { withoutGist, withoutPreview } from './stand-in.ts'

// Which results go to disk. Decided once, before the model has seen a result; what was sent whole stays whole.

/** A result that is to be stored. */
export interface StorePlan {
  readonly result: ToolResultBlock
  readonly text: string
}

/** A result that is already in the transcript. */
export interface UnsentPlan extends StorePlan {
  readonly block: ViewBlock
}

/** As a result arrives: if it is over its tool's own limit. */
export function planArrival(
  result: ToolResultBlock,
  resultCharsMax: number | 'unlimited' | undefined,
  policy: StoragePolicy,
): StorePlan | undefined {
  if (resultCharsMax === 'unlimited') return undefined
  const text = storableText(result)
  const charsMax = Math.min(resultCharsMax ?? policy.resultCharsMax, policy.resultCharsMax)
  return text !== undefined && text.length > charsMax && isWorth(text, policy) ? { result, text } : undefined
}

/**
 * Before a request: the results that answer one response share a room; the largest are stored until the rest fits. Tools that bound
 * themselves are exempt: otherwise what is read back from disk would go there again.
 */
export function planShare(
  view: View,
  policy: StoragePolicy,
  boundsItself: (tool: string) => boolean,
): UnsentPlan[] {
  const calls = view.nodes.findLast(({ role }) => role === 'assistant')?.blocks ?? []
  const own = new Set(
    calls.flatMap(({ block }) => (isBlock(block, 'tool_use') && boundsItself(block.name) ? [block.id] : [])),
  )
  const unsent = unsentResults(view).filter(({ result }) => !own.has(result.tool_use_id))
  let chars = unsent.reduce((sum, { text }) => sum + text.length, 0)
  const plans: UnsentPlan[] = []
  for (const plan of unsent.toSorted((a, b) => b.text.length - a.text.length)) {
    const { length } = plan.text
    if (chars <= policy.answerCharsMax || !isWorth(plan.text, policy)) break
    plans.push(plan)
    chars -= length - standInChars(policy)
  }
  return plans
}

/**
 * Guard of the next request: the largest unsent results of any tool are stored until `excessTokens` is covered, so that no answer's calls
 * can overflow the window.
 */
export function planGuard(
  view: View,
  excessTokens: number,
  toTokens: (raw: number) => number,
  policy: StoragePolicy,
): UnsentPlan[] {
  const plans: UnsentPlan[] = []
  let left = excessTokens
  for (const plan of unsentResults(view).toSorted((a, b) => b.block.tokens - a.block.tokens)) {
    const { text, block } = plan
    if (left <= 0) break
    if (!isWorth(text, policy)) continue
    plans.push(plan)
    left -= toTokens(block.tokens) * (1 - standInChars(policy) / text.length)
  }
  return plans
}

/** Approximate characters of a stand-in besides its preview: size, path, what it came to, hint. */
const FRAME_CHARS = 700

function standInChars({ previewBytes }: StoragePolicy): number {
  return previewBytes + FRAME_CHARS
}

/** A stand-in as large as its result would be no gain. */
function isWorth(text: string, policy: StoragePolicy): boolean {
  return text.length > standInChars(policy)
}

/**
 * Up to this many results always say what they came to: it takes a few hundred tokens, and without it the model would believe an older
 * result.
 */
const TOLD_RESULTS_MAX = 3

type BarePlan = Pick<StoredEntry, 'toolUseId' | 'blob' | 'standIn'>

export interface BareLimits {
  readonly excessTokens: number
  /** The part of the excess that may stay for a few words on what a result came to. */
  readonly spareTokens: number
  readonly toTokens: (raw: number) => number
}

/**
 * If even previews are too much: the stand-ins of stored, unsent results lose theirs, largest first; if that is not enough, they lose
 * everything except size and path. Their decisions are made again, which nobody has seen yet.
 */
export function planBare(view: View, { excessTokens, spareTokens, toTokens }: BareLimits): BarePlan[] {
  const stored = newlyStored(view)
  const unsent = unsentBlocks(view).toSorted((a, b) => b.tokens - a.tokens)
  const shortened = (shorten: (result: ToolResultBlock) => JsonText | undefined) => {
    const plans: BarePlan[] = []
    let left = excessTokens
    for (const { at, block, tokens } of unsent) {
      if (left <= 0) break
      const entry = isBlock(block, 'tool_result') ? stored.get(block.tool_use_id) : undefined
      const standIn = isBlock(block, 'tool_result') ? shorten(block) : undefined
      if (!entry || standIn === undefined) continue
      plans.push({ toolUseId: entry.toolUseId, blob: entry.blob, standIn })
      left -= toTokens(tokens - toViewBlock(at, standIn, false).tokens)
    }
    return { plans, left }
  }
  const short = shortened(withoutPreview)
  const isFew = stored.size <= TOLD_RESULTS_MAX
  return isFew || short.left <= spareTokens ? short.plans : shortened(withoutGist).plans
}

/** Whole results that no request has carried. */
function unsentResults(view: View): UnsentPlan[] {
  const stored = newlyStored(view)
  return unsentBlocks(view).flatMap((block) => {
    if (!block.original || !isBlock(block.block, 'tool_result') || stored.has(block.block.tool_use_id))
      return []
    const text = storableText(block.block)
    return text === undefined ? [] : [{ result: block.block, text, block }]
  })
}

/** What comes after the newest answer. */
function unsentBlocks(view: View): ViewBlock[] {
  const newest = view.nodes.findLastIndex((node) => node.role === 'assistant')
  return view.nodes.slice(newest + 1).flatMap(({ blocks }) => blocks)
}

/** What was stored since the newest answer. If it was stored on arrival, the result's message is already its stand-in. */
function newlyStored({ log }: View): ReadonlyMap<string, StoredEntry> {
  const stored = new Map<string, StoredEntry>()
  for (let i = log.length - 1; i >= 0; i--) {
    const entry = log[i]
    if (entry?.kind === 'message' && entry.message.role === 'assistant') break
    if (entry?.kind === 'stored' && !stored.has(entry.toolUseId)) stored.set(entry.toolUseId, entry)
  }
  return stored
}

/** The text of a result; undefined if it holds anything but text, which is left alone. */
function storableText({ content }: ToolResultBlock): string | undefined {
  const texts: string[] = []
  for (const block of toBlocks(content)) {
    if (!isText(block)) return undefined
    texts.push(block.text)
  }
  return texts.join('\n')
}

function isText(block: Block): block is Extract<Block, { type: 'text' }> & { readonly text: string } {
  return isBlock(block, 'text')
}
