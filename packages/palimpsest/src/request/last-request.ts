import { emptySettled, settle } from '../transcript/settle.ts'
import type { View } from '../transcript/view.ts'
import { buildRequest, type BuildOptions, type BuiltRequest } from './build-request.ts'

export interface LastRequest {
  readonly built: BuiltRequest
  /** When it was sent, as far as the transcript shows: the time of the entry before its answer. */
  readonly at: number
}

/**
 * The last request that was answered, byte for byte, from the transcript alone: for forks of a conversation that someone else began.
 * Undefined if what comes before the newest answer is not what it was made under, or if another model is to answer next.
 */
export function lastRequest(view: View, options: BuildOptions): LastRequest | undefined {
  const newest = view.nodes.findLastIndex(({ role }) => role === 'assistant')
  const source = view.nodes[newest]?.source
  if (!view.prefix || source?.under === undefined) return undefined
  const place = view.log.findLastIndex(({ id }) => id === source.id)
  if (view.log.findLastIndex(({ kind }) => kind === 'prefix') > place) return undefined
  if (settle(view, options.thinking).chains[newest] !== source.under) return undefined
  const before: View = {
    ...view,
    nodes: view.nodes.slice(0, newest),
    open: new Map(),
    settled: emptySettled(),
  }
  return { built: buildRequest(before, options), at: view.log[place - 1]?.at ?? source.at }
}
