import type { View } from 'palimpsest/transcript'
import { isBlock, toBlocks } from 'palimpsest/wire'

const OPEN = '<instructions>\n'
const CLOSE = '\n</instructions>'

/** The instruction files as the conversation last showed them; undefined if the loaded part does not say. */
export function shownInstructions({ log }: View): string | undefined {
  for (const entry of log.toReversed()) {
    if (entry.kind !== 'message' || entry.origin !== 'engine' || entry.part === 'summary') continue
    const text = toBlocks(entry.message.content)
      .flatMap((block) => (isBlock(block, 'text') ? [block.text] : []))
      .join('\n')
    const from = text.indexOf(OPEN)
    const to = text.lastIndexOf(CLOSE)
    if (from !== -1 && to >= from + OPEN.length) return text.slice(from, to + CLOSE.length)
    if (text.startsWith('<environment>')) return ''
  }
  return undefined
}
