import { isJsonObject, type JsonObject } from '../../../wire/json.ts'
import { isBlock, toBlocks, type ToolUseBlock, type WireMessage } from '../../../wire/message.ts'
import { patchedFiles, shellFiles } from './changed-files.ts'
import { readEarlierSummary, type EarlierSummary } from './earlier-summary.ts'
import type { FoundError, RunCommand, SessionFacts, Todo, TouchedFile } from './found-facts.ts'
import { toolKind } from './tool-kind.ts'

// What we can say about a conversation without understanding it: who said what, which files were touched, which commands ran and how
// they ended, what failed, what remains to be done.

export function sessionFacts(messages: readonly WireMessage[]): SessionFacts {
  const calls = callsOf(messages)
  const earlier = earlierOf(messages)
  const before = <T>(read: (summary: EarlierSummary) => readonly T[]): readonly T[] => earlier.flatMap(read)
  return {
    requests: [
      ...before(({ requests }) => requests),
      ...messages.filter(({ role }) => role === 'user').flatMap(wordsOf),
    ],
    files: filesOf(
      calls,
      before(({ files }) => files),
    ),
    commands: calls.filter(({ kind }) => kind === 'shell').map(toCommand),
    errors: [...before(({ errors }) => errors).map((error) => resolvedBy(calls, error)), ...errorsOf(calls)],
    todos: todosOf(
      calls,
      before(({ todos }) => todos),
    ),
    answers: [...before(({ answers }) => answers), ...answersOf(messages)],
  }
}

/** The newest summary of what came before; it includes what older ones said. */
function earlierOf(messages: readonly WireMessage[]): readonly EarlierSummary[] {
  return messages
    .filter(({ role }) => role === 'user')
    .flatMap(textsOf)
    .flatMap((text) => readEarlierSummary(text) ?? [])
    .slice(-1)
}

/** A failure in an earlier summary may have been fixed since. */
function resolvedBy(calls: readonly Call[], error: FoundError): FoundError {
  const isResolved = calls.some(
    (call) => call.result?.isError === false && describe(call).startsWith(error.during),
  )
  return { ...error, isResolved }
}

export interface Call {
  readonly kind: ReturnType<typeof toolKind>
  readonly name: string
  readonly input: JsonObject
  /** Undefined if the call has no known result. */
  readonly result?: { readonly text: string; readonly isError: boolean } | undefined
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
    result,
  }
}

/** Text in one pair of tags is context that the user did not type. */
const CONTEXT = /^<[\w-]+(?![\w-])[^>]*>[^]*<\/[\w-]+>$/

/** What programs put beside the user's words. */
const REMINDER = /<(system-reminder|task-notification|local-command-\w{1,40}|command-name|command-message)>/g
const NOTICE = /^\[Request interrupted by user[^\]]*\]$/

function wordsOf(message: WireMessage): readonly string[] {
  return textsOf(message)
    .map((text) => withoutReminders(text).trim())
    .filter((text) => text !== '' && !CONTEXT.test(text) && !NOTICE.test(text) && !readEarlierSummary(text))
}

/** An unclosed tag is text. Each such tag is searched only once. */
function withoutReminders(text: string): string {
  const unclosed = new Set<string>()
  let rest = ''
  let done = 0
  for (const { index, 1: tag = '' } of text.matchAll(REMINDER)) {
    if (index < done || unclosed.has(tag)) continue
    const close = `</${tag}>`
    const end = text.indexOf(close, index)
    if (end === -1) unclosed.add(tag)
    else {
      rest += text.slice(done, index)
      done = end + close.length
    }
  }
  return rest + text.slice(done)
}

function textsOf({ content }: WireMessage): readonly string[] {
  return toBlocks(content).flatMap((block) => (isBlock(block, 'text') ? [block.text] : []))
}

function textOf({ content }: Pick<WireMessage, 'content'>): string {
  return toBlocks(content)
    .flatMap((block) => (isBlock(block, 'text') ? [block.text] : []))
    .join('\n')
}

