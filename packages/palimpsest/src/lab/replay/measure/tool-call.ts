import { isJsonObject } from '../../../wire/json.ts'
import type { ToolUseBlock } from '../../../wire/message.ts'
import { leaves } from './block-text.ts'

// What the recorded agents' tools do, judged by tool and member names. Reads only the call, never what a strategy made of it.

export type OperationKind = 'write' | 'edit' | 'delete' | 'move'

/** One change of one file, with the path as the call names it. */
export interface FileChange {
  readonly kind: OperationKind
  readonly path: string
}

const WRITE_TOOLS = new Set(['write', 'write_file', 'create_file'])
const EDIT_TOOLS = new Set([
  'edit',
  'multiedit',
  'notebookedit',
  'edit_file',
  'str_replace',
  'str_replace_editor',
])
const SHELL_TOOLS = new Set(['bash', 'shell', 'exec_command', 'local_shell', 'powershell', 'run_command'])

const PATH_MEMBERS = ['file_path', 'filePath', 'path', 'notebook_path', 'filename']
const COMMAND_MEMBERS = ['command', 'cmd']
const OLD_TEXT_MEMBERS = ['old_string', 'oldString', 'oldText', 'old_str']
const ARGUMENT_MEMBERS = [...PATH_MEMBERS, ...COMMAND_MEMBERS, 'pattern', 'query', 'url', 'prompt']

/** The argument that repeating the call would need: a path, a command, a pattern. Only its first line that is not blank. */
export function keyArgument(call: ToolUseBlock): string {
  const named = findText(call.input, ARGUMENT_MEMBERS) ?? leaves(call.input)[0] ?? ''
  return (
    named
      .split('\n')
      .find((line) => line.trim() !== '')
      ?.trim() ?? ''
  )
}

/** Tools whose results show the current state: files, and searches in them. */
const STATE_TOOLS = new Set([
  'read',
  'read_file',
  'view',
  'view_file',
  'grep',
  'glob',
  'search',
  'ls',
  'list',
  'list_dir',
])
/** Members for the reader, or about how the call runs: calls that differ only in these ask for the same thing. */
const BESIDE_MEMBERS = new Set(['description', 'timeout', 'timeout_ms', 'yield_time_ms', 'justification'])

export function isShellCall(call: ToolUseBlock): boolean {
  return SHELL_TOOLS.has(call.name.toLowerCase())
}

export function shellCommand(call: ToolUseBlock): string {
  return commandOf(call.input)
}

export function looksAtState(call: ToolUseBlock): boolean {
  return STATE_TOOLS.has(call.name.toLowerCase())
}

/** Calls with the same key ask for the same thing. */
export function sameCallKey(call: ToolUseBlock): string {
  const asked = isJsonObject(call.input)
    ? Object.entries(call.input).filter(([name]) => !BESIDE_MEMBERS.has(name))
    : [call.input]
  return `${call.name}\n${JSON.stringify(asked)}`
}

/** The lines that an edit expects to find: those of the old text, and a patch's context and removed lines. */
export function linesToEdit(call: ToolUseBlock): string[] {
  return [...oldTexts(call.input), ...patchTexts(call).map(oldSideOf)].flatMap((text) => text.split('\n'))
}

/** The texts that an edit expects to find, each in one piece: the old text, and the old side of each part of a patch. */
export function textsToEdit(call: ToolUseBlock): string[] {
  return [...oldTexts(call.input), ...patchTexts(call).flatMap(oldPieces)]
}

export function fileChanges(call: ToolUseBlock): FileChange[] {
  const name = call.name.toLowerCase()
  const path = findText(call.input, PATH_MEMBERS)
  if (WRITE_TOOLS.has(name)) return path === undefined ? [] : [{ kind: 'write', path }]
  if (EDIT_TOOLS.has(name)) return path === undefined ? [] : [{ kind: 'edit', path }]
  const patched = patchTexts(call).flatMap(patchChanges)
  return SHELL_TOOLS.has(name) ? [...patched, ...shellChanges(commandOf(call.input))] : patched
}

