import { isJsonObject, type Json, type JsonObject } from '../wire/json.ts'
import type { ToolUseBlock } from '../wire/message.ts'
import type { TodoFact } from './facts.ts'
import { isOf } from './tool-natures.ts'
import { joinPath, shellReads, type FileChange } from './shell-changes.ts'

// What a tool call is about, by the names and members that common agents use.

export interface ReadCall {
  readonly tool: string
  readonly family: 'read' | 'change' | 'shell' | 'other'
  /** File, command or first argument: what distinguishes this call from others of its tool. */
  readonly target: string
  readonly reads: readonly string[]
  /** For file tools only: what a command changes depends on how it ends. */
  readonly changes: readonly FileChange[]
  readonly command?: string
  /** Where relative paths of the command start. */
  readonly folder?: string
  /** The list that replaces the previous one. */
  readonly todos?: readonly TodoFact[]
  readonly task?: TaskChange
  readonly background?: BackgroundCall
}

export interface TaskChange {
  /** Undefined for a new task: its result contains the id. */
  readonly id?: string
  readonly text?: string
  readonly state?: TodoFact['state'] | 'deleted'
}

export type BackgroundCall =
  | { readonly kind: 'start'; readonly text: string }
  | { readonly kind: 'look'; readonly id: string }
  | { readonly kind: 'stop'; readonly id: string }

const LIST_TOOLS: { readonly [name: string]: string } = {
  todowrite: 'todos',
  todo_write: 'todos',
  write_todos: 'todos',
  update_plan: 'plan',
}
const PATH_MEMBERS = ['file_path', 'filePath', 'path', 'notebook_path', 'filename']
const NEW_TEXT_MEMBERS = ['new_string', 'newString', 'newText', 'new_str', 'content', 'file_text']
const OLD_TEXT_MEMBERS = ['old_string', 'oldString', 'oldText', 'old_str']
/** Most characters of the code that a call puts into a file. */
const CODE_CHARS_MAX = 700
const COMMAND_MEMBERS = ['command', 'cmd', 'script']
const FOLDER_MEMBERS = ['workdir', 'cwd']
const ID_MEMBERS = ['bash_id', 'shell_id', 'task_id', 'taskId', 'agent_id', 'agentId', 'session_id', 'id']
const TARGET_MEMBERS = [
  ...PATH_MEMBERS,
  ...COMMAND_MEMBERS,
  'pattern',
  'query',
  'url',
  'description',
  'prompt',
]

/** Tools of one family do the same kind of thing. */
export function familyOf(tool: string): ReadCall['family'] {
  if (isOf(tool, 'run')) return 'shell'
  if (isOf(tool, 'read')) return 'read'
  return isOf(tool, 'write', 'edit', 'notebook', 'patch') ? 'change' : 'other'
}

export function readCall({ name, input }: ToolUseBlock): ReadCall {
  const tool = name
  const given = isJsonObject(input) ? input : {}
  const lower = name.toLowerCase()
  const patched = patchChanges(input)
  const path = findText(given, PATH_MEMBERS)
  const plain = { tool, family: 'other', target: targetOf(given), reads: [], changes: patched } as const
  if (isOf(tool, 'run')) return readShell(tool, given, patched)
  if (path !== undefined && isOf(tool, 'read'))
    return { ...plain, family: 'read', target: path, reads: [tidyPath(path)] }
  if (path !== undefined && isOf(tool, 'write', 'edit', 'notebook'))
    return { ...plain, ...fileTool(tool, given, path) }
  if (patched.length > 0)
    return { ...plain, family: 'change', target: patched.map((one) => one.path).join(' ') }
  const list = LIST_TOOLS[lower]
  if (list !== undefined) return { ...plain, ...listOf(given[list]) }
  return { ...plain, ...taskOf(lower, given), ...backgroundOf(lower, given) }
}

/** Editors with several functions name the function in `command`. */
function fileTool(
  tool: string,
  given: JsonObject,
  path: string,
): Pick<ReadCall, 'family' | 'target' | 'reads' | 'changes'> {
  const verb = textOf(given['command'])
  const file = tidyPath(path)
  if (verb === 'view') return { family: 'read', target: path, reads: [file], changes: [] }
  const operation = verb === 'create' || isOf(tool, 'write') ? 'written' : 'edited'
  const code = findText(given, NEW_TEXT_MEMBERS)?.slice(0, CODE_CHARS_MAX)
  const replaced = findText(given, OLD_TEXT_MEMBERS)
  const change = {
    path: file,
    operation,
    ...(code !== undefined && { code }),
    ...(replaced !== undefined && { replaced }),
  } as const
  return { family: 'change', target: path, reads: [], changes: [change] }
}

