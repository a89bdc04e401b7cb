import { randomUUID } from 'node:crypto'

import type { Entry, MessageEntry, View } from 'palimpsest/transcript'
import { isBlock, toBlocks } from 'palimpsest/wire'

import { createCheckpoints } from '../../agent/files/checkpoints.ts'
import { planRestore, restoreFiles, type RestoreOutcome } from '../../agent/files/restore-files.ts'
import { toPrintable } from '../../agent/printable.ts'
import { shownPath } from '../host/shown-path.ts'
import { saidMessages, saidText } from '../screen/past-lines.ts'
import { note, tell, type CommandEnd, type CommandPlace } from './command-place.ts'

const LABEL_CHARS = 120
const SAID_NOTHING =
  'nothing has been said since the last compaction. To go back further, undo it first: /context'

/** Goes back to before a message of the user; restores the files of that time if wanted. What came after stays in the transcript. */
export async function rewind(place: CommandPlace): Promise<CommandEnd> {
  const { conversation, wishes, ui, world } = place
  const log = conversation.log()
  const said = saidMessages(log)
  const { from } = conversation.view()
  if (said.length === 0) return note(from === null ? 'nothing has been said yet' : SAID_NOTHING, place)
  const items = said.toReversed().map((entry) => ({
    label: toPrintable(saidText(entry).replaceAll('\n', ' ').slice(0, LABEL_CHARS)),
    value: entry.id,
  }))
  const id = await ui.pick({ title: titleOf(from), items, isSearched: true })
  const message = said.find((entry) => entry.id === id)
  if (!message) return undefined
  const checkpoints = createCheckpoints({
    sessionFolder: conversation.prepared.opened.folder,
    now: world.now,
  })
  const steps = planRestore(await checkpoints.list(), callsSince(message, log))
  const how =
    steps.length === 0
      ? 'talk'
      : await ui.pick(filesQuestion(steps.map(({ path }) => shownPath(path, wishes.cwd))))
  if (how === undefined) return undefined
  if (how === 'both') {
    const outcomes = await restoreFiles(steps, checkpoints, `rewind-${randomUUID()}`)
    tell(outcomes.map((outcome) => outcomeText(outcome, wishes.cwd)).join('\n'), place)
  }
  await conversation.rewind(message)
  tell('rewound: what you said is in the input again', place)
  ui.setInput(saidText(message))
  return { next: { ...wishes, session: { kind: 'resume', which: conversation.id } } }
}

/** A resumed session begins at its newest compaction. What was said before appears once the compaction is undone. */
function titleOf(from: View['from']): string {
  const title = 'Go back to before which message?'
  return from !== null ? `${title} (To go back further, undo the compaction: /context)` : title
}

function filesQuestion(paths: readonly string[]) {
  const isOne = paths.length === 1
  const named = isOne ? (paths[0] ?? '') : `${paths.length} files`
  return {
    title: `Since then the agent changed ${named}. Restore ${isOne ? 'it' : 'them'} too? (What shell commands changed stays.)`,
    items: [
      { label: 'The conversation and the files', letter: 'b', value: 'both' },
      { label: 'The conversation alone', letter: 'c', value: 'talk' },
    ],
  }
}

function callsSince(message: MessageEntry, log: readonly Entry[]): ReadonlySet<string> {
  const since = log.slice(log.findIndex(({ id }) => id === message.id))
  return new Set(
    since.flatMap((entry) =>
      entry.kind === 'message'
        ? toBlocks(entry.message.content).flatMap((block) => (isBlock(block, 'tool_use') ? [block.id] : []))
        : [],
    ),
  )
}

function outcomeText(outcome: RestoreOutcome, cwd: string): string {
  const { kind } = outcome
  const path = shownPath(outcome.path, cwd)
  if (kind === 'changed-by-others')
    return `${path}: left as it is, because somebody else has changed it since`
  return kind === 'failed' ? `${path}: ${outcome.message}` : `${path}: ${kind}`
}
