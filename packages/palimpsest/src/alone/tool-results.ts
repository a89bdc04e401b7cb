import { planArrival, planShare, type StorePlan } from '../layers/1-tool-results/plan.ts'
import { storagePolicy } from '../layers/1-tool-results/policy.ts'
import { gistOf } from '../layers/1-tool-results/gist.ts'
import { storedStandIn } from '../layers/1-tool-results/stand-in.ts'
import type { StoredEntry } from '../transcript/entry.ts'
import { findPersistedPath } from '../transcript/persisted-output.ts'
import { step, viewOf, type View, type ViewNode } from '../transcript/view.ts'
import { isBlock } from '../wire/message.ts'
import { messagesOf, readingFor, viewOfHistory, type HistoryMessage, type LayerOptions } from './history.ts'

export interface ToolResultsOptions extends LayerOptions {
  /** Most characters of one result that the model still sees whole. Absent: 50,000 in a full-size window, fewer in a smaller one. */
  readonly resultCharsMax?: number | undefined
  /** Where you will keep a result: the path that the model sees. Absent: `tool-results/<id>.txt`. */
  readonly pathOf?: ((toolUseId: string) => string) | undefined
}

export interface ToolResultsOutcome<M> {
  /** The history with stand-ins. Keep it, or run the layer again next time: it decides the same. */
  readonly messages: M[]
  /** What to keep, under the path that the model sees. */
  readonly stored: readonly StoredText[]
}

export interface StoredText {
  readonly toolUseId: string
  readonly path: string
  readonly text: string
}

/**
 * Layer 1 alone: large tool results leave the history, and a preview with a path takes their place. You keep the texts.
 * Each decision depends only on the results of one answer, so a longer history begins with the same bytes.
 *
 * @example
 * const { messages, stored } = toolResults(history, { resultCharsMax: 20_000 })
 * for (const { path, text } of stored) await writeFile(path, text)
 */
export function toolResults<M extends HistoryMessage>(
  history: readonly M[],
  options: ToolResultsOptions = {},
): ToolResultsOutcome<M> {
  const policy = storagePolicy(readingFor(options).window.scale)
  const limits = { ...policy, resultCharsMax: options.resultCharsMax ?? policy.resultCharsMax }
  const pathOf = options.pathOf ?? ((id: string) => `tool-results/${id}.txt`)
  let view = viewOfHistory(history)
  const stored: StoredText[] = []
  for (const round of roundsOf(view)) {
    const arrived = resultsIn(round).flatMap((result) => planArrival(result, undefined, limits) ?? [])
    const small = applied(viewOf(round.map(({ source }) => source)), arrived, limits, pathOf)
    const plans = [...arrived, ...planShare(small.view, limits, () => false)].filter(({ text }) =>
      isNew(text),
    )
    const { view: next, stored: texts } = applied(view, plans, limits, pathOf)
    view = next
    stored.push(...texts)
  }
  return { messages: messagesOf(view, history, options), stored }
}

/** An answer and the message with the results of its calls. */
function roundsOf({ nodes }: View): (readonly [ViewNode, ViewNode])[] {
  return nodes.flatMap((node, index): (readonly [ViewNode, ViewNode])[] => {
    const asked = nodes[index - 1]
    return node.answers !== undefined && asked ? [[asked, node]] : []
  })
}

function resultsIn(round: readonly ViewNode[]) {
  return round.flatMap(({ blocks }) =>
    blocks.flatMap(({ block }) => (isBlock(block, 'tool_result') ? [block] : [])),
  )
}

/** A result that is already a stand-in is not stored again. */
function isNew(text: string): boolean {
  return findPersistedPath(text) === undefined
}

function applied(
  view: View,
  plans: readonly StorePlan[],
  { previewBytes }: { readonly previewBytes: number },
  pathOf: (toolUseId: string) => string,
): { readonly view: View; readonly stored: StoredText[] } {
  let after = view
  const stored = plans.map(({ result, text }): StoredText => {
    const toolUseId = result.tool_use_id
    const path = pathOf(toolUseId)
    const entry: StoredEntry = {
      kind: 'stored',
      id: `stored-${toolUseId}`,
      parent: after.leaf,
      at: 0,
      toolUseId,
      blob: { path, bytes: text.length },
      standIn: storedStandIn(result, { path, text, previewBytes, gist: gistOf(result, text) }),
    }
    after = step(after, entry)
    return { toolUseId, path, text }
  })
  return { view: after, stored }
}
