import { realpath } from 'node:fs/promises'

import type { LoopTool, ToolContext, ToolOutput } from 'palimpsest/loop'

import { findScreenProgram } from '../command/needs-terminal.ts'
import { judgeInside } from '../command/inside/judge-inside.ts'
import { isWorkPath, type Access } from '../paths/access.ts'
import type { ChildEnvironment } from '../process/child-environment.ts'
import { Refusal } from '../refusal.ts'
import { findProgram } from '../sandbox/find-program.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import { sandboxNote } from '../sandbox/sandbox-note.ts'
import { writingNote, writingReason } from '../sandbox/writing/writing-notes.ts'
import type { Shells } from '../shell/shells.ts'
import {
  FRESH_SHELL,
  isSameState,
  keptArguments,
  keptEnvironment,
  stateAfter,
  type ShellState,
  type ToldState,
} from '../shell/shell-state.ts'
import {
  boundedArguments,
  shellArguments,
  type RunningShell,
  type ShellCommand,
  type ShellEnd,
} from '../shell/start-shell.ts'
import { defineTool } from './define-tool.ts'
import { optionalFlag, optionalInteger, requiredText } from './tool-input.ts'
import type { ToolWatch } from './watch-tools.ts'

const TIMEOUT_MS_DEFAULT = 120_000
const TIMEOUT_MS_MAX = 600_000
const TIMEOUT_MS_MIN = 1
/** Below what systems accept as one argument. */
const COMMAND_BYTES_MAX = 100_000

const DESCRIPTION = `Runs a command in bash and returns what it prints (stdout and stderr in order) and its exit code.

- The shell is kept between calls: after \`cd\`, \`export\`, \`source\` or a function the next call has the same folder, exported variables and functions. Other variables do not last. A \`cd\` out of the working folders is undone.
- Nobody can answer questions: there is no input and no terminal. Use options like \`--yes\` and \`-m\`.
- timeout is in milliseconds: ${TIMEOUT_MS_DEFAULT} unless given, at most ${TIMEOUT_MS_MAX}. At its end everything the command started is ended.
- run_in_background starts a command that goes on (a server, a long build) and returns an id at once. TaskOutput shows what it printed, TaskStop ends it.
- For files use the tools made for them: Read rather than cat, Grep rather than grep, Glob rather than find, Edit rather than sed.
- A command that only reads may run at once, in a sandbox: read-only, without network, showing only the working folders and the system's programs. When a result says that the sandbox was in the way, send the command again with outside_sandbox: true.
- Quote paths with spaces. Join commands that depend on each other with &&; send independent ones as several calls in one answer.
- Do not commit, push, publish or delete unless you were asked to.`

interface BashInput {
  readonly command: string
  readonly timeoutMs: number | undefined
  readonly inBackground: boolean
  readonly isOutside: boolean
}

export interface BashOptions {
  readonly access: Access
  readonly shells: Shells
  readonly sandbox: Sandbox
  /** For commands that were allowed. */
  readonly env: ChildEnvironment
  /** For commands that run unasked outside the sandbox. */
  readonly provenEnv: ChildEnvironment
  /** Receives what a command prints while it runs. */
  readonly onOutput?: ToolWatch['printed'] | undefined
}

export function createBashTool(options: BashOptions): LoopTool {
  return defineTool<BashInput>({
    name: 'Bash',
    description: DESCRIPTION,
    properties: {
      command: { type: 'string', description: 'The command to run' },
      description: { type: 'string', description: 'What it does, in five to ten words' },
      timeout: {
        type: 'integer',
        minimum: TIMEOUT_MS_MIN,
        maximum: TIMEOUT_MS_MAX,
        description: 'Milliseconds',
      },
      run_in_background: { type: 'boolean', description: 'Start it and go on. Default: false' },
      outside_sandbox: {
        type: 'boolean',
        description: 'Ask the user to run it outside of the sandbox. Default: false',
      },
    },
    required: ['command'],
    parse: (input) => ({
      command: requiredText(input, 'command'),
      timeoutMs: optionalInteger(input, 'timeout', { min: TIMEOUT_MS_MIN, max: TIMEOUT_MS_MAX }),
      inBackground: optionalFlag(input, 'run_in_background'),
      isOutside: optionalFlag(input, 'outside_sandbox'),
    }),
    isReadOnly: ({ command, inBackground }) => {
      const verdict = judgeInside(command)
      // Changing the folder writes nothing, but calls in parallel would see the change or not, by chance.
      return !inBackground && verdict.fits && !verdict.moves
    },
    run: (input, context) => runBash(input, options, context),
  })
}

