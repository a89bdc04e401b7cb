import { basename } from 'node:path'

import type { Json, JsonObject } from 'palimpsest/wire'

import type { PermissionMode } from '../permissions/permission-mode.ts'
import { withVariables, type ChildEnvironment } from '../process/child-environment.ts'
import { answerOf, type HookAnswer } from './hook-answer.ts'
import { readHooks, type CommandHook, type HookEvent } from './read-hooks.ts'
import { runHook } from './run-hook.ts'

// The hooks of one conversation. All that match an event run in parallel, each command once. None of them can stop a turn, and an objection
// counts only if the event asks for objections.

export interface HookSetup {
  readonly hooks: { readonly [event: string]: readonly Json[] }
  /** Without our keys. */
  readonly env: ChildEnvironment
  readonly cwd: string
  readonly projectFolder: string
  readonly sessionId: string
  readonly transcriptPath: string
  readonly mode: () => PermissionMode
}

export interface Hooks {
  /** For the user: what in the settings is skipped. */
  readonly notices: readonly string[]
  readonly has: (event: HookEvent) => boolean
  /** `value` is what matchers compare. Never rejects. */
  readonly run: (call: HookCall, signal: AbortSignal) => Promise<readonly HookAnswer[]>
  /** Starts them without waiting. */
  readonly tell: (call: HookCall) => void
  /** Gives hooks that nobody waits for a moment to end, then ends them. */
  readonly close: () => Promise<void>
}

export interface HookCall {
  readonly event: HookEvent
  readonly value: string
  /** Members of this event, in addition to those that every event has. */
  readonly input: JsonObject
}

/** The names that existing scripts know. */
const MODE_NAMES: { readonly [mode in PermissionMode]: string } = {
  default: 'default',
  'accept-edits': 'acceptEdits',
  plan: 'plan',
  bypass: 'bypassPermissions',
}
const CLOSE_MS = 1_500
/** Commands that nobody waits for and that run at the same time. */
const TOLD_MAX = 8

export function createHooks(setup: HookSetup): Hooks {
  const { groups, notices } = readHooks(setup.hooks)
  const done = new Set<string>()
  const told = createQueue(TOLD_MAX)
  const end = new AbortController()
  const env = withVariables(setup.env, {
    CLAUDE_PROJECT_DIR: setup.projectFolder,
    CLAUDE_CODE_SESSION_ID: setup.sessionId,
  })
  const start = async (hook: CommandHook, call: HookCall, signal: AbortSignal): Promise<HookAnswer> =>
    answerOf(nameOf(hook), await runHook(hook, inputOf(call, setup), { cwd: setup.cwd, env }, signal))
  const due = ({ event, value }: HookCall): readonly CommandHook[] => {
    const matching = (groups.get(event) ?? []).filter(({ matches }) => matches(value))
    const unique = new Map(matching.flatMap(({ hooks }) => hooks.map((hook) => [keyOf(hook), hook] as const)))
    const hooks = [...unique].filter(([key, { once }]) => !once || !done.has(`${event} ${key}`))
    for (const [key] of hooks) done.add(`${event} ${key}`)
    return hooks.map(([, hook]) => hook)
  }
  const background = (hook: CommandHook, call: HookCall): void =>
    told.add(async () => void (await start(hook, call, end.signal)))
  return {
    notices,
    has: (event) => groups.has(event),
    run: async (call, signal) => {
      const hooks = due(call)
      for (const hook of hooks) if (hook.isAsync) background(hook, call)
      return await Promise.all(
        hooks.filter(({ isAsync }) => !isAsync).map(async (hook) => await start(hook, call, signal)),
      )
    },
    tell: (call) => {
      for (const hook of due(call)) background(hook, call)
    },
    close: async () => {
      const timer = setTimeout(() => end.abort(), CLOSE_MS)
      await told.idle()
      clearTimeout(timer)
    },
  }
}

function inputOf({ event, input }: HookCall, setup: HookSetup): string {
  const { sessionId, transcriptPath, cwd, mode } = setup
  const common = {
    session_id: sessionId,
    transcript_path: transcriptPath,
    cwd,
    permission_mode: MODE_NAMES[mode()],
    hook_event_name: event,
  }
  return `${JSON.stringify({ ...common, ...input })}\n`
}

function keyOf({ command, args }: CommandHook): string {
  return JSON.stringify([command, args])
}

const NAME_CHARS_MAX = 60

/** For the user: the program, not the whole line. */
function nameOf({ command }: CommandHook): string {
  const [first = ''] = command.trim().split(/\s+/)
  return `"${basename(first).slice(0, NAME_CHARS_MAX)}"`
}

function createQueue(atOnce: number): {
  readonly add: (work: () => Promise<void>) => void
  readonly idle: () => Promise<void>
} {
  const waiting: (() => Promise<void>)[] = []
  const running = new Set<Promise<void>>()
  const next = (): void => {
    for (let work = waiting[0]; work && running.size < atOnce; work = waiting[0]) {
      waiting.shift()
      const one = work().finally(() => {
        running.delete(one)
        next()
      })
      running.add(one)
    }
  }
  return {
    add: (work) => {
      waiting.push(work)
      next()
    },
    idle: async () => {
      while (running.size > 0) await Promise.all(running)
    },
  }
}
