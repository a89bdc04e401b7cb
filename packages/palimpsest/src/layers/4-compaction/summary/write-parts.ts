import type { EntryId } from '../../../transcript/entry.ts'
import { RECALL_TOOL } from '../../../transcript/recall-tool.ts'
import { shortId } from '../../../transcript/short-id.ts'

// A text in parts that share a budget of characters. What does not fit is named, never dropped silently.

export interface Part {
  readonly heading: string
  /** Share of the budget, before what other parts do not need is distributed. All shares together are at most 1. */
  readonly share: number
  readonly write: (charsMax: number) => Written
}

export interface Written {
  readonly lines: readonly string[]
  /** How many facts it says. */
  readonly said: number
  /** What did not fit. */
  readonly left?: { readonly what: string; readonly count: number; readonly ids: readonly EntryId[] }
}

export interface WrittenParts {
  /** One for each part, with its heading. Empty if it has nothing to say. */
  readonly blocks: readonly string[]
  /** Names what did not fit. Empty if everything did. */
  readonly notice: string
  readonly said: number
  /** Facts that are only named by number or id. */
  readonly left: number
}

/** Room for the sentence that names what is not shown. */
const LEFT_CHARS = 320

/** Earlier parts are more important: they are the first to get what others do not need. */
export function writeParts(parts: readonly Part[], charsMax: number, hasRecall: boolean): WrittenParts {
  const wanted = parts.map((part) => lengthOf(part, part.write(Infinity)))
  const all = wanted.reduce((sum, chars) => sum + chars, 0)
  const budget = all <= charsMax ? charsMax : Math.max(0, charsMax - LEFT_CHARS)
  const rooms = shareOut(
    wanted,
    parts.map(({ share }) => share),
    budget,
  )
  const written = parts.map((part, i) => part.write(Math.max(0, (rooms[i] ?? 0) - part.heading.length - 2)))
  const blocks = parts.map(({ heading }, i) => {
    const lines = written[i]?.lines ?? []
    return lines.length > 0 ? `${heading}\n${lines.join('\n')}` : ''
  })
  const lefts = written.flatMap(({ left }) => (left && left.count > 0 ? [left] : []))
  return {
    blocks,
    notice: noticeOf(lefts, hasRecall),
    said: written.reduce((sum, { said }) => sum + said, 0),
    left: lefts.reduce((sum, { count }) => sum + count, 0),
  }
}

function lengthOf({ heading }: Part, { lines }: Written): number {
  return lines.length === 0 ? 0 : heading.length + 2 + lines.reduce((sum, line) => sum + line.length + 1, 0)
}

/** What each part gets: at most its share, then in order what is left over. */
function shareOut(wanted: readonly number[], shares: readonly number[], budget: number): readonly number[] {
  const rooms = wanted.map((chars, i) => Math.min(chars, Math.floor((shares[i] ?? 0) * budget)))
  let rest = budget - rooms.reduce((sum, room) => sum + room, 0)
  return rooms.map((room, i) => {
    const more = Math.min((wanted[i] ?? 0) - room, rest)
    rest -= more
    return room + more
  })
}

/** If there are more, only the first and the last are named. */
const LEFT_IDS_MAX = 6

function noticeOf(lefts: readonly NonNullable<Written['left']>[], hasRecall: boolean): string {
  if (lefts.length === 0) return ''
  const named = lefts.map(({ what, count, ids }) => {
    const [first = '', last = ''] = [ids[0], ids.at(-1)]
    const shown =
      ids.length > LEFT_IDS_MAX ? `${shortId(first)} to ${shortId(last)}` : ids.map(shortId).join(' ')
    return `${count} ${what}${shown === '' ? '' : ` (${shown})`}`
  })
  const way = hasRecall ? `${RECALL_TOOL} shows them by id` : 'the transcript has them whole'
  return `Not shown for lack of room (${way}): ${named.join('; ')}.`
}

/** One line each, in their own order; if room is short, the newest get it first. */
export function writeList(
  items: readonly { readonly text: string; readonly id?: EntryId }[],
  what: string,
  charsMax: number,
): Written {
  const lines: string[] = []
  const ids: EntryId[] = []
  let room = charsMax
  let leftOut = 0
  for (const { text, id } of items.toReversed()) {
    const line = `- ${text}`
    if (line.length + 1 > room) {
      leftOut++
      if (id !== undefined) ids.push(id)
      continue
    }
    room -= line.length + 1
    lines.push(line)
  }
  return {
    lines: lines.toReversed(),
    said: lines.length,
    left: { what, count: leftOut, ids: [...new Set(ids.toReversed())] },
  }
}

export function clip(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : `${headOf(text, Math.max(0, charsMax - 1))}…`
}

/** No word is longer. */
const WORD_CHARS_MAX = 24

/** The beginning, cut between words if one ends nearby. */
export function headOf(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text
  const head = text.slice(0, charsMax)
  const at = Math.max(head.lastIndexOf(' '), head.lastIndexOf('\n'))
  return at > 0 && at >= charsMax - WORD_CHARS_MAX && !/\s/.test(text[charsMax] ?? ' ')
    ? head.slice(0, at)
    : head
}

/** The end, cut between words if one begins nearby. */
export function tailOf(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text
  const tail = text.slice(-charsMax)
  const at = tail.search(/\s/)
  const isCut = !/\s/.test(text[text.length - charsMax - 1] ?? ' ')
  return isCut && at >= 0 && at < WORD_CHARS_MAX ? tail.slice(at + 1) : tail
}
