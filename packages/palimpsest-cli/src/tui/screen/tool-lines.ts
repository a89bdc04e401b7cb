import type { ToolOutput } from 'palimpsest/loop'
import type { MessageEntry } from 'palimpsest/transcript'
import { isBlock, isJsonObject, toBlocks, type JsonObject } from 'palimpsest/wire'

import { toPrintable } from '../../agent/printable.ts'
import type { EndedWork } from '../host/work-watch.ts'
import { countChanges, diffLines } from '../text/diff-lines.ts'
import { outputLines } from '../text/output-lines.ts'
import { line, span, wrapLine, type Style, type StyledLine } from '../text/styled-line.ts'
import { cutToWidth, textWidth } from '../text/text-width.ts'

// A tool call in one line: what was called on what, and how much came back. The transcript has all of it.

/** The input field that says what a call is about. */
const SUBJECTS = [
  'file_path',
  'command',
  'pattern',
  'url',
  'query',
  'path',
  'question',
  'shell_id',
  'id',
  'subject',
  'description',
  'task_id',
]
const SUBJECT_CHARS_MAX = 200
const DIFF_LINES_MAX = 16
/** A prompt must leave room for its question on 24 rows. */
const PROMPT_DIFF_LINES_MAX = 10

export function toolLabel(name: string, input: JsonObject): string {
  if (name === 'TodoWrite') return 'To-do list:'
  if (name === 'ExitPlanMode') return 'Plan:'
  const subject = SUBJECTS.map((member) => input[member]).find((value) => typeof value === 'string')
  const text = typeof subject === 'string' ? plainPattern(subject, name) : ''
  const [first = ''] = text.split('\n')
  const cut = first.length > SUBJECT_CHARS_MAX || first.length < text.length
  return toPrintable(`${name}(${first.slice(0, SUBJECT_CHARS_MAX)}${cut ? '…' : ''})`)
}

/**
 * Shows a search pattern as plain words if it lists them, as the patterns of the offline model do: users should not have to read its
 * syntax.
 */
function plainPattern(text: string, name: string): string {
  if (name !== 'Grep') return text
  const words = [...text.matchAll(/\(\?i:([^()]*)\)/g)].flatMap(([, found = '']) => found.split('|'))
  const plain = words.map((word) => word.replaceAll('\\W+', ' ').replaceAll(/\[\w+\]/g, '…'))
  return plain.length === 0 ? text : [...new Set(plain)].join(', ')
}

export interface EndedCall {
  readonly name: string
  readonly input: JsonObject
  readonly toolUseId: string
  readonly entry: MessageEntry
  readonly denied?: string | undefined
  /** How the call went; undefined if nothing watched it. */
  readonly work?: EndedWork | undefined
  /** How to see all of it. */
  readonly toAll: string
}

export function toolLines(call: EndedCall, columns: number): readonly StyledLine[] {
  const { name, input, entry, denied, work } = call
  const result = work ? toResult(work.output) : resultOf(entry, call.toolUseId)
  if (denied !== undefined) return failedLines(toolLabel(name, input), [deniedText(denied)], columns)
  if (name === 'Bash') return callLines(input, { result, work, toAll: call.toAll }, columns)
  const took = tookText(work, SLOW_MS)
  if (result.isError) return failedLines(toolLabel(name, input), [firstLine(result.text), ...took], columns)
  const { note, below } = shownResult(call, result, columns)
  return [headLine(toolLabel(name, input), [note, ...took], false, columns), ...below]
}

/** The result of the call: a few words after its name, and lines below it. */
function shownResult(
  { name, input }: EndedCall,
  result: ToolResult,
  columns: number,
): { readonly note: string; readonly below: readonly StyledLine[] } {
  if (name === 'TodoWrite') return todoLines(input, columns)
  if (name === 'AskUser')
    return { note: '', below: wrapLine([span('    → '), span(toPrintable(result.text), 'bold')], columns) }
  if (name === 'ExitPlanMode') return { note: firstLine(result.text), below: [] }
  const changes = changeLines(name, input, DIFF_LINES_MAX, columns)
  const note = changedText(name, input) ?? sizeText(result)
  return { note, below: changes }
}

