import type { View } from 'palimpsest/transcript'
import { isBlock, toBlocks } from 'palimpsest/wire'

const INSTRUCTIONS = /<instructions>\n[^]*\n<\/instructions>/

/** The instruction files as the conversation showed them last; undefined where what is loaded of it does not tell. */
export function shownInstructions({ log }: View): string | undefined {
  for (const entry of log.toReversed()) {
    if (entry.kind !== 'message' || entry.origin !== 'engine' || entry.part === 'summary') continue
    const text = toBlocks(entry.message.content)
      .flatMap((block) => (isBlock(block, 'text') ? [block.text] : []))
      .join('\n')
    const found = INSTRUCTIONS.exec(text)
    if (found) return found[0]
    if (text.startsWith('<environment>')) return ''
  }
  return undefined
}
