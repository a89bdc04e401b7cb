import { isSame } from './says.ts'

// A summary lists every message of the user, word for word. Those that stay in view need not be there twice.

const SECTION = /^\s*6\.\s.*\bmessages\b/i
const NEXT = /^\s*7\.\s/
const ITEM = /^(\s*)(?:[-*•]|\d+[.)])\s+/
const ALL_IN_VIEW = '(They are shown below.)'
const OTHERS_IN_VIEW = '(The others are shown below.)'

/** The summary without the items of its section of user messages that only repeat one of these. */
export function withoutRepeated(summary: string, visible: readonly string[]): string {
  const lines = summary.split('\n')
  const start = lines.findIndex((line) => SECTION.test(line))
  if (start < 0 || visible.length === 0) return summary
  const length = lines.slice(start + 1).findIndex((line) => NEXT.test(line))
  const end = length < 0 ? lines.length : start + 1 + length
  const items = itemsOf(lines.slice(start + 1, end))
  const left = items.filter((item) => !visible.some((words) => isSame(wordsOf(item), words)))
  if (left.length === items.length) return summary
  const indent = /^\s*/.exec(items[0]?.[0] ?? '')?.[0] ?? ''
  return [
    ...lines.slice(0, start + 1),
    ...left.flat(),
    `${indent}${left.some((item) => ITEM.test(item[0] ?? '')) ? OTHERS_IN_VIEW : ALL_IN_VIEW}`,
    ...lines.slice(end),
  ].join('\n')
}

/** Groups lines into items, each with the lines that follow it; lines before the first item are a group of their own. */
function itemsOf(lines: readonly string[]): readonly (readonly string[])[] {
  const items: string[][] = []
  for (const line of lines) {
    const last = items.at(-1)
    if (!last || ITEM.test(line)) items.push([line])
    else last.push(line)
  }
  return items
}

function wordsOf([first = '', ...rest]: readonly string[]): string {
  return [first.replace(ITEM, ''), ...rest].join('\n')
}
