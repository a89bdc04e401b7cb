import { factsIn, noFactsYet, stepFacts } from '../../../facts/step-facts.ts'
import type { Flags } from '../../../flags/create-flags.ts'
import { foldSummary } from '../summary/fold.ts'
import { excessTokens, findSpans, type Span } from './plan-collapse.ts'
import { factorOf } from '../../../tokens/calibrate.ts'
import { estimateText } from '../../../tokens/estimate.ts'
import type { EditEntry } from '../../../transcript/entry.ts'
import { offersRecall } from '../../../transcript/recall-tool.ts'
import type { View, ViewNode } from '../../../transcript/view.ts'
import { messageEntries } from '../keep/message-entries.ts'
import type { EntryBody } from '../../../situation/session.ts'
import type { Sizing } from '../../../situation/size-of.ts'
import { CHARS_PER_TOKEN } from '../../../tokens/chars-per-token.ts'

/** Of a span's characters, for what is left of it. */
const LEFT_SHARE = 0.1
const LEFT_CHARS_MIN = 400

export interface CollapseLimits extends Sizing {
  readonly sizeTokens: number
  readonly effectiveTokens: number
  readonly scale: number
}

/** The one answer to whether the mode is on. It removes the threshold's trigger, and nothing else. */
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

/** The first answer says what is left, the others and all results go. Undefined where that frees nothing. */
function foldSpan(view: View, span: Span, factor: number): EntryBody<EditEntry> | undefined {
  const [first, ...rest] = span
  if (!first) return undefined
  const raw = span.reduce((sum, node) => sum + rawOf(node), 0)
  const text = textOf(view, span, Math.max(LEFT_CHARS_MIN, LEFT_SHARE * raw * CHARS_PER_TOKEN))
  const freed = raw - estimateText(text)
  if (freed <= 0) return undefined
  const said = JSON.stringify({ type: 'text', text })
  return {
    kind: 'edit',
    cause: 'collapse',
    replace: first.blocks.map(({ at }, i) => ({ at, with: i === 0 ? [said] : [] })),
    drop: rest.flatMap(({ entries }) => entries),
    freedTokens: Math.round(factor * freed),
  }
}

function textOf(view: View, span: Span, budgetChars: number): string {
  let state = noFactsYet(true)
  for (const entry of messageEntries(view, span)) state = stepFacts(state, entry)
  const answers = span.filter(({ role }) => role === 'assistant').length
  const [from, to] = [span[0]?.entries[0], span.at(-1)?.entries.at(-1)]
  const head = `[${answers} steps were folded to save room; the transcript has them whole, ${from} to ${to}. What is left of them:]`
  return [head, foldSummary({ facts: factsIn(state), budgetChars, hasRecall: offersRecall(view.prefix) })]
    .filter(Boolean)
    .join('\n\n')
}

function rawOf(node: ViewNode): number {
  return node.blocks.reduce((sum, block) => sum + block.tokens, 0)
}
