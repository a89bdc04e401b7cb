import { isJsonObject, type JsonObject } from '../../../wire/json.ts'
import { isBlock, toBlocks, type ToolUseBlock, type WireMessage } from '../../../wire/message.ts'
import { toolKind } from './tool-kind.ts'

// What can be told of a conversation without understanding it: who said what, which files were touched, which commands ran and how
// they ended, what failed, what is still to be done.

export interface SessionFacts {
  /** The user's words, in order. */
  readonly requests: readonly string[]
  /** By path, with the last thing done to each. */
  readonly files: readonly TouchedFile[]
  readonly commands: readonly RunCommand[]
  readonly errors: readonly FoundError[]
  /** The newest list. */
  readonly todos: readonly Todo[]
  /** The last words of each turn. */
  readonly answers: readonly string[]
}

export interface TouchedFile {
  readonly path: string
  readonly operation: 'read' | 'edited' | 'written'
  /** Code of the last change. */
  readonly snippet?: string
}

export interface RunCommand {
  readonly command: string
  /** `exit 0`, `exit 1`, `failed`, `no result`. */
  readonly outcome: string
}

export interface FoundError {
  readonly text: string
  /** What was being done. */
  readonly during: string
  /** The same thing went well later. */
  readonly isResolved: boolean
}

export interface Todo {
  readonly text: string
  readonly status: string
}

export function sessionFacts(messages: readonly WireMessage[]): SessionFacts {
  const calls = callsOf(messages)
  return {
    requests: messages.filter(({ role }) => role === 'user').flatMap(wordsOf),
    files: filesOf(calls),
    commands: calls.filter(({ kind }) => kind === 'shell').map(toCommand),
    errors: errorsOf(calls),
    todos: todosOf(calls),
    answers: answersOf(messages),
  }
}

export interface Call {
  readonly kind: ReturnType<typeof toolKind>
  readonly name: string
  readonly input: JsonObject
  /** Undefined where no answer is known. */
  readonly result?: { readonly text: string; readonly isError: boolean }
}

function callsOf(messages: readonly WireMessage[]): readonly Call[] {
  const blocks = messages.flatMap(({ content }) => toBlocks(content))
  const results = new Map(
    blocks.flatMap((block) =>
      isBlock(block, 'tool_result')
        ? [[block.tool_use_id, { text: textOf(block), isError: block.is_error === true }] as const]
        : [],
    ),
  )
  return blocks.flatMap((block) => (isBlock(block, 'tool_use') ? [toCall(block, results.get(block.id))] : []))
}

function toCall({ name, input }: ToolUseBlock, result: Call['result']): Call {
  return {
    kind: toolKind(name),
    name,
    input: isJsonObject(input) ? input : {},
    ...(result ? { result } : {}),
  }
}

/** Text in one pair of tags is context that nobody typed. */
const CONTEXT = /^<([\w-]+)[^>]*>[^]*<\/[\w-]+>$/

function wordsOf(message: WireMessage): readonly string[] {
  return toBlocks(message.content).flatMap((block) => {
    const text = isBlock(block, 'text') ? block.text.trim() : ''
    return text === '' || CONTEXT.test(text) ? [] : [text]
  })
}

function textOf({ content }: Pick<WireMessage, 'content'>): string {
  return toBlocks(content)
    .flatMap((block) => (isBlock(block, 'text') ? [block.text] : []))
    .join('\n')
}

function filesOf(calls: readonly Call[]): readonly TouchedFile[] {
  const files = new Map<string, TouchedFile>()
  for (const { kind, input, result } of calls) {
    const path = pathOf(input)
    if (path === undefined || result?.isError) continue
    if (kind !== 'read' && kind !== 'edit' && kind !== 'write') continue
    const had = files.get(path)
    // A file that was changed stays changed, however often it is read afterwards.
    if (kind === 'read' && had && had.operation !== 'read') continue
    const snippet = firstText(input, ['new_string', 'content', 'new_str', 'patch'])
    files.delete(path)
    files.set(path, {
      path,
      operation: kind === 'read' ? 'read' : kind === 'edit' ? 'edited' : 'written',
      ...(snippet === undefined || kind === 'read' ? {} : { snippet }),
    })
  }
  return [...files.values()]
}

function pathOf(input: JsonObject): string | undefined {
  return firstText(input, ['file_path', 'path', 'filename', 'notebook_path'])
}

function firstText(input: JsonObject, names: readonly string[]): string | undefined {
  return names.map((name) => input[name]).find((value) => typeof value === 'string')
}

const EXIT_CODE = /\bexit(?:ed with)? (?:code|status):? (\d+)/i

function toCommand({ input, result }: Call): RunCommand {
  const command = firstText(input, ['command', 'cmd', 'script']) ?? JSON.stringify(input)
  return { command, outcome: outcomeOf(result) }
}

function outcomeOf(result: Call['result']): string {
  if (!result) return 'no result'
  const [, code] = EXIT_CODE.exec(result.text) ?? []
  if (code !== undefined) return `exit ${code}`
  return result.isError ? 'failed' : 'exit 0'
}

const ERROR_LINE = /\b(?:error|exception|failed|failure|fatal|panic|cannot|not found|denied)\b/i
/** What programs print when they fail, whatever their exit code says. */
const SHOWN_ERROR = /^(?:\w*Error|fatal|FAIL(?:ED)?|panic)\b:?/m
const ERROR_CHARS_MAX = 300

function errorsOf(calls: readonly Call[]): readonly FoundError[] {
  return calls.flatMap((call, i) => {
    if (!call.result || !(call.result.isError || SHOWN_ERROR.test(call.result.text))) return []
    const lines = call.result.text.split('\n').filter((line) => line.trim() !== '')
    const telling =
      lines.find((line) => SHOWN_ERROR.test(line)) ?? lines.find((line) => ERROR_LINE.test(line))
    const text = (telling ?? lines[0] ?? '').trim().slice(0, ERROR_CHARS_MAX)
    const during = describe(call)
    const isResolved = calls
      .slice(i + 1)
      .some((later) => later.result?.isError === false && describe(later) === during)
    return text === '' ? [] : [{ text, during, isResolved }]
  })
}

const DURING_CHARS_MAX = 120

export function describe({ name, input }: Call): string {
  const main =
    firstText(input, ['command', 'file_path', 'path', 'pattern', 'url', 'query']) ?? JSON.stringify(input)
  return `${name} ${main}`.slice(0, DURING_CHARS_MAX)
}

function todosOf(calls: readonly Call[]): readonly Todo[] {
  const list: unknown = calls.findLast(({ kind }) => kind === 'todo')?.input['todos']
  if (!Array.isArray(list)) return []
  return list.filter(isJsonObject).flatMap((item) => {
    const text = firstText(item, ['content', 'text', 'step', 'title'])
    const status = firstText(item, ['status', 'state']) ?? 'pending'
    return text === undefined ? [] : [{ text, status }]
  })
}

/** A turn ends with the last answer before the user speaks again. */
function answersOf(messages: readonly WireMessage[]): readonly string[] {
  const answers: string[] = []
  let last = ''
  for (const message of messages) {
    if (message.role === 'assistant') last = textOf(message).trim() || last
    else if (message.role === 'user' && wordsOf(message).length > 0 && last !== '') {
      answers.push(last)
      last = ''
    }
  }
  return last === '' ? answers : [...answers, last]
}