function readShell(tool: string, given: JsonObject, patched: readonly FileChange[]): ReadCall {
  const command = commandOf(given)
  const folder = findText(given, FOLDER_MEMBERS)
  const isBackground = given['run_in_background'] === true || given['is_background'] === true
  return {
    tool,
    family: 'shell',
    target: command,
    reads: shellReads(command, folder),
    changes: patched,
    command,
    ...(folder !== undefined && { folder }),
    ...(isBackground && { background: { kind: 'start', text: command } }),
  }
}

function commandOf(given: JsonObject): string {
  for (const name of COMMAND_MEMBERS) {
    const value = given[name]
    if (typeof value === 'string') return value
    if (Array.isArray(value)) return argvText(value.filter((part) => typeof part === 'string'))
  }
  return ''
}

/** For `["bash", "-lc", "…"]`, the script. */
function argvText(argv: readonly string[]): string {
  const [, flag = '', script] = argv
  return /^-\w*c$/.test(flag) && script !== undefined ? script : argv.join(' ')
}

const PATCH_START = '*** Begin Patch'
const PATCH_FILE = /^\*\*\* (Add File|Update File|Delete File|Move to): (.+)$/gm
const PATCH_OPERATIONS: { readonly [verb: string]: FileChange['operation'] } = {
  'Add File': 'created',
  'Update File': 'edited',
  'Delete File': 'deleted',
  'Move to': 'moved',
}

function patchChanges(input: Json): readonly FileChange[] {
  return textsIn(input)
    .filter((text) => text.includes(PATCH_START))
    .flatMap((patch) => [...patch.matchAll(PATCH_FILE)])
    .flatMap(([, verb = '', path = '']) => {
      const operation = PATCH_OPERATIONS[verb]
      return operation ? [{ path: tidyPath(path.trim()), operation }] : []
    })
}

/** The texts in the first two levels of an input. */
function textsIn(input: Json): readonly string[] {
  if (typeof input === 'string') return [input]
  const members: readonly unknown[] = isJsonObject(input) ? Object.values(input) : [input]
  return members
    .flatMap((member): readonly unknown[] => (Array.isArray(member) ? member : [member]))
    .filter((text) => typeof text === 'string')
}

function listOf(list: Json | undefined): Pick<ReadCall, 'todos'> {
  if (!Array.isArray(list)) return {}
  const todos = list.filter(isJsonObject).flatMap((item): TodoFact[] => {
    const text = findText(item, ['content', 'step', 'text', 'title'])
    const state = stateOf(textOf(item['status']) ?? textOf(item['state']) ?? '')
    return text === undefined || state === 'deleted' ? [] : [{ text, state: state ?? 'open' }]
  })
  return { todos }
}

function taskOf(lower: string, given: JsonObject): Pick<ReadCall, 'task'> {
  const text = findText(given, ['subject', 'title', 'content'])
  if (lower === 'taskcreate') return text === undefined ? {} : { task: { text, state: 'open' } }
  if (lower !== 'taskupdate') return {}
  const id = findText(given, ['taskId', 'task_id', 'id'])
  const state = stateOf(textOf(given['status']) ?? '')
  if (id === undefined) return {}
  return { task: { id, ...(text !== undefined && { text }), ...(state !== undefined && { state }) } }
}

function stateOf(status: string): TaskChange['state'] | undefined {
  if (/^(?:completed|done|finished)$/i.test(status)) return 'done'
  if (/^(?:cancelled|canceled|deleted)$/i.test(status)) return 'deleted'
  if (/^(?:in_progress|in-progress|running|active)$/i.test(status)) return 'running'
  return status === '' ? undefined : 'open'
}

function backgroundOf(lower: string, given: JsonObject): Pick<ReadCall, 'background'> {
  if (isOf(lower, 'agent')) {
    const text = findText(given, ['description', 'prompt', 'message']) ?? 'agent'
    return given['run_in_background'] === true || lower === 'spawn_agent'
      ? { background: { kind: 'start', text } }
      : {}
  }
  const kind = isOf(lower, 'look', 'input') ? 'look' : isOf(lower, 'stop') ? 'stop' : undefined
  const id = kind && idOf(given)
  return kind && id !== undefined ? { background: { kind, id } } : {}
}

function idOf(given: JsonObject): string | undefined {
  const value = ID_MEMBERS.map((name) => given[name]).find(
    (one) => typeof one === 'string' || typeof one === 'number',
  )
  return value === undefined ? undefined : String(value)
}

function targetOf(given: JsonObject): string {
  return (
    findText(given, TARGET_MEMBERS) ?? Object.values(given).find((value) => typeof value === 'string') ?? ''
  )
}

function tidyPath(path: string): string {
  return joinPath(undefined, path)
}

function findText(given: JsonObject, members: readonly string[]): string | undefined {
  return members.map((name) => textOf(given[name])).find((text) => text !== undefined && text !== '')
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined
}
