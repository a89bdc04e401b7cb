import { readCall } from '../../../../facts/read-call.ts'
import { isBlock } from '../../../../wire/message.ts'
import type { PeerSight } from './peer-sight.ts'

export interface RecentFiles {
  readonly filesMax: number
  readonly tokensEach: number
}

/**
 * The rounds that last read the newest files. A recording has no files, but a tool that reads files again after a compaction has about
 * this in view.
 */
export function recentFiles(
  { view, rounds, moment }: PeerSight,
  { filesMax, tokensEach }: RecentFiles,
): readonly number[] {
  const seen = new Set<string>()
  const kept: number[] = []
  for (let index = rounds.length - 1; index >= 0 && seen.size < filesMax; index--) {
    const round = rounds[index]
    if (!round) break
    const read = view.nodes
      .slice(round.from, round.end)
      .flatMap((node) => node.blocks)
      .flatMap(({ block }) => (isBlock(block, 'tool_use') ? readCall(block).reads : []))
    const fresh = read.filter((path) => !seen.has(path))
    for (const path of fresh) seen.add(path)
    // Of a larger file, only its name returns.
    if (fresh.length > 0 && moment.toTokens(round.raw) <= tokensEach * fresh.length) kept.push(index)
  }
  return kept
}
