import { contradictedCalls } from '../../facts/contradicted.ts'
import type { EditEntry, Entry, MessageEntry } from '../../transcript/entry.ts'
import { findPersistedPath } from '../../transcript/persisted-output.ts'
import { offersRecall, recallOf } from '../../transcript/recall-tool.ts'
import { toViewBlock } from '../../transcript/view-block.ts'
import type { View } from '../../transcript/view.ts'
import { isBlock, toBlocks, type Block } from '../../wire/message.ts'
import { digest, identifiersOf } from './digest.ts'
import type { ClearPlan } from './plan.ts'
import type { MicroPolicy } from './policy.ts'
import { resultText, type ClearableResult } from './results-in-view.ts'
import { saysNothing, standIn } from './stand-in.ts'

export type ClearingEdit = Omit<EditEntry, 'id' | 'parent' | 'at'>

/** The plan as one edit, without stand-ins that are no smaller than their results. Undefined if nothing is left to clear. */
export function clearingEdit(
  view: View,
  plan: Pick<ClearPlan, 'cause' | 'results'>,
  toTokens: (raw: number) => number,
  policy: MicroPolicy,
): ClearingEdit | undefined {
  const firsts = policy.acts.digest ? firstMentions(view.log, plan) : new Map<string, string>()
  const stored = new Set(view.log.flatMap((entry) => (entry.kind === 'stored' ? [entry.toolUseId] : [])))
  const hasRecall = offersRecall(view.prefix)
  const contradicted = contradictedCalls(view)
  const rendered = plan.results.flatMap((result) => {
    const text = renderStandIn(result, { firsts, stored, hasRecall, contradicted }, policy)
    const freed = result.block.tokens - toViewBlock(result.block.at, text, false).tokens
    return freed <= 0 ? [] : [{ result, text, freed }]
  })
  const needed = neededBy(view, contradicted, new Set(rendered.map(({ result }) => result.call.id)))
  const cleared = rendered.filter(({ result }) => !needed.has(result.call.id))
  if (cleared.length === 0) return undefined
  const freedRaw = cleared.reduce((sum, { freed }) => sum + freed, 0)
  const replace = cleared.map(({ result, text }) => ({ at: result.block.at, with: [text] }))
  return { kind: 'edit', cause: plan.cause, replace, drop: [], freedTokens: Math.round(toTokens(freedRaw)) }
}

/** Results, by call id, that contradict an older result still in view: if they were cleared, the model would believe the older one. */
function neededBy(
  { nodes }: View,
  contradicted: ReadonlyMap<string, string>,
  cleared: ReadonlySet<string>,
): ReadonlySet<string> {
  const heard = nodes.flatMap(({ blocks }) =>
    blocks.flatMap(({ block }) =>
      isBlock(block, 'tool_result') && !cleared.has(block.tool_use_id) && !saysNothing(block)
        ? [block.tool_use_id]
        : [],
    ),
  )
  return new Set(heard.flatMap((id) => contradicted.get(id) ?? []))
}

interface Known {
  /** By identifier: the message that first had it. */
  readonly firsts: ReadonlyMap<string, string>
  readonly stored: ReadonlySet<string>
  readonly hasRecall: boolean
  /** Calls whose results no longer hold: the model would believe a digest that quotes one. */
  readonly contradicted: ReadonlyMap<string, string>
}

function renderStandIn(
  { block, result, call }: ClearableResult,
  { firsts, stored, hasRecall, contradicted }: Known,
  policy: MicroPolicy,
): string {
  const text = resultText(result)
  const path = stored.has(result.tool_use_id) ? findPersistedPath(text) : undefined
  const isNew = (identifier: string): boolean => firsts.get(identifier) === block.at.entry
  const way = hasRecall ? recallOf(block.at.entry) : undefined
  const words = contradicted.has(call.id) ? '' : digest(text, isNew, policy.digestChars)
  return standIn(result, { call, chars: text.length, digest: words, path, way })
}

/** By identifier: the message that first had it, up to the newest result that is cleared. */
function firstMentions(
  log: readonly Entry[],
  { results }: Pick<ClearPlan, 'results'>,
): ReadonlyMap<string, string> {
  const cleared = new Set(results.map(({ block }) => block.at.entry))
  const first = new Map<string, string>()
  for (const entry of log) {
    if (cleared.size === 0) break
    cleared.delete(entry.id)
    if (entry.kind !== 'message') continue
    for (const identifier of identifiersIn(entry)) if (!first.has(identifier)) first.set(identifier, entry.id)
  }
  return first
}

const known = new WeakMap<MessageEntry, readonly string[]>()

/** Cached, since an entry never changes. */
function identifiersIn(entry: MessageEntry): readonly string[] {
  const found =
    known.get(entry) ?? toBlocks(entry.message.content).flatMap((block) => identifiersOf(blockText(block)))
  known.set(entry, found)
  return found
}

function blockText(block: Block): string {
  if (isBlock(block, 'text')) return block.text
  if (isBlock(block, 'tool_use')) return JSON.stringify(block.input)
  if (isBlock(block, 'tool_result')) return resultText(block)
  return ''
}
