import { whyEdited } from 'palimpsest/engine'
import { isRemoval, type Entry, type MessageEntry } from 'palimpsest/transcript'
import { isBlock, isJsonObject, toBlocks, type Block } from 'palimpsest/wire'

import { toPrintable } from '../../agent/printable.ts'
import { pathName } from '../../stored/path-name.ts'
import { markdownLines } from '../text/markdown-lines.ts'
import { line, wrapLine, type StyledLine } from '../text/styled-line.ts'
import { cutToWidth } from '../text/text-width.ts'
import { toolLabel } from './tool-lines.ts'
import { shortCount } from './status-line.ts'
import { noteLines, saidLines } from './turn-lines.ts'

// What was said before, as lines: the end of it when a session is resumed, any of it for the pager and for a file.

/** Messages shown of a resumed session: enough to know where the user stopped. */
const SHOWN_MAX = 12
/** Rows of the screen for the lines that name the session, and for the input. */
const OTHER_ROWS = 11
/** On a smaller screen the user scrolls. */
const PAST_ROWS_MIN = 8

/** Comes before the command and its output, if the user ran one. */
export const SHELL_HEAD = 'The user ran this command:\n\n$ '

/** What the user said, oldest first, without what was said on their behalf. */
export function saidMessages(log: readonly Entry[]): readonly MessageEntry[] {
  return log.filter((entry): entry is MessageEntry => entry.kind === 'message' && isSaid(entry))
}

export function saidBefore(log: readonly Entry[]): readonly string[] {
  return saidMessages(log)
    .map(saidText)
    .filter((text) => text !== '')
}

/** The user's own words: in a message with files, the last text. */
export function saidText({ message }: MessageEntry): string {
  const texts = toBlocks(message.content).flatMap((block) => (isBlock(block, 'text') ? [block.text] : []))
  const text = texts.at(-1) ?? ''
  const command = text.startsWith(SHELL_HEAD) ? text.slice(SHELL_HEAD.length).split('\n')[0] : undefined
  return command === undefined ? text : `!${command}`
}

/** The end of a conversation, as much as a screen holds: whole messages, or the end of the last one if it is longer. */
export function pastLines(
  log: readonly Entry[],
  { columns, rows }: { readonly columns: number; readonly rows: number },
  toAll: string,
): readonly StyledLine[] {
  const shown = shownOf(log)
  const room = Math.max(PAST_ROWS_MIN, rows - OTHER_ROWS)
  const messages = shown.slice(-SHOWN_MAX).map((entry) => entryLines(entry, columns, false))
  const lines: StyledLine[] = []
  let count = 0
  for (const message of messages.toReversed()) {
    if (count > 0 && lines.length + message.length > room) break
    lines.unshift(...message.slice(-room))
    count++
  }
  const isCut = (messages.at(-1)?.length ?? 0) > room
  const left = shown.length - count
  const earlier = left === 1 ? '1 earlier message' : `${left} earlier messages`
  const parts = [...(isCut ? ['the beginning of this one'] : []), ...(left > 0 ? [earlier] : [])]
  const note = parts.length > 0 ? [line(`… ${parts.join(' and ')}: ${toAll}`, 'dim'), []] : []
  return [...note, ...lines]
}

/** Entries to show; undone ones are left out. */
function shownOf(log: readonly Entry[]): readonly Entry[] {
  const undone = new Set(log.flatMap((entry) => (entry.kind === 'void' ? [entry.target] : [])))
  return log.filter((entry) => isShownEntry(entry) && !undone.has(entry.id))
}

/** What a reader of the conversation sees: messages, answers, results, and where it was compacted. */
export function isShownEntry(entry: Entry): boolean {
  if (entry.kind === 'boundary') return true
  return entry.kind === 'message' && entry.part === undefined && !isOurs(entry)
}

function isOurs({ origin }: MessageEntry): boolean {
  return !IS_SHOWN[origin]
}

/** Instructions, environment, the list of memories and what hooks add are for the model alone. */
const IS_SHOWN: { readonly [origin in MessageEntry['origin']]: boolean } = {
  user: true,
  model: true,
  tool: true,
  web: true,
  mcp: true,
  recall: true,
  peer: true,
  memory: false,
  hook: false,
  engine: false,
}

