import { UsageError } from 'palimpsest'
import { openConversation } from 'palimpsest/conversation'
import { openHome, openProject } from 'palimpsest/node'

import { findPermissionMode, PERMISSION_MODES } from '../agent/permissions/permission-mode.ts'
import { parseRule, splitRuleList, type Rule, type RuleEffect } from '../agent/permissions/rule.ts'
import { offeredTools } from '../agent/tools/create-tools.ts'
import { toPrintable } from '../agent/printable.ts'
import type { CommandInput } from './command.ts'
import { addTyped, typedMemory } from '../memory/add-typed.ts'
import { createOutput, FORMATS, type Format } from '../print/output.ts'
import type { SessionChoice } from '../run/open-session.ts'
import { countOf, folderOf, pathOf, textOf } from '../run/read-flags.ts'
import { howToCompact } from '../run/compaction/how-to-compact.ts'
import { prepareRun } from '../run/prepare-run.ts'
import type { RunWishes } from '../run/set-scene.ts'
import { runHeadless } from '../print/run-headless.ts'
import { seatOf } from '../team/seat.ts'
import type { Console } from '../tui/console.ts'
import { INPUT_BYTES_MAX } from '../run/read-input.ts'
import { palimpsestHome } from '../run/palimpsest-home.ts'
import { DONE, FAILED, type ExitCode, type World } from '../world.ts'

/** Default number of rounds in one turn. */
const ROUNDS_MAX = 200

export async function runAgentCommand(input: CommandInput, world: World): Promise<ExitCode> {
  if (input.flags['print'] !== true) return await talkOrShow(input, world)
  return await runPrint(await promptOf(input, world), input, world)
}

/** Without a terminal, piped input is the prompt; without input, words or flags, the demo runs. */
async function talkOrShow(input: CommandInput, world: World): Promise<ExitCode> {
  const { console } = world
  if (console) return await talk(input, world, console)
  if (input.words.length > 0 || Object.keys(input.flags).length > 0)
    throw new UsageError('the interactive agent needs a terminal. `palimpsest -p "prompt"` runs one turn')
  const piped = await world.readInput(false)
  if (piped.kind === 'text' && piped.text.trim() !== '') return await runPrint(piped.text, input, world)
  const { runDemo } = await import('../demo/run-demo.ts')
  return await runDemo({ isFast: false }, world)
}

async function runPrint(prompt: string, input: CommandInput, world: World): Promise<ExitCode> {
  const home = await openHome(palimpsestHome(world))
  const remembered = typedMemory(prompt)
  const wishes = await readWishes(prompt, input, world)
  if (remembered !== undefined) return await remember(remembered, wishes, home, world)
  const tells = input.flags['verbose'] === true
  return await runPrompt(wishes, { format: formatOf(input), tells }, home, world)
}

/** `# text` asks no model. */
async function remember(text: string, { cwd }: RunWishes, home: string, world: World): Promise<ExitCode> {
  const { outcome, told } = await addTyped(text, await openProject(home, cwd), world)
  if (outcome.kind === 'written') world.print(`${toPrintable(told)}\n`)
  else world.printError(`palimpsest: ${toPrintable(told)}\n`)
  return outcome.kind === 'written' ? DONE : FAILED
}

async function talk(input: CommandInput, world: World, console: Console): Promise<ExitCode> {
  const home = await openHome(palimpsestHome(world))
  const { runInteractive } = await import('../tui/run-interactive.ts')
  const options = {
    home,
    prompt: input.words.join(' '),
    isPlain: input.flags['plain'] === true,
    picks: input.flags['resume'] === '',
  }
  return await runInteractive(await readWishes('', input, world), options, world, console)
}

async function runPrompt(
  wishes: RunWishes,
  { format, tells }: { readonly format: Format; readonly tells: boolean },
  home: string,
  world: World,
): Promise<ExitCode> {
  const prepared = await prepareRun(wishes, home, world)
  const { setup, permissions, about, notices, reading } = prepared
  try {
    const lines = tells ? [`${setup.prefix.model}, ${about}`, ...notices] : notices
    for (const notice of lines) world.printError(`palimpsest: ${toPrintable(notice)}\n`)
    const facts = {
      sessionId: setup.session.id,
      model: setup.prefix.model,
      tools: offeredTools(setup.tools).map(({ name }) => name),
      cwd: wishes.cwd,
      permissionMode: permissions.mode(),
    }
    const how = `To compact the conversation, run \`palimpsest compact --session ${setup.session.id}\`, then resume the session.`
    const conversation = openConversation({ ...setup, howToCompact: howToCompact(how, reading) })
    const { afterTurn, agents, planning } = prepared
    const prompt = { prompt: wishes.prompt, stays: wishes.stays === true }
    const run = { conversation, ...prompt, now: world.now, afterTurn, agents, planning }
    const output = createOutput(format, facts, world)
    agents.onEvent(output.agent)
    const result = await runHeadless(run, output, world.signal)
    return result.end.reason === 'answered' ? DONE : FAILED
  } finally {
    await prepared.close()
  }
}

