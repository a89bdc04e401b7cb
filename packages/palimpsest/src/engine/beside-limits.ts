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

/** What a turn knows that decides about calls beside it. */
export type BesideMoment = Omit<ClearingLimits, 'lifetime' | 'isMain' | keyof Situation> & {
  readonly situation: Situation
  readonly ports: Pick<Ports, 'flags'>
  readonly source: Source
  readonly lifetimes: CacheLifetimes
}

export type BesideLimits = NotesLimits & Pick<ClearingLimits, 'facts'> & { readonly thresholds: Thresholds }

/** For notes and prepared summaries: what they would serve, a compaction that asks no other for its summary, must be coming. */
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

/** A conversation, and no fork of our own: an agent's is one like the user's. */
export function isMain(source: Source): boolean {
  return source === 'main' || source.startsWith('main:') || source.startsWith('subagent:')
}
