import type { Entry, MessageEntry } from 'palimpsest/transcript'
import { isBlock, isJsonObject, toBlocks } from 'palimpsest/wire'

import { markdownLines } from '../text/markdown-lines.ts'
import { line, lineText, type StyledLine } from '../text/styled-line.ts'
import { toolLabel } from './tool-lines.ts'
import { noteLines, saidLines } from './turn-lines.ts'

// What was said before, as lines: the end of it when a session is opened again, all of it for the pager and for a file.

/** Messages that are shown of a session that is gone on with: enough to know where one stood. */
const SHOWN_MAX = 12

/** Before the command and what it printed, where the user ran one. */
export const SHELL_HEAD = 'The user ran this command:\n\n$ '

/** What the user said, oldest first; what was said for them is left out. */
export function saidMessages(log: readonly Entry[]): readonly MessageEntry[] {
  return log.filter((entry): entry is MessageEntry => entry.kind === 'message' && isSaid(entry))
}

export function saidBefore(log: readonly Entry[]): readonly string[] {
  return saidMessages(log)
    .map(saidText)
    .filter((text) => text !== '')
}

/** The user's own words: of a message with files it is the last text. */
export function saidText({ message }: MessageEntry): string {
  const texts = toBlocks(message.content).flatMap((block) => (isBlock(block, 'text') ? [block.text] : []))
  const text = texts.at(-1) ?? ''
  const command = text.startsWith(SHELL_HEAD) ? text.slice(SHELL_HEAD.length).split('\n')[0] : undefined
  return command === undefined ? text : `!${command}`
}

export function pastLines(log: readonly Entry[], columns: number): readonly StyledLine[] {
  const shown = shownOf(log)
  const left = shown.length - SHOWN_MAX
  const note = left > 0 ? [line(`… ${left} earlier messages: Ctrl-O shows all`, 'dim'), []] : []
  return [...note, ...shown.slice(-SHOWN_MAX).flatMap((entry) => entryLines(entry, columns, false))]
}

/** The whole conversation with every result, in plain text. */
export function transcriptText(log: readonly Entry[], columns: number): string {
  return `${shownOf(log)
    .flatMap((entry) => entryLines(entry, columns, true))
    .map(lineText)
    .join('\n')}\n`
}

/** What was undone is not told. */
function shownOf(log: readonly Entry[]): readonly Entry[] {
  const undone = new Set(log.flatMap((entry) => (entry.kind === 'void' ? [entry.target] : [])))
  return log.filter((entry) => isShown(entry) && !undone.has(entry.id))
}

function isShown(entry: Entry): boolean {
  if (entry.kind === 'boundary') return true
  return (
    entry.kind === 'message' &&
    entry.part === undefined &&
    entry.origin !== 'engine' &&
    entry.origin !== 'hook'
  )
}

function isSaid(entry: MessageEntry): boolean {
  const { message, origin, part } = entry
  if (origin !== 'user' || part !== undefined || message.role !== 'user') return false
  return toBlocks(message.content).every((block) => !isBlock(block, 'tool_result'))
}

function entryLines(entry: Entry, columns: number, isWhole: boolean): readonly StyledLine[] {
  if (entry.kind === 'boundary') {
    const { preTokens, postTokens, path } = entry.meta
    return [
      ...noteLines(
        `compacted by ${path ?? 'summary'}: ${preTokens} → ${postTokens ?? '?'} tokens`,
        'accent',
        columns,
      ),
      [],
    ]
  }
  if (entry.kind !== 'message') return []
  if (isSaid(entry)) return saidLines(saidText(entry), columns)
  return toBlocks(entry.message.content).flatMap((block): readonly StyledLine[] => {
    if (isBlock(block, 'text')) return [...markdownLines(block.text, columns), []]
    if (isBlock(block, 'tool_use'))
      return [line(`● ${toolLabel(block.name, isJsonObject(block.input) ? block.input : {})}`, 'bold')]
    if (!isBlock(block, 'tool_result') || !isWhole) return []
    const text = toBlocks(block.content)
      .flatMap((part) => (isBlock(part, 'text') ? [part.text] : []))
      .join('\n')
    return [...text.split('\n').map((part) => line(`    ${part}`)), []]
  })
}