/** The reason of a failure comes after the name if there is room, otherwise below it: the user must be able to read it. */
function failedLines(name: string, notes: readonly string[], columns: number): readonly StyledLine[] {
  const note = notes.filter((part) => part !== '').join(' · ')
  if (textWidth(name) + textWidth(note) + 4 <= columns) return [headLine(name, [note], true, columns)]
  const below = wrapLine([span('    '), span(note, 'error')], columns, line('    '))
  const shown = below.slice(0, REASON_LINES_MAX)
  return [
    headLine(name, [], true, columns),
    ...shown,
    ...(below.length > shown.length ? [line('    …', 'error')] : []),
  ]
}

const REASON_LINES_MAX = 4

function headLine(name: string, notes: readonly string[], isFailed: boolean, columns: number): StyledLine {
  const note = notes.filter((part) => part !== '').join(' · ')
  const label = cutToWidth(name, Math.max(20, Math.floor(columns * 0.7)))
  const room = Math.max(0, columns - textWidth(label) - 4)
  return [
    span(isFailed ? '✗ ' : '● ', isFailed ? 'error' : 'accent'),
    span(label, 'bold'),
    ...(note === '' ? [] : [span(` ${cutToWidth(note, room)}`, isFailed ? 'error' : 'dim')]),
  ]
}

/** The user's own words matter more than the refusal itself; if no one was asked, the reason does. */
function deniedText(reason: string): string {
  const [, words] =
    /The user says: ([^]*)$/.exec(reason) ?? /^\w+ is not permitted: ([^]*)$/.exec(reason) ?? []
  return words === undefined ? 'not permitted' : `not permitted: ${firstLine(words)}`
}

const EXIT = /^\[exit code (\d+)\]$/m
/** The text for the model names tools; the user gets a command instead. */
const STARTED = /^Started in the background as (\w+)\./
const startedText = (shell: string): string => `in the background as ${shell}; /tasks shows it`
const PRINTED_NOTHING = '(The command printed nothing.)'

/** A command that was run: the beginning and end of its output, its exit code and its time. */
export function shellLines(
  input: JsonObject,
  work: EndedWork,
  columns: number,
  toAll: string,
): readonly StyledLine[] {
  return callLines(input, { result: toResult(work.output), work, toAll }, columns)
}

interface EndedCommand extends Pick<EndedCall, 'work' | 'toAll'> {
  readonly result: ToolResult
}

function callLines(
  input: JsonObject,
  { result, work, toAll }: EndedCommand,
  columns: number,
): readonly StyledLine[] {
  const [, code] = EXIT.exec(result.text) ?? []
  const text = result.text.replace(EXIT, '')
  // A command that could not start, or that runs in the background, has no exit code.
  const hasEnded = code !== undefined || (!result.isError && input['run_in_background'] !== true)
  const [, shell] = STARTED.exec(text) ?? []
  const printed = text === PRINTED_NOTHING ? '' : shell === undefined ? text : startedText(shell)
  const notes = [...(hasEnded ? [`exit code ${code ?? 0}`] : []), ...tookText(work, 0)]
  return [
    headLine(toolLabel('Bash', input), notes, result.isError, columns),
    ...outputLines(printed, columns, toAll),
  ]
}

/** Other calls are quick; a slow one shows its time. */
const SLOW_MS = 2_000
const MINUTE_MS = 60_000

function tookText(work: EndedWork | undefined, fromMs: number): readonly string[] {
  if (!work || work.tookMs < fromMs) return []
  const { tookMs } = work
  if (tookMs < MINUTE_MS) return [`${(tookMs / 1000).toFixed(1)} s`]
  return [`${Math.floor(tookMs / MINUTE_MS)} min ${Math.round((tookMs % MINUTE_MS) / 1000)} s`]
}