export async function readWishes(prompt: string, input: CommandInput, world: World): Promise<RunWishes> {
  const cwd = await folderOf(textOf(input, 'cwd'), world)
  return {
    prompt,
    cwd,
    session: sessionOf(input, world),
    model: textOf(input, 'model'),
    baseUrl: textOf(input, 'base-url'),
    window: countOf(input, 'window')?.toString(),
    settingsFile: pathOf(textOf(input, 'settings'), world),
    trust: input.flags['trust'] === true,
    mode: modeOf(input),
    allowed: rulesOf(input),
    folders: await foldersOf(input, world),
    roundsMax: countOf(input, 'max-turns') ?? ROUNDS_MAX,
    maxCostUsd: dollarsOf(input),
    systemPrompt: {
      ...given('systemPrompt', textOf(input, 'system-prompt')),
      ...given('appendSystemPrompt', textOf(input, 'append-system-prompt')),
    },
    debug: input.flags['debug'] === true,
    ...seatIn(input),
  }
}

function seatIn(input: CommandInput): Pick<RunWishes, 'seat' | 'stays'> {
  const seat = seatOf(textOf(input, 'team'), textOf(input, 'as'))
  const stays = input.flags['stay'] === true
  if (stays && !seat)
    throw new UsageError('--stay needs --team and --as: nobody else could write to this run')
  return { seat, stays }
}

/** Folders beside the working folder. */
async function foldersOf(input: CommandInput, world: World): Promise<readonly string[]> {
  const text = textOf(input, 'add-dir')
  if (text === undefined) return []
  return await Promise.all(text.split('\n').map(async (path) => await folderOf(path, world, 'add-dir')))
}

/** The words of the command, followed by what is piped in. A dash alone stands for the pipe. */
async function promptOf(command: CommandInput, world: World): Promise<string> {
  const words = command.words.find((word) => word !== '-')
  const input = await world.readInput(words === undefined)
  if (input.kind === 'too-long')
    throw new UsageError(
      `stdin holds more than ${INPUT_BYTES_MAX / 1024 / 1024} MB: write it to a file and name the file in the prompt`,
    )
  if (input.kind === 'silent') world.printError('palimpsest: nothing came on stdin; continuing without it\n')
  const piped = input.kind === 'text' ? input.text : ''
  const prompt = [words ?? '', piped].filter((part) => part.trim() !== '').join('\n\n')
  if (prompt === '') throw new UsageError('no prompt: give one after -p, or on stdin')
  return prompt
}

function sessionOf(input: CommandInput, world: World): SessionChoice {
  const which = textOf(input, 'resume')
  const id = textOf(input, 'session-id')
  const goesOn = input.flags['continue'] === true
  if ([which !== undefined, id !== undefined, goesOn].filter(Boolean).length > 1)
    throw new UsageError('--continue, --resume and --session-id cannot be combined: use one of them')
  // A user at a terminal gets the list.
  if (which === '' && world.console && input.flags['print'] !== true) return { kind: 'new' }
  if (which === '') throw new UsageError('--resume: which session? `palimpsest sessions` lists the ids')
  if (which !== undefined) return { kind: 'resume', which }
  if (goesOn) return { kind: 'continue' }
  return id === undefined ? { kind: 'new' } : { kind: 'new', id }
}

export function formatOf(input: CommandInput): Format {
  const text = textOf(input, 'output-format') ?? 'text'
  const format = FORMATS.find((known) => known === text)
  if (!format) throw new UsageError(`--output-format "${text}": use one of ${FORMATS.join(', ')}`)
  return format
}

function modeOf(input: CommandInput): RunWishes['mode'] {
  const text = textOf(input, 'permission-mode')
  if (input.flags['dangerously-skip-permissions'] === true) {
    if (text === undefined) return 'bypass'
    throw new UsageError(
      '--dangerously-skip-permissions and --permission-mode cannot be combined: use one of them',
    )
  }
  if (text === undefined) return undefined
  const mode = findPermissionMode(text)
  if (!mode) throw new UsageError(`--permission-mode "${text}": use one of ${PERMISSION_MODES.join(', ')}`)
  return mode
}

function rulesOf(input: CommandInput): readonly Rule[] {
  return [...rulesIn(input, 'allowed-tools', 'allow'), ...rulesIn(input, 'disallowed-tools', 'deny')]
}

function rulesIn(input: CommandInput, flag: string, effect: RuleEffect): readonly Rule[] {
  return splitRuleList(textOf(input, flag) ?? '').map((text) => {
    const parsed = parseRule(text, effect)
    if (parsed.ok) return parsed.rule
    throw new UsageError(`--${flag} "${text}": ${parsed.message}`)
  })
}

function dollarsOf(input: CommandInput): number | undefined {
  const text = textOf(input, 'max-cost')
  if (text === undefined) return undefined
  const dollars = Number(text)
  if (!Number.isFinite(dollars) || dollars <= 0)
    throw new UsageError(`--max-cost "${text}": give a number of dollars above 0`)
  return dollars
}

function given<Name extends string>(name: Name, value: string | undefined): { [key in Name]?: string } {
  const found: { [key in Name]?: string } = {}
  if (value !== undefined) Object.assign(found, { [name]: value })
  return found
}