async function runBash(input: BashInput, options: BashOptions, context: ToolContext): Promise<ToolOutput> {
  const { access, shells } = options
  const { command } = input
  if (command.trim() === '') throw new Refusal('The command is empty.')
  if (command.includes('\0')) throw new Refusal('The command contains a NUL character.')
  if (Buffer.byteLength(command) > COMMAND_BYTES_MAX)
    throw new Refusal(
      `The command is longer than ${COMMAND_BYTES_MAX} bytes. Write it into a file and run that.`,
    )
  const needsTerminal = findScreenProgram(command)
  if (needsTerminal !== undefined) throw new Refusal(`${needsTerminal}. Nothing was run.`)
  const folder = await existingFolder(access)
  const wanted = await permittedShell(command, folder, options, context.toolUseId)
  if (input.inBackground) {
    const started = shells.startBackground(wanted.shell)
    // Releases what was prepared for the command.
    if (started === undefined) await wanted.shell.onEnd?.({ kind: 'not-started', message: 'too many run' })
    if (started === undefined)
      throw new Refusal('Too many commands run in the background. End one with TaskStop.')
    const content = `Started in the background as ${started.id}. TaskOutput shows its output, TaskStop ends it.`
    return { content: [content, ...(wanted.notes ?? [])].join('\n') }
  }
  const { toolUseId } = context
  const onOutput = (chunk: Uint8Array): void => options.onOutput?.(toolUseId, chunk)
  const shell = shells.start({ ...wanted.shell, onOutput })
  const timeoutMs = input.timeoutMs ?? TIMEOUT_MS_DEFAULT
  const stopped = stopWhen(shell, timeoutMs, context.signal)
  const end = await shell.ended
  stopped.release()
  const moved = await followFolder(access, folder, end.told.folder)
  const kept =
    wanted.state === undefined ? [] : keepState({ command, before: wanted.state }, end.told, options)
  const output = shell.output.take().replace(/\n$/, '')
  const isError = end.kind !== 'exited' || end.code !== 0
  const notes = [
    ...endNotes(end, stopped.reason(), timeoutMs),
    ...moved,
    ...kept,
    ...(wanted.notes ?? []),
    ...insideNotes(wanted, { output, failed: isError }, options),
  ]
  const content = [
    ...(output === '' && notes.length === 0 ? ['(The command printed nothing.)'] : [output]),
    ...notes,
  ]
  return { content: content.filter((part) => part !== '').join('\n'), isError: isError ? true : undefined }
}

function insideNotes(
  { isInside, writes }: WantedShell,
  ended: { readonly output: string; readonly failed: boolean },
  { access, sandbox }: BashOptions,
): readonly string[] {
  if (!isInside) return []
  if (writes === undefined) return sandboxNote({ ...ended, folders: access.folders })
  const reason = writingReason(ended.output, ended.failed)
  if (reason === undefined) return []
  // A reason that names what was refused says more, so it stays.
  if (sandbox.writing?.reasonOf(writes) === undefined) sandbox.writing?.keepReason(writes, reason)
  return [writingNote(reason)]
}

interface WantedShell {
  /** Notes to add to the result. */
  readonly notes?: readonly string[]
  /** The command, if it ran in the writing sandbox. */
  readonly writes?: string
  readonly shell: ShellCommand
  /** The state it starts with, if it runs in the kept shell. A command that runs unasked starts with none and leaves none. */
  readonly state?: ShellState
  readonly isInside: boolean
}

/** (S3) Exactly the command that was permitted, the way it was permitted. */
async function permittedShell(
  command: string,
  folder: string,
  { access, sandbox, env, provenEnv }: BashOptions,
  toolUseId: string,
): Promise<WantedShell> {
  const grant = access.takeCommand(toolUseId)
  if (grant?.command !== command)
    throw new Refusal('This command was not permitted for this call. Nothing was done.')
  const { way } = grant
  const bash = (args: readonly string[], variables: ChildEnvironment): WantedShell => ({
    shell: { command, start: { program: 'bash', args, cwd: folder, env: variables } },
    isInside: false,
  })
  const notes = way.kind === 'open' || way.kind === 'proven' ? await lookAround(sandbox) : []
  switch (way.kind) {
    case 'open': {
      const state = access.shellState()
      // Bash itself is the one that was found before any command changed the search path.
      const program = (await findProgram('bash', env['PATH'] ?? ''))?.path ?? 'bash'
      const { shell } = bash(keptArguments(way.command ?? command, state), keptEnvironment(env, state))
      return { shell: { ...shell, start: { ...shell.start, program } }, isInside: false, state, notes }
    }
    case 'proven':
      // Its relative paths were checked from there.
      if (folder !== way.folder)
        throw new Refusal(
          'The folder has changed since the command was permitted. Nothing was done; send it again.',
        )
      return { ...bash(shellArguments(way.command), provenEnv), notes }
    case 'inside': {
      const enclosed = await sandbox.enclose({
        program: 'bash',
        args: boundedArguments(command),
        cwd: folder,
        shown: way.shown,
      })
      if (enclosed.ok) return { shell: { command, start: enclosed.start }, isInside: true }
      throw new Refusal(
        `The sandbox cannot run it (${enclosed.why}). Nothing was done. Set outside_sandbox to true to have the user asked.`,
      )
    }
    case 'writing': {
      const enclosed = await sandbox.writing?.encloseCommand(command, { cwd: folder, shown: way.shown })
      if (enclosed?.ok !== true)
        throw new Refusal(
          `The sandbox cannot run it (${enclosed?.why ?? 'there is none'}). Nothing was done. Set outside_sandbox to true to have the user asked.`,
        )
      const onEnd = (end: ShellEnd): Promise<readonly string[]> =>
        enclosed.leave({ wasKilled: end.kind === 'killed' })
      return { shell: { command, start: enclosed.start, onEnd }, isInside: true, writes: command }
    }
    default:
      way satisfies never
      throw new Refusal('This command was not permitted for this call. Nothing was done.')
  }
}

