import type { MemoryFiles } from 'palimpsest'
import { passGates, takeConsolidation, type DreamOutcome, type GateOutcome } from 'palimpsest/dreaming'
import { openHome } from 'palimpsest/node'

import { toPrintable, toPrintableJson } from '../agent/printable.ts'
import type { CommandInput } from '../commands/command.ts'
import { scopeOf } from '../memory/memory-scopes.ts'
import { diffText } from '../memory/show-history.ts'
import { palimpsestHome } from '../run/palimpsest-home.ts'
import { prepareRun, type PreparedRun } from '../run/prepare-run.ts'
import { folderOf, pathOf, textOf } from '../run/read-flags.ts'
import { DONE, FAILED, type ExitCode, type World } from '../world.ts'
import { dreamPolicy, type DreamPlace } from './dream-place.ts'
import { outcomeText, startDream } from './start-dream.ts'

// `palimpsest dream`: the gates, then one consolidation, in a new conversation.

export async function runDreamCommand(input: CommandInput, world: World): Promise<ExitCode> {
  const home = await openHome(palimpsestHome(world))
  const prepared = await prepareRun(
    {
      prompt: '',
      cwd: await folderOf(textOf(input, 'cwd'), world),
      session: { kind: 'new' },
      model: textOf(input, 'model'),
      baseUrl: textOf(input, 'base-url'),
      settingsFile: pathOf(textOf(input, 'settings'), world),
      trust: input.flags['trust'] === true,
      allowed: [],
      roundsMax: 1,
      systemPrompt: {},
      debug: input.flags['debug'] === true,
      isMaintenance: true,
    },
    home,
    world,
  )
  try {
    for (const notice of prepared.notices) world.printError(`palimpsest: ${toPrintable(notice)}\n`)
    return await dreamOpened(prepared, input, world)
  } finally {
    await prepared.close(false)
  }
}

async function dreamOpened(prepared: PreparedRun, input: CommandInput, world: World): Promise<ExitCode> {
  const { places, settings, isFlagOn, base } = prepared.dreaming.setup
  const scope = scopeOf(textOf(input, 'scope')) ?? 'project'
  const place = places.find(({ memory }) => memory.scope === scope)
  if (!place) throw new Error('unreachable: every scope has a place')
  const isNow = input.flags['now'] === true
  const isDry = input.flags['dry-run'] === true
  const policy = dreamPolicy(settings, isFlagOn())
  const { mode } = settings.memory
  if (mode === 'off' || mode === 'read-only')
    return tellShut('enabled', `memory is ${mode} (setting memory.mode)`, input, world)
  const { texts } = await place.memory.folder.read()
  if (texts.size === 0) return tellShut('memories', 'there are no memories yet', input, world)
  const gate = isNow
    ? await takeNow(place)
    : await passGates(policy, { scannedAt: undefined, failures: 0 }, place.gates)
  if (gate.kind === 'shut') return tellShut(gate.gate, gate.reason, input, world)
  const { hold, lastMs } = gate
  const { outcome } = startDream(
    { hold, lastMs, policy, place, base: base(), isDry, onChange: () => undefined },
    world.signal,
  )
  return tell(await outcome, { isDry, isJson: input.flags['json'] === true }, world)
}

async function takeNow({ gates }: DreamPlace): Promise<GateOutcome> {
  const { lastMs } = await gates.record.look()
  const taken = await takeConsolidation(gates)
  if (taken.kind === 'held') return { kind: 'shut', gate: 'lock', reason: taken.reason }
  return { kind: 'due', hold: taken.hold, lastMs }
}

/** A dream that is not due is not a failure. */
function tellShut(gate: string, reason: string, input: CommandInput, world: World): ExitCode {
  if (input.flags['json'] === true)
    world.print(`${toPrintableJson({ ran: false, gate, reason, requests: 0, cost_usd: 0, changed: [] })}\n`)
  else world.printError(`palimpsest: no dream now: ${toPrintable(reason)}\n`)
  return DONE
}

function tell(
  outcome: DreamOutcome,
  { isDry, isJson }: { readonly isDry: boolean; readonly isJson: boolean },
  world: World,
): ExitCode {
  const { requests, costUsd } = outcome
  const isDone = outcome.kind === 'completed'
  if (isDry && isDone && !isJson)
    for (const text of diffsOf(outcome.before, outcome.change)) world.print(text)
  if (isJson) {
    const document = {
      ran: true,
      reason: isDone ? undefined : outcome.kind === 'failed' ? outcome.why.join('; ') : 'it was stopped',
      requests,
      cost_usd: costUsd,
      changed: isDone ? outcome.changed : [],
      entry: isDone && outcome.record ? outcome.record.id : undefined,
      diff: isDry && isDone ? diffsOf(outcome.before, outcome.change).join('') : undefined,
    }
    world.print(`${toPrintableJson(document)}\n`)
  } else if (isDone)
    world.print(`${toPrintable(`${outcomeText(outcome)}${isDry ? ' (nothing was changed)' : ''}`)}\n`)
  else world.printError(`palimpsest: ${toPrintable(outcomeText(outcome))}\n`)
  return isDone ? DONE : FAILED
}

/** File by file, as `memory diff` shows a change. */
function diffsOf(
  before: MemoryFiles,
  { texts, index }: { readonly texts: ReadonlyMap<string, string | null>; readonly index: string },
): readonly string[] {
  const files = [...texts].map(([name, text]) => [name, before.texts.get(name) ?? '', text ?? ''] as const)
  return [...files, ['MEMORY', before.index, index] as const]
    .filter(([, old, fresh]) => old !== fresh)
    .map(([name, old, fresh]) => toPrintable(diffText(name, old, fresh)))
}
