import type { StandingWords, UserWords } from '../../../facts/facts.ts'
import type { EntryId } from '../../../transcript/entry.ts'
import { RECALL_TOOL } from '../../../transcript/recall-tool.ts'
import { shortId } from '../../../transcript/short-id.ts'
import { headOf, tailOf, type Written } from './write-parts.ts'

// Messages of the user, each as long as there is room for: whole, by head and tail, by a short head and tail, or by its id.

/** Head and tail of a message that is not shown whole, the longest form first. */
const CUTS: readonly { readonly head: number; readonly tail: number }[] = [
  { head: 1_200, tail: 600 },
  { head: 240, tail: 120 },
  { head: 70, tail: 30 },
]

/**
 * Every message gets its shortest form before any gets a longer one: the newest first, then the very first, then the others from new to
 * old.
 */
export function writeWords(words: readonly UserWords[], charsMax: number, hasRecall = false): Written {
  const forms = words.map((one) => formsOf(one, hasRecall))
  const chosen: (number | undefined)[] = words.map(() => undefined)
  const order = orderOf(words.length)
  let room = charsMax
  for (let longest = CUTS.length; longest >= 0; longest--)
    for (const i of order) {
      const own = forms[i] ?? []
      const next = own.findIndex((form, level) => level >= longest && form !== undefined)
      const level = next < 0 ? own.findLastIndex((form) => form !== undefined) : next
      const now = chosen[i]
      const more = costOf(own[level]) - (now === undefined ? 0 : costOf(own[now]))
      if (level === now || more > room) continue
      room -= more
      chosen[i] = level
    }
  const lines = chosen.flatMap((level, i) => (level === undefined ? [] : (forms[i]?.[level] ?? [])))
  const left = words.filter((_, i) => chosen[i] === undefined).map(({ entry }) => entry)
  return { lines, said: lines.length, left: { what: 'messages of the user', count: left.length, ids: left } }
}

function orderOf(count: number): readonly number[] {
  const newestFirst = Array.from({ length: count }, (_, i) => count - 1 - i)
  return count < 3 ? newestFirst : [count - 1, 0, ...newestFirst.slice(1, -1)]
}

function costOf(line: string | undefined): number {
  return line === undefined ? 0 : line.length + 1
}

/** Whole first, then shorter and shorter. Undefined: no shorter than the one before. */
function formsOf({ entry, text, cut }: UserWords, hasRecall: boolean): readonly (string | undefined)[] {
  const chars = cut?.chars ?? text.length
  const tail = cut?.tail ?? text
  const whole = cut ? undefined : asItem(text)
  let shortest = whole?.length ?? Infinity
  const shorter = CUTS.map((size) => {
    const mark = cutMark(entry, chars, hasRecall)
    const line = asItem(`${mark} ${headOf(text, size.head)} […] ${tailOf(tail, size.tail)}`)
    if (line.length >= shortest) return undefined
    shortest = line.length
    return line
  })
  return [whole, ...shorter]
}

/** Marks a message that is not whole. */
export function cutMark(entry: EntryId, chars: number, hasRecall: boolean): string {
  return hasRecall
    ? `[${chars} characters; ${RECALL_TOOL} id=${shortId(entry)} shows all:]`
    : `[${shortId(entry)}, ${chars} characters]`
}

/** Standing words whose message is not whole in the text; the others are said with their message. */
export function notSaidWith(
  standing: readonly StandingWords[],
  words: readonly UserWords[],
  text: string,
): readonly StandingWords[] {
  const whole = new Set(
    words.flatMap(({ entry, text: said, cut }) => (!cut && text.includes(asItem(said)) ? [entry] : [])),
  )
  return standing.filter(({ entry }) => !whole.has(entry))
}

/** Lines of one message are indented, so that nothing in it looks like a heading. */
function asItem(text: string): string {
  return `- ${text.replaceAll('\n', '\n  ')}`
}
