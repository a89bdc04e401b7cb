import { UsageError } from 'palimpsest'
import { drive, openConversation } from 'palimpsest/conversation'
import type { CompactionSpan } from 'palimpsest/engine'
import type { LoopEvent } from 'palimpsest/loop'
import { openHome } from 'palimpsest/node'
import type { BoundaryEntry, View } from 'palimpsest/transcript'
import { parseModelName } from 'palimpsest/wire'

import { toPrintable, toPrintableJson } from '../agent/printable.ts'
import type { CommandInput } from './command.ts'
import { findById } from '../stored/find-by-id.ts'
import { palimpsestHome } from '../run/palimpsest-home.ts'
import { undoCommand } from '../stored/undo-command.ts'
import { DONE, FAILED, type ExitCode, type World } from '../world.ts'
import { compactedText, noteEvent } from '../print/output.ts'
import { prepareRun, type PreparedRun } from '../run/prepare-run.ts'
import { countOf, folderOf, pathOf, textOf } from '../run/read-flags.ts'

// Opens a stored session as a run does, compacts it, and closes it. No turn is run.

export async function runCompactCommand(input: CommandInput, world: World): Promise<ExitCode> {
  const home = await openHome(palimpsestHome(world))
  const from = textOf(input, 'from')
  const upTo = textOf(input, 'up-to')
  if (from !== undefined && upTo !== undefined)
    throw new UsageError('--from and --up-to cannot be combined: use one of them')
  const prepared = await prepareRun(
    {
      prompt: '',
      cwd: await folderOf(textOf(input, 'cwd'), world),
      session: { kind: 'stored', id: textOf(input, 'session') },
      baseUrl: textOf(input, 'base-url'),
      window: countOf(input, 'window')?.toString(),
      settingsFile: pathOf(textOf(input, 'settings'), world),
      trust: input.flags['trust'] === true,
      allowed: [],
      roundsMax: 1,
      systemPrompt: {},
      debug: input.flags['debug'] === true,
      isMaintenance: true,
      keepsStart: from !== undefined,
    },
    home,
    world,
  )
  try {
    for (const notice of prepared.notices) world.printError(`palimpsest: ${toPrintable(notice)}\n`)
    return await compactOpened(prepared, input, world)
  } finally {
    await prepared.close()
  }
}

async function compactOpened(
  { setup, reading }: PreparedRun,
  input: CommandInput,
  world: World,
): Promise<ExitCode> {
  const conversation = openConversation(setup)
  const span = spanOf(input, conversation.view())
  if (!reading().compactEnabled)
    return refuse('not compacted, because DISABLE_COMPACT is set. Unset it', world)
  const instructions = input.words.join(' ').trim() || undefined
  const wish = { span, instructions, summaryModel: summaryModelOf(input) }
  let boundary: BoundaryEntry | undefined
  const result = await drive(conversation.compact(wish, world.signal), (event) => {
    noteEvent(event, world)
    boundary = boundaryIn(event) ?? boundary
  })
  await conversation.close()
  if (result.kind !== 'compacted') return refuse(result.why, world)
  if (boundary) tell(boundary, conversation.id, input, world)
  return DONE
}

function summaryModelOf(input: CommandInput): string | undefined {
  const named = textOf(input, 'model')
  return named === undefined ? undefined : parseModelName(named).id
}

function spanOf(input: CommandInput, view: View): CompactionSpan {
  const from = textOf(input, 'from')
  const upTo = textOf(input, 'up-to')
  const typed = from ?? upTo
  if (typed === undefined) return { kind: 'whole' }
  const inView = view.nodes.flatMap((node) => node.entries.map((id) => ({ id })))
  const found = findById(typed, inView, 'messages')
  if (!found)
    throw new UsageError(
      `no message "${typed}" is in view; \`palimpsest recall\` finds messages and their ids`,
    )
  return { kind: from === undefined ? 'up_to' : 'from', entry: found.id }
}

function boundaryIn(event: LoopEvent): BoundaryEntry | undefined {
  return event.type === 'engine' ? event.entries.find((entry) => entry.kind === 'boundary') : undefined
}

function tell({ id, meta }: BoundaryEntry, session: string, input: CommandInput, world: World): void {
  const undo = undoCommand(id, session)
  if (input.flags['json'] !== true) {
    world.print(`${toPrintable(compactedText(meta))}\nundo it with: ${undo}\n`)
    return
  }
  const { preTokens, postTokens, messagesSummarized, path, proof } = meta
  const document = {
    session,
    id,
    pre_tokens: preTokens,
    post_tokens: postTokens ?? null,
    // An estimate until the next answer: the provider has not counted it yet.
    post_tokens_estimated: true,
    messages_summarized: messagesSummarized ?? null,
    path: path ?? null,
    proof: proof ?? null,
    undo,
  }
  world.print(`${toPrintableJson(document)}\n`)
}

function refuse(why: string, world: World): ExitCode {
  world.printError(`palimpsest: ${toPrintable(why)}\n`)
  return FAILED
}
