import { findSimilarName } from '../similar-name.ts'
import { isJsonObject, type Json, type JsonObject } from 'palimpsest/wire'

import { matchRegularPattern, parseRegularPattern } from '../patterns/regular-pattern.ts'

// Hooks as in the settings, in the form that existing agents read:
// `{"PreCompact": [{"matcher": "auto", "hooks": [{"type": "command", "command": "…", "timeout": 10}]}]}`.
// What cannot be read is skipped, with one note; the rest stays.

export interface CommandHook {
  readonly command: string
  /** Arguments, if the command is a program. Absent: the command is a line for the shell. */
  readonly args?: readonly string[] | undefined
  readonly timeoutMs: number
  /** Nobody waits for it or reads what it prints. */
  readonly isAsync: boolean
  /** Only at its first event. */
  readonly once: boolean
}

export interface HookGroup {
  readonly matches: (value: string) => boolean
  readonly hooks: readonly CommandHook[]
}

export interface ReadHooks {
  readonly groups: ReadonlyMap<string, readonly HookGroup[]>
  /** For the user: what was skipped, and why. */
  readonly notices: readonly string[]
}

/** Events whose hooks run. */
export const HOOK_EVENTS = [
  'PreCompact',
  'PostCompact',
  'SessionStart',
  'InstructionsLoaded',
  'SubagentStart',
  'SubagentStop',
  'TaskCreated',
  'TaskCompleted',
  'TeammateIdle',
] as const
export type HookEvent = (typeof HOOK_EVENTS)[number]

/** Events of other agents. A user who sets a hook for one relies on it, so a note says that it does not run. */
const OTHER_EVENTS =
  'Setup PreToolUse PostToolUse PostToolUseFailure UserPromptSubmit UserPromptExpansion Stop StopFailure SessionEnd Notification PermissionRequest PermissionDenied ConfigChange CwdChanged FileChanged WorktreeCreate WorktreeRemove Elicitation ElicitationResult'.split(
    ' ',
  )

const TIMEOUT_S_DEFAULT = 600
/** Longest timeout, well below what a timer can hold. */
const TIMEOUT_S_MAX = 86_400

export function readHooks(settings: { readonly [event: string]: readonly Json[] }): ReadHooks {
  const notices = new Set<string>()
  const groups = new Map<string, readonly HookGroup[]>()
  for (const event of HOOK_EVENTS) {
    const note = (text: string): void => void notices.add(`hooks.${event}: ${text}`)
    const read = (settings[event] ?? []).flatMap((group) => readGroup(group, note))
    if (read.length > 0) groups.set(event, read)
  }
  for (const event of Object.keys(settings)) {
    if (HOOK_EVENTS.some((known) => known === event)) continue
    const similar = findSimilarName(event, [...HOOK_EVENTS, ...OTHER_EVENTS])
    if (OTHER_EVENTS.includes(event))
      notices.add(`hooks.${event} is not built yet and does not run. Built: ${HOOK_EVENTS.join(', ')}`)
    else
      notices.add(
        `hooks.${event}: there is no such event${similar === undefined ? '' : `. Did you mean ${similar}?`}`,
      )
  }
  return { groups, notices: [...notices] }
}

function readGroup(group: Json, note: (text: string) => void): readonly HookGroup[] {
  if (!isJsonObject(group) || !Array.isArray(group['hooks'])) {
    note('a group must be {"matcher": "…", "hooks": [...]}; it is ignored')
    return []
  }
  const matches = toMatch(group['matcher'] ?? '', note)
  const hooks = group['hooks'].flatMap((hook: unknown) => readHook(hook, note))
  return matches && hooks.length > 0 ? [{ matches, hooks }] : []
}

function readHook(hook: unknown, note: (text: string) => void): readonly CommandHook[] {
  const type = isJsonObject(hook) ? hook['type'] : undefined
  if (!isJsonObject(hook) || typeof type !== 'string') {
    note('a hook must have a "type"; it is ignored')
    return []
  }
  if (type !== 'command') {
    note(`hooks of type "${type}" are not supported; only "command" is run`)
    return []
  }
  const { command, args } = hook
  if (typeof command !== 'string' || command.trim() === '') {
    note('a hook of type "command" needs a "command"; it is ignored')
    return []
  }
  return [
    {
      command,
      args: Array.isArray(args) ? args.map(String) : undefined,
      timeoutMs: timeoutOf(hook, note),
      isAsync: hook['async'] === true || hook['asyncRewake'] === true,
      once: hook['once'] === true,
    },
  ]
}

function timeoutOf({ timeout }: JsonObject, note: (text: string) => void): number {
  if (timeout === undefined) return TIMEOUT_S_DEFAULT * 1000
  if (typeof timeout === 'number' && timeout > 0) return Math.min(timeout, TIMEOUT_S_MAX) * 1000
  note(`"timeout" must be a number of seconds above 0; ${TIMEOUT_S_DEFAULT} is used`)
  return TIMEOUT_S_DEFAULT * 1000
}

/** An empty matcher or `*` matches everything; names separated by `|` match those names; anything else is a pattern. */
function toMatch(matcher: Json, note: (text: string) => void): HookGroup['matches'] | undefined {
  if (typeof matcher !== 'string') {
    note('"matcher" must be a string; the group is ignored')
    return undefined
  }
  if (matcher === '' || matcher === '*') return () => true
  if (/^[\w\s,|-]+$/.test(matcher)) {
    const names = new Set(matcher.split(/[|,]/).map((name) => name.trim()))
    return (value) => names.has(value)
  }
  const pattern = parseRegularPattern(matcher)
  if (pattern) return (value) => matchRegularPattern(pattern, value).matches
  note(`the matcher "${matcher}" is not a valid pattern; the group is ignored`)
  return undefined
}