const PATCH_START = '*** Begin Patch'
const PATCH_FILE = /^\*\*\* (Add File|Update File|Delete File|Move to): (.+)$/gm

function patchTexts(call: ToolUseBlock): string[] {
  return leaves(call.input).filter((text) => text.includes(PATCH_START))
}

function patchChanges(patch: string): FileChange[] {
  const kinds: { readonly [verb: string]: OperationKind } = {
    'Add File': 'write',
    'Update File': 'edit',
    'Delete File': 'delete',
    'Move to': 'move',
  }
  return [...patch.matchAll(PATCH_FILE)].flatMap(([, verb, path]) => {
    const kind = kinds[verb ?? '']
    return kind && path ? [{ kind, path: path.trim() }] : []
  })
}

function oldSideOf(patch: string): string {
  return patch
    .split('\n')
    .filter((line) => /^[ -]/.test(line) && !line.startsWith('---'))
    .map((line) => line.slice(1))
    .join('\n')
}

/** Between its parts a patch names places (`@@`) and files (`***`). */
function oldPieces(patch: string): string[] {
  return patch
    .split(/^(?:@@.*|\*\*\* .*)$/m)
    .map((part) =>
      part
        .split('\n')
        // A blank line of context may have lost its leading space.
        .flatMap((line) => (line === '' ? [''] : /^[ -]/.test(line) ? [line.slice(1)] : []))
        .join('\n'),
    )
    .filter((piece) => piece.trim() !== '')
}

const PATH_WORD = '["\']?([\\w./~@+-]+)["\']?'
const SHELL_CHANGES: readonly { readonly kind: OperationKind; readonly pattern: RegExp }[] = [
  { kind: 'delete', pattern: new RegExp(`\\brm\\s+(?:-\\w+\\s+)*${PATH_WORD}`, 'g') },
  { kind: 'move', pattern: new RegExp(`\\bmv\\s+(?:-\\w+\\s+)*\\S+\\s+${PATH_WORD}`, 'g') },
  { kind: 'write', pattern: new RegExp(`\\bcp\\s+(?:-\\w+\\s+)*\\S+\\s+${PATH_WORD}`, 'g') },
  { kind: 'edit', pattern: new RegExp(`\\bsed\\s+-i\\S*\\s+(?:'[^']*'|"[^"]*")\\s+${PATH_WORD}`, 'g') },
  { kind: 'write', pattern: new RegExp(`(?:^|[^-=<>0-9&])>>?\\s*${PATH_WORD}`, 'g') },
  { kind: 'write', pattern: new RegExp(`\\btee\\s+(?:-a\\s+)?${PATH_WORD}`, 'g') },
]

/** Finds only the plain forms. A here-document's body is data, so only its first line is searched. */
function shellChanges(command: string): FileChange[] {
  const head = command.includes('<<') ? (command.split('\n')[0] ?? '') : command
  return SHELL_CHANGES.flatMap(({ kind, pattern }) =>
    [...head.matchAll(pattern)]
      .map(([, path]) => path ?? '')
      .filter((path) => /\.\w+$/.test(path) && !path.startsWith('/dev/'))
      .map((path) => ({ kind, path })),
  )
}

function commandOf(input: unknown): string {
  const named = findText(input, COMMAND_MEMBERS)
  if (named !== undefined) return named
  return leaves(input).join(' ')
}

function oldTexts(input: unknown): string[] {
  if (Array.isArray(input)) return input.flatMap(oldTexts)
  if (!isJsonObject(input)) return []
  return Object.entries(input).flatMap(([name, value]) =>
    typeof value === 'string' ? (OLD_TEXT_MEMBERS.includes(name) ? [value] : []) : oldTexts(value),
  )
}

function findText(input: unknown, members: readonly string[]): string | undefined {
  if (!isJsonObject(input)) return undefined
  for (const name of members) {
    const value = input[name]
    if (typeof value === 'string' && value !== '') return value
    if (Array.isArray(value) && value.every((part) => typeof part === 'string')) return value.join(' ')
  }
  return undefined
}
