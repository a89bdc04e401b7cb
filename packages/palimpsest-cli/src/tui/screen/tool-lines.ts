import type { MessageEntry } from 'palimpsest/transcript'
import { isBlock, toBlocks, type JsonObject } from 'palimpsest/wire'

import { toPrintable } from '../../agent/printable.ts'
import { diffLines } from '../text/diff-lines.ts'
import { line, span, wrapLine, type StyledLine } from '../text/styled-line.ts'
import { cutToWidth } from '../text/text-width.ts'

// A tool call in one line: what was called on what, and how much came back. The whole of it is in the transcript.

/** The member of the input that says what a call is about. */
const SUBJECTS = ['file_path', 'command', 'pattern', 'url', 'query', 'path', 'question', 'shell_id', 'id']
const SUBJECT_CHARS_MAX = 200
const DIFF_LINES_MAX = 16
/** A prompt must leave room for its question on 24 rows. */
const PROMPT_DIFF_LINES_MAX = 10

export function toolLabel(name: string, input: JsonObject): string {
  const subject = SUBJECTS.map((member) => input[member]).find((value) => typeof value === 'string')
  const text = typeof subject === 'string' ? subject : ''
  const [first = ''] = text.split('\n')
  const cut = first.length > SUBJECT_CHARS_MAX || first.length < text.length
  return toPrintable(`${name}(${first.slice(0, SUBJECT_CHARS_MAX)}${cut ? '…' : ''})`)
}

export interface EndedCall {
  readonly name: string
  readonly input: JsonObject
  readonly toolUseId: string
  readonly entry: MessageEntry
  readonly denied?: string | undefined
}

export function toolLines(call: EndedCall, columns: number): readonly StyledLine[] {
  const { name, input, entry, denied } = call
  const result = resultOf(entry, call.toolUseId)
  const failed = denied !== undefined || result.isError
  const note =
    denied !== undefined ? 'not permitted' : result.isError ? firstLine(result.text) : sizeText(result)
  const label = cutToWidth(toolLabel(name, input), Math.max(20, Math.floor(columns * 0.7)))
  const room = Math.max(0, columns - label.length - 4)
  const head: StyledLine = [
    span(failed ? '✗ ' : '● ', failed ? 'error' : 'accent'),
    span(label, 'bold'),
    span(` ${cutToWidth(note, room)}`, failed ? 'error' : 'dim'),
  ]
  return failed ? [head] : [head, ...changeLines(name, input, DIFF_LINES_MAX, columns)]
}

/** What a call would change, for the one who is asked. */
export function proposalLines(name: string, input: JsonObject, columns: number): readonly StyledLine[] {
  const changes = changeLines(name, input, PROMPT_DIFF_LINES_MAX, columns)
  if (changes.length > 0) return changes
  const command = input['command']
  if (typeof command !== 'string') return []
  // Wrapped, not cut: what is not seen is not approved.
  const lines = toPrintable(command)
    .split('\n')
    .flatMap((text) => wrapLine([span(`    ${text}`)], columns, line('      ')))
  const shown = lines.slice(0, PROMPT_DIFF_LINES_MAX)
  const hidden = lines.length - shown.length
  return hidden > 0 ? [...shown, line(`    … ${hidden} more lines`, 'dim')] : shown
}

function changeLines(name: string, input: JsonObject, most: number, columns: number): readonly StyledLine[] {
  const text = (member: string): string => {
    const value = input[member]
    return typeof value === 'string' ? value : ''
  }
  if (name === 'Edit') return diffLines(text('old_string'), text('new_string'), most, columns)
  if (name === 'Write') return diffLines('', text('content'), most, columns)
  return []
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
  const blocks = toBlocks(result.content)
  return {
    text: blocks.flatMap((block) => (isBlock(block, 'text') ? [block.text] : [])).join('\n'),
    images: blocks.filter(({ type }) => type === 'image').length,
    isError: result.is_error === true,
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