function filesOf(calls: readonly Call[], before: readonly TouchedFile[]): readonly TouchedFile[] {
  const files = new Map(before.map((file) => [file.path, file]))
  for (const call of calls) {
    if (!call.result || call.result.isError) continue
    for (const file of touchedBy(call)) {
      const had = files.get(file.path)
      // A changed file stays changed, however often it is read afterwards.
      if (file.operation === 'read' && had && had.operation !== 'read') continue
      files.delete(file.path)
      files.set(file.path, file)
    }
  }
  return [...files.values()]
}

function touchedBy({ kind, input }: Call): readonly TouchedFile[] {
  const patched = patchedFiles(input)
  if (patched.length > 0) return patched
  if (kind === 'shell') return shellFiles(commandText(input))
  const path = pathOf(input)
  if (path === undefined || (kind !== 'read' && kind !== 'edit' && kind !== 'write')) return []
  if (kind === 'read') return [{ path, operation: 'read' }]
  const snippet = firstText(input, ['new_string', 'newText', 'content', 'new_str', 'patch'])
  const operation = kind === 'edit' ? 'edited' : 'written'
  return [{ path, operation, snippet }]
}

function pathOf(input: JsonObject): string | undefined {
  return firstText(input, ['file_path', 'filePath', 'path', 'filename', 'notebook_path'])
}

function firstText(input: JsonObject, names: readonly string[]): string | undefined {
  return names.map((name) => input[name]).find((value) => typeof value === 'string')
}

/** At the start or end of a result; between them it may be a quote. */
const EXIT_CODE = /(?:^|\n)\W{0,2}(?:command |process )?exit(?:ed with)? (?:code|status):? (\d+)/i
const EXIT_CHARS = 400

function toCommand({ input, result }: Call): RunCommand {
  return { command: commandText(input), outcome: outcomeOf(result) }
}

function commandText(input: JsonObject): string {
  const argv = input['command']
  if (Array.isArray(argv)) return argv.filter((part) => typeof part === 'string').join(' ')
  return firstText(input, ['command', 'cmd', 'script']) ?? JSON.stringify(input)
}

function outcomeOf(result: Call['result']): string {
  if (!result) return 'no result'
  const [, code] =
    EXIT_CODE.exec(result.text.slice(0, EXIT_CHARS)) ?? EXIT_CODE.exec(result.text.slice(-EXIT_CHARS)) ?? []
  if (code !== undefined) return `exit ${code}`
  return result.isError ? 'failed' : 'exit 0'
}

const ERROR_LINE = /\b(?:error|exception|failed|failure|fatal|panic|cannot|not found|denied)\b/i
/** What programs print when they fail, whatever their exit code. */
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

function todosOf(calls: readonly Call[], before: readonly Todo[]): readonly Todo[] {
  const written = calls.findLast(({ kind }) => kind === 'todo')
  const list: unknown = written?.input['todos'] ?? written?.input['plan']
  const items = Array.isArray(list) ? list.filter(isJsonObject) : undefined
  const todos = items?.flatMap((item): readonly Todo[] => {
    const text = firstText(item, ['content', 'text', 'step', 'title'])
    const status = firstText(item, ['status', 'state']) ?? 'pending'
    return text === undefined ? [] : [{ text, status }]
  })
  const tasks = tasksOf(calls)
  const named = new Set(tasks.map(({ text }) => text))
  return [...(todos ?? before.filter(({ text }) => !named.has(text))), ...tasks]
}

/** Items that are created one by one and have a number. */
function tasksOf(calls: readonly Call[]): readonly Todo[] {
  const tasks = new Map<string, Todo>()
  for (const { name, input, result } of calls) {
    const id = firstText(input, ['taskId', 'task_id']) ?? /#(\d+)/.exec(result?.text ?? '')?.[1]
    const text = firstText(input, ['subject', 'title'])
    if (id === undefined || result?.isError) continue
    if (/^task_?create$/i.test(name) && text !== undefined) tasks.set(id, { text, status: 'pending' })
    const had = tasks.get(id)
    const status = firstText(input, ['status'])
    if (/^task_?update$/i.test(name) && had && status !== undefined) tasks.set(id, { ...had, status })
  }
  return [...tasks.values()]
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
