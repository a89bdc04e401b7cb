import { createKeeper, spentOn, type BesideTask, type KeeperSetup } from '../../background/create-keeper.ts'
import type { NotesKeeper, NotesLimits } from '../../background/keepers.ts'
import type { Ports, RunFork } from '../../ports.ts'
import type { NamedBody } from '../../situation/session.ts'
import type { View } from '../../transcript/view.ts'
import { notesWish, type NotesPolicy, type NotesWish } from './notes-for.ts'
import { notesInView } from './plan.ts'
import { readNotes } from './prompt.ts'

// Notes that a fork of the conversation writes in parallel to it.

export interface NotesSetup extends KeeperSetup {
  readonly ports: KeeperSetup['ports'] & Pick<Ports, 'flags'>
  readonly runFork: RunFork
  readonly policy: NotesPolicy
  /** Saves the file that people read. It must not fail. */
  readonly save: (text: string) => Promise<void>
  /** What that file says at the beginning, if someone wrote it. It counts more than the conversation's own notes. */
  readonly written?: string | undefined
}

type NotesMoment = NotesLimits & { readonly at: 'response' | 'turn-end' }

export function createNotesKeeper(setup: NotesSetup): NotesKeeper {
  const { runFork, save } = setup
  const { flags } = setup.ports
  let { written } = setup
  let isRead = false
  const task: BesideTask<NotesMoment, NotesWish, string> = {
    name: 'notes',
    plan: (view, moment) => planNotes(view, moment, { ...setup, written }),
    run: async (wish, signal) => {
      const message = JSON.stringify({ role: 'user', content: wish.prompt })
      const outcome = await runFork({ source: 'session-memory', messages: [message] }, signal)
      const made = outcome.kind === 'answered' ? readNotes(outcome.text) : undefined
      if (made !== undefined) {
        written = made
        await save(made)
      }
      return {
        made,
        spent: spentOn(outcome, 'session-memory'),
        reason: made === undefined ? outcome.kind : wish.why,
        // If there is nothing to extend, nothing was asked and nothing failed.
        hasFailed: made === undefined && outcome.kind !== 'unfit',
      }
    },
    toBodies: (text, upTo) => [{ kind: 'notes', upTo, text }],
  }
  const keeper = createKeeper(task, setup)
  return {
    ...keeper,
    consider: (view, at, limits) => keeper.consider(view, { ...limits, at }),
    take: (view) => {
      const came = keeper.take(view)
      const changed = isRead ? [] : changedSince(view, written)
      isRead = true
      return [...changed, ...came]
    },
    areKept: () => flags.value('session-memory') && flags.value('compaction-from-notes'),
  }
}

function planNotes(
  view: View,
  { at, ...limits }: NotesMoment,
  { policy, ports: { flags }, written }: Pick<NotesSetup, 'policy' | 'ports' | 'written'>,
): NotesWish | undefined {
  if (!flags.value('session-memory') || !flags.value('background-calls')) return undefined
  const eager = policy.eager || flags.value('session-memory-eager')
  // Unless someone asked for them, they are written to be a summary.
  if (!eager && !flags.value('compaction-from-notes')) return undefined
  return notesWish(view, at, limits, { ...policy, eager, written })
}

/** If someone changed the file since it was written, its text covers what the old notes covered. */
function changedSince(view: View, written: string | undefined): readonly NamedBody[] {
  const kept = notesInView(view)
  if (!kept || written === undefined || kept.entry.text === written) return []
  return [{ kind: 'notes', upTo: kept.entry.upTo, text: written }]
}
