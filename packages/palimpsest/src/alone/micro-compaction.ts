import { clearingEdit } from '../layers/2-micro-compaction/apply.ts'
import { isClearableTool } from '../layers/2-micro-compaction/clearable-tools.ts'
import { microPolicy } from '../layers/2-micro-compaction/policy.ts'
import { clearableResults } from '../layers/2-micro-compaction/results-in-view.ts'
import { modelPolicy } from '../situation/model-policy.ts'
import { factorOf, startCalibration } from '../tokens/calibrate.ts'
import { settle, tokensEnd } from '../transcript/settle.ts'
import { step } from '../transcript/view.ts'
import { messagesOf, readingFor, viewOfHistory, type HistoryMessage, type LayerOptions } from './history.ts'

export interface MicroCompactionOptions extends LayerOptions {
  /** How many of the newest results stay. Absent: 5. */
  readonly keep?: number | undefined
  /** Tools whose results may be cleared. Absent: readers, searches, shells and editors by the names that coding agents use. */
  readonly tools?: readonly string[] | undefined
  /** Nothing happens while the messages are estimated at less than this. Absent: it always happens. */
  readonly overTokens?: number | undefined
}

export interface MicroCompactionOutcome<M> {
  /** The history to continue with. Keep it: clearing again for each request changes the prefix each time. */
  readonly messages: M[]
  /** Ids of the calls whose results are now stand-ins. */
  readonly cleared: readonly string[]
  /** Estimated. */
  readonly freedTokens: number
}

/**
 * Layer 2 alone: old tool results become short stand-ins that name the call and what the result was the first to say. Errors, images,
 * results that no request has carried yet and reads of instruction files stay.
 *
 * @example
 * const { messages, cleared } = microCompaction(history, { keep: 5, overTokens: 100_000 })
 */
export function microCompaction<M extends HistoryMessage>(
  history: readonly M[],
  options: MicroCompactionOptions = {},
): MicroCompactionOutcome<M> {
  const { model, window } = readingFor(options)
  const policy = microPolicy(window.scale)
  const factor = factorOf(startCalibration(model.facts.tokenizer))
  const toTokens = (raw: number): number => raw * factor
  const view = viewOfHistory(history)
  const nothing = { messages: [...history], cleared: [], freedTokens: 0 }
  const sizeTokens = toTokens(tokensEnd(settle(view, modelPolicy(options.model ?? '', model.facts))))
  if (sizeTokens < (options.overTokens ?? 0)) return nothing
  const names = options.tools && new Set(options.tools)
  const may = names ? (name: string): boolean => names.has(name) : isClearableTool
  const all = clearableResults(view, may)
  const old = all.slice(0, Math.max(0, all.length - (options.keep ?? policy.keepNewest)))
  const results = old.filter(({ sent, block }) => sent && toTokens(block.tokens) >= policy.resultTokensMin)
  const edit = clearingEdit(view, { cause: 'batch', results }, toTokens, policy)
  if (!edit) return nothing
  const places = new Set(edit.replace.map(({ at }) => `${at.entry}:${at.index}`))
  const cleared = results.filter(({ block: { at } }) => places.has(`${at.entry}:${at.index}`))
  const after = step(view, { ...edit, id: 'clearing', parent: view.leaf, at: 0 })
  return {
    messages: messagesOf(after, history, options),
    cleared: cleared.map(({ result }) => result.tool_use_id),
    freedTokens: edit.freedTokens,
  }
}