/** For reading everything: results and thinking in full, and summaries where they replaced something. */
export function wholeLines(entry: Entry, columns: number): readonly StyledLine[] {
  if (entry.kind === 'edit' && !isRemoval(entry)) return []
  if (entry.kind === 'edit')
    return [
      ...noteLines(
        `cleared ${entry.freedTokens} tokens of old results (${whyEdited(entry)})`,
        'dim',
        columns,
      ),
      [],
    ]
  if (entry.kind !== 'message') return entryLines(entry, columns, true)
  if (entry.part === 'summary') return summaryLines(entry)
  return entry.part === undefined && !isOurs(entry) ? entryLines(entry, columns, true) : []
}

function summaryLines({ message }: MessageEntry): readonly StyledLine[] {
  const text = toBlocks(message.content)
    .flatMap((block) => (isBlock(block, 'text') ? [block.text] : []))
    .join('\n')
  return [...printed(text).map((row) => line(`  │ ${row}`, 'dim')), []]
}

function isSaid(entry: MessageEntry): boolean {
  const { message, origin, part } = entry
  if (origin !== 'user' || part !== undefined || message.role !== 'user') return false
  return toBlocks(message.content).every((block) => !isBlock(block, 'tool_result'))
}

function entryLines(entry: Entry, columns: number, isWhole: boolean): readonly StyledLine[] {
  if (entry.kind === 'boundary') {
    const { preTokens, postTokens, path } = entry.meta
    const after = postTokens === undefined ? '?' : shortCount(postTokens)
    const text = `compacted by ${pathName(path)}: ${shortCount(preTokens)} → ${after} tokens`
    return [...noteLines(text, 'accent', columns), []]
  }
  if (entry.kind !== 'message') return []
  if (isSaid(entry)) return isWhole ? saidWhole(entry) : saidLines(saidText(entry), columns)
  const blocks = toBlocks(entry.message.content)
  if (!isWhole && entry.message.role === 'user') return addedLines(blocks, columns)
  const last = blocks.at(-1)
  // Calls that went out together stay together, as when they ran.
  const gap = !isWhole && last && isBlock(last, 'tool_use') ? [[]] : []
  const stopped = entry.interrupted ? [line('(the answer was stopped here)', 'dim'), []] : []
  return [...blocks.flatMap((block) => blockLines(block, columns, isWhole)), ...gap, ...stopped]
}

/** Restored text and text from others is often long, and the user did not say it: only its beginning. */
function addedLines(blocks: readonly Block[], columns: number): readonly StyledLine[] {
  return blocks.flatMap((block) => {
    if (!isBlock(block, 'text')) return []
    const rows = printed(block.text.trimEnd())
    const hidden = rows.length - ADDED_LINES_MAX
    const shown = hidden > 1 ? rows.slice(0, ADDED_LINES_MAX) : rows
    const more = hidden > 1 ? [line(`  … ${hidden} more lines`, 'dim')] : []
    return [...shown.flatMap((row) => wrapLine(line(row), columns)), ...more, []]
  })
}

const ADDED_LINES_MAX = 4

/** Includes what was attached. */
function saidWhole({ message }: MessageEntry): readonly StyledLine[] {
  const rows = toBlocks(message.content).flatMap((block) => {
    if (isBlock(block, 'text')) return printed(block.text)
    return block.type === 'image' ? ['(an image)'] : []
  })
  return [...rows.map((row, place) => line(`${place === 0 ? '> ' : '  '}${row}`, 'bold')), []]
}

function blockLines(block: Block, columns: number, isWhole: boolean): readonly StyledLine[] {
  if (isBlock(block, 'text')) return [...markdownLines(block.text, columns), []]
  if (isBlock(block, 'tool_use')) {
    const label = `● ${toolLabel(block.name, isJsonObject(block.input) ? block.input : {})}`
    return [line(isWhole ? label : cutToWidth(label, columns), 'bold')]
  }
  if (!isWhole) return []
  if (isBlock(block, 'thinking'))
    return block.thinking === ''
      ? []
      : [...printed(block.thinking).map((row) => line(`  ${row}`, 'comment')), []]
  if (!isBlock(block, 'tool_result')) return []
  const rows = toBlocks(block.content).flatMap((part) => {
    if (isBlock(part, 'text')) return printed(part.text)
    return part.type === 'image' ? ['(an image)'] : []
  })
  return [...rows.map((row) => line(`    ${row}`)), []]
}

function printed(text: string): readonly string[] {
  return toPrintable(text).split('\n')
}
