import { UsageError } from 'palimpsest'
import type { CompactionSpan } from 'palimpsest/engine'
import { runCompaction, type LoopEvent, type TurnCompaction } from 'palimpsest/loop'
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
import { besideOf, turnSetup } from '../print/run-headless.ts'

// A stored session is opened as a run opens it, compacted, and closed. No turn is run.

export async function runCompactCommand(input: CommandInput, world: World): Promise<ExitCode> {
  const home = await openHome(palimpsestHome(world))
  const from = textOf(input, 'from')
  const upTo = textOf(input, 'up-to')
  if (from !== undefined && upTo !== undefined)
    throw new UsageError('--from and --up-to exclude each other: give one')
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
  const { opened, hooks, flags, modelList, shells, notices } = prepared
  try {
    for (const notice of notices) world.printError(`palimpsest: ${toPrintable(notice)}\n`)
    return await compactOpened(prepared, input, world)
  } finally {
    flags.close()
    await modelList.close()
    await shells.killAll()
    await hooks.close()
    await opened.file.close()
  }
}

async function compactOpened(
  { run, opened }: PreparedRun,
  input: CommandInput,
  world: World,
): Promise<ExitCode> {
  const { session, reading } = run
  const span = spanOf(input, session.view)
  if (!reading.compactEnabled) return refuse('DISABLE_COMPACT is set: nothing is compacted. Unset it', world)
  const maySpend = (): boolean => true
  const beside = besideOf(run, session, { maySpend, endsWithTurn: true, signal: world.signal })
  const setup = turnSetup(run, session, { maySpend, beside })
  const compaction = compactionOf(run, summaryModelOf(input))
  const instructions = input.words.join(' ').trim()
  const wish = { span, ...(instructions === '' ? {} : { instructions }) }
  const steps = runCompaction(session, wish, { ...setup, compaction }, world.signal)
  let boundary: BoundaryEntry | undefined
  for (let next = await steps.next(); ; next = await steps.next()) {
    if (!next.done) {
      noteEvent(next.value, world)
      boundary = boundaryIn(next.value) ?? boundary
      continue
    }
    const { result } = next.value
    if (result.kind !== 'compacted') return refuse(result.why, world)
    if (boundary) tell(boundary, opened.session.id, input, world)
    return DONE
  }
}

/** Another model than the session's own has nothing of it in its cache. One that is named is asked, whatever the notes say. */
function compactionOf(
  { compaction, session, prefix }: PreparedRun['run'],
  named: string | undefined,
): TurnCompaction {
  if (!compaction) throw new Error('unreachable: a prepared run has it')
  const own = session.view.prefix?.model
  const { wishes, notesTemplate } = compaction
  const model =
    named ?? wishes?.model ?? (own !== undefined && own !== prefix.model ? prefix.model : undefined)
  return {
    ...compaction,
    notesTemplate: named === undefined ? notesTemplate : undefined,
    wishes: { ...wishes, model },
  }
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
      `no message "${typed}" is in view; \`palimpsest recall\` finds messages and tells their ids`,
    )
  return { kind: from === undefined ? 'up_to' : 'from', entry: found.id }
}

function boundaryIn(event: LoopEvent): BoundaryEntry | undefined {
  return event.type === 'engine' ? event.entries.find((entry) => entry.kind === 'boundary') : undefined
}

function tell({ id, meta }: BoundaryEntry, session: string, input: CommandInput, world: World): void {
  const undo = undoCommand(id, session)
  if (input.flags['json'] !== true) {
    world.print(`${toPrintable(compactedText(meta))}\ntake it back with: ${undo}\n`)
    return
  }
  const { preTokens, postTokens, messagesSummarized, path, proof } = meta
  const document = {
    session,
    id,
    pre_tokens: preTokens,
    post_tokens: postTokens ?? null,
    // Until the next answer: the provider has not counted it yet.
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
