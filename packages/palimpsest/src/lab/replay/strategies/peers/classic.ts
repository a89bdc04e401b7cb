import { isClearableTool } from '../../../../layers/2-micro-compaction/clearable-tools.ts'
import { standIn } from '../../../../layers/2-micro-compaction/stand-in.ts'
import { storagePolicy } from '../../../../layers/1-tool-results/policy.ts'
import type { View, ViewNode } from '../../../../transcript/view.ts'
import { isBlock } from '../../../../wire/message.ts'
import { clearingEdit, shownResults } from '../clear.ts'
import { storeLarge } from '../store-large.ts'
import { NO_ACTIONS, type Actions, type Moment, type Strategy, type StrategySettings } from '../strategy.ts'
import { idleMs } from './idle.ts'
import { createPeer } from './peer.ts'
import type { PeerSight } from './peer-sight.ts'
import { recentFiles } from './recent-files.ts'
import { fullAt } from '../../../../situation/is-full.ts'

// Numbers from docs/peers/classic.md.

const IDLE_MS = 60 * 60_000
const KEEP_RESULTS = 5

const TAIL_TOKENS_MIN = 10_000
const TAIL_TEXTS_MIN = 5
const TAIL_TOKENS_MAX = 40_000

const RESTORED = { filesMax: 5, tokensEach: 5_000 }

export const classic: Strategy = createPeer({
  name: 'classic',
  triggerTokens: ({ thresholds }) => fullAt(thresholds),
  reduce,
  keeps: (seen) => [...tail(seen), ...restored(seen)],
  call: { kind: 'fork' },
})

/** Stores large results as they arrive; after a pause, clears all except the newest. */
function reduce(view: View, moment: Moment, settings: StrategySettings): Actions {
  const stored = storeLarge(view, storagePolicy(settings.scale), moment, settings)
  if (stored.length > 0) return { entries: stored }
  if (idleMs(view, moment) < IDLE_MS) return NO_ACTIONS
  const old = shownResults(view)
    .filter(({ call }) => isClearableTool(call.name))
    .slice(0, -KEEP_RESULTS)
    .filter(({ isSeen, result }) => isSeen && result.is_error !== true)
  const edit = clearingEdit(old, ({ result }) => standIn(result), moment, settings)
  return edit ? { entries: [edit] } : NO_ACTIONS
}

/** Rounds from the newest back, until tokens and texts both reach their minimum, or tokens exceed their maximum. */
function tail({ view, rounds, moment, settings }: PeerSight): readonly number[] {
  const { scale } = settings
  let tokens = 0
  let texts = 0
  const kept: number[] = []
  for (let index = rounds.length - 1; index >= 0; index--) {
    const round = rounds[index]
    if (!round || (tokens >= TAIL_TOKENS_MIN * scale && texts >= TAIL_TEXTS_MIN)) break
    tokens += moment.toTokens(round.raw)
    if (tokens > TAIL_TOKENS_MAX * scale) break
    texts += view.nodes.slice(round.from, round.end).filter(hasText).length
    kept.push(index)
  }
  return kept
}

function hasText({ blocks }: ViewNode): boolean {
  return blocks.some(({ block }) => isBlock(block, 'text'))
}

function restored(seen: PeerSight): readonly number[] {
  const { scale } = seen.settings
  return recentFiles(seen, { ...RESTORED, tokensEach: RESTORED.tokensEach * scale })
}