/** A command in the sandbox may still run, and may have made files that a command outside would run. */
async function lookAround({ writing }: Sandbox): Promise<readonly string[]> {
  const { notes = [], problem } = (await writing?.lookAround()) ?? {}
  if (problem === undefined) return notes
  throw new Refusal(`Nothing was run: ${problem}. Send the command again to have the user asked.`)
}

/** Calls in parallel start with the same state, so a call that changed nothing must not overwrite what another one changed. */
function keepState(
  { command, before }: { readonly command: string; readonly before: ShellState },
  told: ToldState,
  { access, env }: Pick<BashOptions, 'access' | 'env'>,
): readonly string[] {
  if (told.variables === undefined)
    return wantsMore(command) || !isSameState(before, FRESH_SHELL)
      ? ['[The shell was replaced: its folder, exported variables and functions are as before the command.]']
      : []
  const after = stateAfter(told, env)
  if (after === undefined)
    return [
      '[The exported variables and functions are too much to keep: they are as before the command. `source` them in the call that needs them.]',
    ]
  if (!isSameState(before, after)) access.keepShell(after)
  return []
}

/** A command that set nothing lost nothing. */
function wantsMore(command: string): boolean {
  return /\b(export|source|declare|unset)\b|\(\)|^[ \t]*\. /m.test(command)
}

type StopReason = 'timeout' | 'abort' | undefined

function stopWhen(
  shell: RunningShell,
  timeoutMs: number,
  signal: AbortSignal,
): { readonly reason: () => StopReason; readonly release: () => void } {
  let reason: StopReason
  const stop = (why: StopReason) => (): void => {
    reason ??= why
    shell.kill()
  }
  const onAbort = stop('abort')
  const timer = setTimeout(stop('timeout'), timeoutMs)
  if (signal.aborted) onAbort()
  else signal.addEventListener('abort', onAbort, { once: true })
  return {
    reason: () => reason,
    release: () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
    },
  }
}

function endNotes(end: ShellEnd, reason: StopReason, timeoutMs: number): string[] {
  if (reason === 'timeout')
    return [
      `[The command was ended after ${timeoutMs} ms. Give a longer timeout, or run it in the background.]`,
    ]
  if (reason === 'abort') return ['[The command was interrupted.]']
  return [...endText(end)]
}

/** Empty for success. */
export function endText(end: ShellEnd): readonly string[] {
  switch (end.kind) {
    case 'exited':
      return end.code === 0 ? [] : [`[exit code ${end.code}]`]
    case 'killed':
      return [`[ended by ${end.signal}]`]
    case 'not-started':
      return [`[The shell could not be started: ${end.message}. Is bash installed?]`]
    default:
      end satisfies never
      return []
  }
}

/** The shell's folder may have been removed since. */
async function existingFolder(access: Access): Promise<string> {
  const folder = await realpath(access.shellFolder()).catch(() => undefined)
  if (folder !== undefined && isWorkPath(access, folder)) return folder
  access.moveShell(access.cwd)
  return access.cwd
}

async function followFolder(
  access: Access,
  before: string,
  sent: string | undefined,
): Promise<readonly string[]> {
  if (sent === undefined || sent === before) return []
  const folder = await realpath(sent).catch(() => undefined)
  if (folder !== undefined && isWorkPath(access, folder)) {
    access.moveShell(folder)
    return [`[The folder is now ${folder}.]`]
  }
  access.moveShell(access.cwd)
  return [`[${sent} is outside of the working folders. The next command starts in ${access.cwd}.]`]
}
