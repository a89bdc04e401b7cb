import { isBreakerOpen } from '../../../background/breaker.ts'
import { preparedWish, readPrepared, type PreparedWish } from './prepared-for.ts'
import { restBehind } from './prepared.ts'
import type { Prepared, PreparedKeeper } from '../../../background/keepers.ts'
import type { NamedBody } from '../../../situation/session.ts'
import type { ForkOutcome, Ports, RunFork } from '../../../ports.ts'
import type { EntryId } from '../../../transcript/entry.ts'
import type { View } from '../../../transcript/view.ts'

// A summary made beside the conversation while it nears the threshold. Nobody waits for it; what came too late or covers what has left
// is dropped.

/** After so many failures in a row no more are asked for. */
const FAILURES_MAX = 3

export interface PreparedSetup {
  readonly ports: Pick<Ports, 'clock' | 'flags' | 'trace'>
  readonly runFork: RunFork
  /** Whether the bill allows one more call beside the conversation. */
  readonly maySpend: (view: View, sizeTokens: number) => boolean
  readonly signal: AbortSignal
}

export function createPreparedKeeper({ ports, runFork, maySpend, signal }: PreparedSetup): PreparedKeeper {
  let isWorking = false
  let held: Prepared | undefined
  let spent: readonly NamedBody[] = []
  let failures = 0
  const make = async (wish: PreparedWish, boundary: EntryId | undefined): Promise<void> => {
    const message = JSON.stringify({ role: 'user', content: wish.prompt })
    const outcome = await runFork({ source: 'compact', messages: [message], needsCache: true }, signal)
    const text = readPrepared(outcome)
    failures = text === undefined ? failures + 1 : 0
    spent = [...spent, ...spentOn(outcome)]
    if (text !== undefined) held = { text, upTo: wish.upTo, boundary }
    ports.trace({ name: 'prepared', reason: outcome.kind, failures })
  }
  const find = (view: View): Prepared | undefined =>
    held && restBehind(view, held) !== undefined ? held : undefined
  return {
    consider: (view, limits) => {
      if (isWorking || failures >= FAILURES_MAX || signal.aborted || find(view)) return
      if (isBreakerOpen(view, ports.clock.now())) return
      const wish = preparedWish(view, limits, ports.flags)
      if (!wish || !maySpend(view, limits.sizeTokens)) return
      isWorking = true
      void make(wish, view.boundary?.entry.id)
        .catch((error: unknown) => {
          failures++
          const reason = error instanceof Error ? error.message : String(error)
          ports.trace({ name: 'prepared', reason, failures })
        })
        .finally(() => {
          isWorking = false
        })
    },
    take: () => {
      const taken = spent
      spent = []
      return taken
    },
    find,
  }
}

function spentOn(outcome: ForkOutcome): readonly NamedBody[] {
  if (outcome.kind !== 'answered' && outcome.kind !== 'called-tools') return []
  const { model, usage } = outcome.response
  return [{ kind: 'spent', source: 'prepared', model, usage }]
}