const BOXES: { readonly [status: string]: { readonly box: string; readonly style: Style } } = {
  completed: { box: '☑', style: 'dim' },
  in_progress: { box: '▸', style: 'bold' },
  pending: { box: '☐', style: 'plain' },
}

function todoLines(input: JsonObject, columns: number): ReturnType<typeof shownResult> {
  const todos = Array.isArray(input['todos']) ? input['todos'].filter(isJsonObject) : []
  const done = todos.filter(({ status }) => status === 'completed').length
  const below = todos.flatMap(({ content, status }) => {
    const { box, style } = BOXES[typeof status === 'string' ? status : ''] ?? { box: '☐', style: 'plain' }
    const text = typeof content === 'string' ? toPrintable(content) : ''
    return wrapLine([span(`    ${box} `, style), span(text, style)], columns, line('      '))
  })
  return { note: `${done} of ${todos.length} done`, below }
}

/** What a call would change, for the user who is asked. */
export function proposalLines(name: string, input: JsonObject, columns: number): readonly StyledLine[] {
  const changes = changeLines(name, input, PROMPT_DIFF_LINES_MAX, columns)
  if (changes.length > 0) return changes
  const command = input['command']
  if (typeof command !== 'string') return []
  // Wrapped, not cut: no one should approve what they cannot see.
  const lines = toPrintable(command)
    .split('\n')
    .flatMap((text) => wrapLine([span(`    ${text}`)], columns, line('      ')))
  const shown = lines.slice(0, PROMPT_DIFF_LINES_MAX)
  const hidden = lines.length - shown.length
  return hidden > 0 ? [...shown, line(`    … ${hidden} more lines`, 'dim')] : shown
}

function changeLines(name: string, input: JsonObject, most: number, columns: number): readonly StyledLine[] {
  const change = changeOf(name, input)
  return change ? diffLines(change.before, change.after, most, columns) : []
}

function changedText(name: string, input: JsonObject): string | undefined {
  const change = changeOf(name, input)
  if (!change) return undefined
  const { added, removed } = countChanges(change.before, change.after)
  return `+${added} −${removed}`
}

function changeOf(name: string, input: JsonObject): { before: string; after: string } | undefined {
  const text = (member: string): string => {
    const value = input[member]
    return typeof value === 'string' ? value : ''
  }
  if (name === 'Edit') return { before: text('old_string'), after: text('new_string') }
  return name === 'Write' ? { before: '', after: text('content') } : undefined
}

interface ToolResult {
  readonly text: string
  readonly images: number
  readonly isError: boolean
}

function resultOf({ message }: MessageEntry, toolUseId: string): ToolResult {
  const result = toBlocks(message.content).find(
    (block) => isBlock(block, 'tool_result') && block.tool_use_id === toolUseId,
  )
  if (!result || !isBlock(result, 'tool_result')) return { text: '', images: 0, isError: false }
  return toResult({ content: toBlocks(result.content), isError: result.is_error === true })
}

function toResult({ content, isError = false }: ToolOutput): ToolResult {
  const blocks = toBlocks(content)
  return {
    text: blocks.flatMap((block) => (isBlock(block, 'text') ? [block.text] : [])).join('\n'),
    images: blocks.filter(({ type }) => type === 'image').length,
    isError,
  }
}

function sizeText({ text, images }: ToolResult): string {
  if (images > 0) return images === 1 ? 'an image' : `${images} images`
  if (text === '') return 'nothing'
  const lines = text.replace(/\n$/, '').split('\n').length
  return `${lines === 1 ? '1 line' : `${lines} lines`}, ${sizeOf(text)}`
}

const KB = 1024

function sizeOf(text: string): string {
  const bytes = Buffer.byteLength(text)
  return bytes < KB ? `${bytes} B` : `${(bytes / KB).toFixed(1)} KB`
}

function firstLine(text: string): string {
  return toPrintable(text.trim().split('\n')[0] ?? '')
}
