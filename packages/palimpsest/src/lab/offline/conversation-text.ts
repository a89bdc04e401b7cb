import { isBlock, toBlocks, type Block, type Role, type WireMessage } from '../../wire/message.ts'

/** One stretch of text in the conversation, with its speaker. */
export interface Utterance {
  readonly role: Role
  readonly message: number
  readonly kind: 'text' | 'tool_use' | 'tool_result'
  readonly text: string
}

/** The newest texts of a conversation, oldest first, at most `charsMax` characters in total. */
export function utterancesOf(messages: readonly WireMessage[], charsMax: number): readonly Utterance[] {
  const found: Utterance[] = []
  let room = charsMax
  for (let i = messages.length - 1; i >= 0 && room > 0; i--) {
    const message = messages[i]
    if (!message) continue
    for (const block of toBlocks(message.content).toReversed()) {
      const said = utteranceOf(block, message.role, i)
      if (!said || room <= 0) continue
      found.push(said.text.length > room ? { ...said, text: said.text.slice(0, room) } : said)
      room -= said.text.length
    }
  }
  return found.toReversed()
}

/** The text of the newest user message that has text. */
export function lastUserText(messages: readonly WireMessage[]): string {
  for (let i = messages.length - 1; i >= 0; i--) {
    const message = messages[i]
    if (message?.role !== 'user') continue
    const text = plainText(toBlocks(message.content))
    if (text !== '') return text
  }
  return ''
}

function utteranceOf(block: Block, role: Role, message: number): Utterance | undefined {
  if (isBlock(block, 'text')) return { role, message, kind: 'text', text: block.text }
  if (isBlock(block, 'compaction') && typeof block.content === 'string')
    return { role, message, kind: 'text', text: block.content }
  if (isBlock(block, 'tool_result'))
    return { role, message, kind: 'tool_result', text: plainText(toBlocks(block.content)) }
  if (isBlock(block, 'tool_use'))
    return { role, message, kind: 'tool_use', text: `${block.name} ${JSON.stringify(block.input)}` }
  return undefined
}

function plainText(blocks: readonly Block[]): string {
  return blocks.flatMap((block) => (isBlock(block, 'text') ? [block.text] : [])).join('\n')
}
