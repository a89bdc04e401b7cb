import type { CacheLifetimes } from '../request/build-request.ts'
import { mayCompact } from './auto-compact.ts'
import { clearingWillSpare, type ClearingLimits } from './edit-moment.ts'
import type { NotesLimits } from '../background/keepers.ts'
import { offersSignedCompaction } from '../layers/4-compaction/summary/server-compaction.ts'
import { sizeOf } from '../situation/size-of.ts'
import type { Ports, Source } from '../ports.ts'
import type { Situation } from '../situation/situation.ts'
import type { Thresholds } from '../situation/thresholds.ts'
import type { View } from '../transcript/view.ts'

/** What a turn knows that decides about background calls. */
export type BesideMoment = Omit<ClearingLimits, 'lifetime' | 'isMain' | keyof Situation> & {
  readonly situation: Situation
  readonly ports: Pick<Ports, 'flags'>
  readonly source: Source
  readonly lifetimes: CacheLifetimes
}

export type BesideLimits = NotesLimits & Pick<ClearingLimits, 'facts'> & { readonly thresholds: Thresholds }

/** For notes and prepared summaries: they are of use only if a compaction is coming that gets its summary from nowhere else. */
export function besideLimits(view: View, moment: BesideMoment): BesideLimits {
  const { situation, ports, lifetimes, source } = moment
  const { thresholds, thinking, calibration, facts } = situation
  const { warning: warningTokens, blocking: blockingTokens } = thresholds
  const sizeTokens = sizeOf(view, situation)
  const clearing = { ...moment, ...situation, lifetime: lifetimes.messages, isMain: isMain(source) }
  const { compaction } = moment
  const asked = { facts, thinking, wishes: compaction?.wishes }
  const isSpared = (): boolean =>
    !compaction ||
    !mayCompact(compaction, ports.flags) ||
    offersSignedCompaction(view, asked, ports.flags) ||
    clearingWillSpare(view, sizeTokens, clearing, ports.flags)
  return { thinking, calibration, facts, thresholds, sizeTokens, warningTokens, blockingTokens, isSpared }
}

/** A conversation and not a fork of ours; an agent's counts like the user's. */
export function isMain(source: Source): boolean {
  return source === 'main' || source.startsWith('main:') || source.startsWith('subagent:')
}
