import type { NotesKeeper } from '../../background/keepers.ts'
import { isBreakerOpen } from '../../background/breaker.ts'
import { notesInView } from './plan.ts'
import { notesWish, type NotesPolicy, type NotesWish } from './notes-for.ts'
import { readNotes } from './prompt.ts'
import type { NamedBody } from '../../situation/session.ts'
import type { Clock, ForkOutcome, Ports, RunFork } from '../../ports.ts'
import type { EntryId } from '../../transcript/entry.ts'
import type { View } from '../../transcript/view.ts'

// Notes are written beside the conversation: a fork is started, nobody waits for it, and what it brings is appended between requests
// if it still fits.

/** After so many failures in a row no more are asked for. */
const FAILURES_MAX = 3

export interface NotesSetup {
  readonly ports: Pick<Ports, 'flags' | 'trace'> & { readonly clock: Pick<Clock, 'now' | 'within'> }
  readonly runFork: RunFork
  readonly policy: NotesPolicy
  /** Whether the bill allows one more call beside the conversation. */
  readonly maySpend: (view: View, sizeTokens: number) => boolean
  /** Keeps the file that people read. It must not fail. */
  readonly save: (text: string) => Promise<void>
  /** What that file says at the beginning, where somebody wrote it. It counts more than what the conversation has of it. */
  readonly written?: string | undefined
  /** Failures in a row before this keeper, of the same session. */
  readonly failedBefore?: number
  readonly signal: AbortSignal
}

interface Arrived {
  readonly bodies: readonly NamedBody[]
  readonly upTo: EntryId
  readonly boundary: EntryId | undefined
}

export function createNotesKeeper(setup: NotesSetup): NotesKeeper {
  const { ports, policy } = setup
  let working: Promise<void> | undefined
  let arrived: Arrived[] = []
  let failures = setup.failedBefore ?? 0
  let { written } = setup
  let isRead = false
  const update = async (wish: NotesWish, boundary: EntryId | undefined): Promise<void> => {
    const message = JSON.stringify({ role: 'user', content: wish.prompt })
    const outcome = await setup.runFork({ source: 'session-memory', messages: [message] }, setup.signal)
    const text = outcome.kind === 'answered' ? readNotes(outcome.text) : undefined
    // Where there is nothing to extend, nothing was asked and nothing failed.
    if (outcome.kind !== 'unfit') failures = text === undefined ? failures + 1 : 0
    if (text !== undefined) {
      written = text
      await setup.save(text)
    }
    ports.trace({ name: 'notes', reason: text === undefined ? outcome.kind : wish.why, failures })
    const notes = text === undefined ? [] : [{ kind: 'notes' as const, upTo: wish.upTo, text }]
    arrived.push({ bodies: [...spentOn(outcome), ...notes], upTo: wish.upTo, boundary })
  }
  return {
    consider: (view, at, limits) => {
      if (
        working ||
        arrived.length > 0 ||
        failures >= FAILURES_MAX ||
        setup.signal.aborted ||
        isBreakerOpen(view, ports.clock.now()) ||
        !setup.maySpend(view, limits.sizeTokens)
      )
        return
      if (!ports.flags.value('session-memory') || !ports.flags.value('background-calls')) return
      const eager = policy.eager || ports.flags.value('session-memory-eager')
      // Unless somebody asked for them, they are written to be a summary.
      if (!eager && !ports.flags.value('compaction-from-notes')) return
      const wish = notesWish(view, at, limits, { ...policy, eager, written })
      if (!wish) return
      working = update(wish, view.boundary?.entry.id)
        .catch((error: unknown) => {
          failures++
          const reason = error instanceof Error ? error.message : String(error)
          ports.trace({ name: 'notes', reason, failures })
        })
        .finally(() => {
          working = undefined
        })
    },
    take: (view) => {
      const taken = arrived
      arrived = []
      const came = taken.flatMap(({ bodies, upTo, boundary }) => {
        const fits =
          view.boundary?.entry.id === boundary && view.nodes.some(({ entries }) => entries.includes(upTo))
        if (!fits) ports.trace({ name: 'notes', reason: 'what they cover has left the view' })
        return fits ? bodies : bodies.filter(({ kind }) => kind === 'spent')
      })
      const changed = isRead ? [] : changedSince(view, written)
      isRead = true
      return [...changed, ...came]
    },
    areKept: () => ports.flags.value('session-memory') && ports.flags.value('compaction-from-notes'),
    isWorking: () => working !== undefined || arrived.length > 0,
    settle: async (ms) => {
      if (working) await ports.clock.within(working, ms)
    },
  }
}

/** Somebody changed the file since it was written: what it says covers what it covered. */
function changedSince(view: View, written: string | undefined): readonly NamedBody[] {
  const kept = notesInView(view)
  if (!kept || written === undefined || kept.entry.text === written) return []
  return [{ kind: 'notes', upTo: kept.entry.upTo, text: written }]
}

function spentOn(outcome: ForkOutcome): readonly NamedBody[] {
  if (outcome.kind !== 'answered' && outcome.kind !== 'called-tools') return []
  const { model, usage } = outcome.response
  return [{ kind: 'spent', source: 'session-memory', model, usage }]
}
