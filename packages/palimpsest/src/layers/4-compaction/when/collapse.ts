import { factsIn, noFactsYet, stepFacts } from '../../../facts/step-facts.ts'
import type { Flags } from '../../../flags/create-flags.ts'
import { foldSummary } from '../summary/fold.ts'
import { excessTokens, findSpans, type Span } from './plan-collapse.ts'
import { factorOf } from '../../../tokens/calibrate.ts'
import { estimateText } from '../../../tokens/estimate.ts'
import type { EditEntry } from '../../../transcript/entry.ts'
import { offersRecall } from '../../../transcript/recall-tool.ts'
import type { View, ViewNode } from '../../../transcript/view.ts'
import type { JsonText } from '../../../wire/json.ts'
import { isBlock } from '../../../wire/message.ts'
import { leftOutHere } from '../keep/gaps.ts'
import { messageEntries } from '../keep/message-entries.ts'
import type { EntryBody } from '../../../situation/session.ts'
import type { Sizing } from '../../../situation/size-of.ts'
import { CHARS_PER_TOKEN } from '../../../tokens/chars-per-token.ts'

/** Share of a span: freeing less is not worth rewriting everything after it, and within the error of an estimate. */
const FREED_SHARE_MIN = 0.4
const FREED_MIN = 200
/** Share of a span's characters that its fold may take. */
const LEFT_SHARE = 0.1
const LEFT_CHARS_MIN = 400

export interface CollapseLimits extends Sizing {
  readonly sizeTokens: number
  readonly effectiveTokens: number
  readonly scale: number
}

/** The only place that decides whether the mode is on. It removes the threshold's trigger, and nothing else. */
export function isCollapsing(flags: Flags): boolean {
  return flags.value('collapse') && flags.value('auto-compact')
}

/** Spans that are folded now, oldest first, each as an edit of its own. No model is asked. */
export function planCollapse(view: View, limits: CollapseLimits): readonly EntryBody<EditEntry>[] {
  const factor = factorOf(limits.calibration)
  const tokensOf = (node: ViewNode): number => factor * rawOf(node)
  let excess = excessTokens(limits.sizeTokens, limits.effectiveTokens)
  const edits: EntryBody<EditEntry>[] = []
  for (const span of excess > 0 ? findSpans(view, tokensOf, limits.scale) : []) {
    if (excess <= 0) break
    const edit = foldSpan(view, span, factor)
    if (!edit) continue
    edits.push(edit)
    excess -= edit.freedTokens
  }
  return edits
}

/**
 * The last results are replaced by the fold of the span, and everything else is removed: the program says it, not the model.
 * Undefined if that frees too little.
 */
function foldSpan(view: View, span: Span, factor: number): EntryBody<EditEntry> | undefined {
  const place = span.findLastIndex(({ answers }) => answers !== undefined)
  const last = span[place]
  if (!last) return shortenAnswer(span, factor)
  const raw = span.reduce((sum, node) => sum + rawOf(node), 0)
  const text = textOf(view, span, { raw, factor })
  const freed = raw - estimateText(text)
  if (freed < Math.max(FREED_MIN, FREED_SHARE_MIN * raw)) return undefined
  return {
    kind: 'edit',
    cause: 'collapse',
    replace: last.blocks.map(({ at }, i) => ({ at, with: i === 0 ? [textBlock(text)] : [] })),
    drop: span.flatMap((node, i) => (i === place ? [] : node.entries)),
    freedTokens: Math.round(factor * freed),
  }
}

function textBlock(text: string): JsonText {
  return JSON.stringify({ type: 'text', text })
}

/** For an answer that called no tool, whose content only the model could sum up: its beginning and its end stay. */
const ANSWER_HEAD_CHARS = 400
const ANSWER_TAIL_CHARS = 200

function shortenAnswer(span: Span, factor: number): EntryBody<EditEntry> | undefined {
  const texts = span.flatMap(({ blocks }) => blocks.filter(({ block }) => isBlock(block, 'text')))
  const replace = texts.flatMap(({ at, block }) => {
    if (!isBlock(block, 'text') || block.text.length <= 2 * (ANSWER_HEAD_CHARS + ANSWER_TAIL_CHARS)) return []
    const short = `${block.text.slice(0, ANSWER_HEAD_CHARS)} […] ${block.text.slice(-ANSWER_TAIL_CHARS)}`
    return [{ at, with: [textBlock(short)], freed: estimateText(block.text) - estimateText(short) }]
  })
  if (replace.length === 0) return undefined
  return {
    kind: 'edit',
    cause: 'collapse',
    replace: replace.map(({ at, with: texts }) => ({ at, with: texts })),
    drop: [],
    freedTokens: Math.round(factor * replace.reduce((sum, { freed }) => sum + freed, 0)),
  }
}

function textOf(
  view: View,
  span: Span,
  { raw, factor }: { readonly raw: number; readonly factor: number },
): string {
  let state = noFactsYet(true)
  for (const entry of messageEntries(view, span)) state = stepFacts(state, entry)
  const hasRecall = offersRecall(view.prefix)
  const budgetChars = Math.max(LEFT_CHARS_MIN, LEFT_SHARE * raw * CHARS_PER_TOKEN)
  const head = leftOutHere(span, { hasRecall, tokensOf: (node) => factor * rawOf(node) })
  const left = foldSummary({ facts: factsIn(state), budgetChars, hasRecall })
  return [head, ...(left === '' ? [] : ['What the record says of them:', left])].join('\n\n')
}

function rawOf(node: ViewNode): number {
  return node.blocks.reduce((sum, block) => sum + block.tokens, 0)
}
