import { ownWords, typedText } from '../../facts/own-words.ts'
import type { Entry, EntryId, MessageEntry, Origin } from '../../transcript/entry.ts'
import { isBlock, toBlocks, type Block } from '../../wire/message.ts'

// What a conversation said, and who said it: proposals for memory are judged by it.

export interface Evidence {
  readonly id: EntryId
  readonly origin: Origin
  readonly text: string
}

/** Every text of a conversation, oldest first. The input of a call is what the model wants, not something that was said. */
export function evidenceOf(entries: readonly Entry[]): readonly Evidence[] {
  return entries.flatMap((entry) => (entry.kind === 'message' ? ofMessage(entry) : []))
}

function ofMessage(entry: MessageEntry): readonly Evidence[] {
  const { id, message, origin } = entry
  // A copy or a summary repeats what others said; the originals show whose words they are.
  if (entry.part === 'summary' || entry.part === 'kept' || entry.part === 'attachment') return []
  const blocks = toBlocks(message.content)
  if (message.role === 'assistant') return textual({ id, origin: 'model', text: textsIn(blocks).join('\n') })
  if (origin === 'user') return ofUser(entry)
  const results = blocks.flatMap((block) => (isBlock(block, 'tool_result') ? resultTexts(block) : []))
  const foreign = origin === 'engine' ? 'tool' : origin
  return [
    ...textual({ id, origin, text: textsIn(blocks).join('\n') }),
    ...textual({ id, origin: foreign, text: results.join('\n') }),
  ]
}

/** The user's message may also have the output of a command that the user ran, or an attached file: the user said neither. */
const RAN_COMMAND = /^The user ran this command:\n/

/** What the user typed. Attached files come before it, in blocks of their own. */
function ofUser(entry: MessageEntry): readonly Evidence[] {
  const { id, message, files = [] } = entry
  const blocks = toBlocks(message.content)
  const texts = textsIn(blocks)
  const results = blocks.flatMap((block) => (isBlock(block, 'tool_result') ? resultTexts(block) : []))
  const isAttached = texts.length > 1 && files.some(({ how }) => how === 'read')
  const typed = isAttached ? typedText(texts.at(-1) ?? '') : ownWords(entry)
  const hasOutput = RAN_COMMAND.test(typed)
  const foreign = [...(isAttached ? texts.slice(0, -1) : []), ...results, ...(hasOutput ? [typed] : [])]
  return [
    ...textual({ id, origin: 'user', text: hasOutput ? '' : typed }),
    ...textual({ id, origin: 'tool', text: foreign.join('\n') }),
  ]
}

function textual(evidence: Evidence): readonly Evidence[] {
  return evidence.text.trim() === '' ? [] : [evidence]
}

function textsIn(blocks: readonly Block[]): readonly string[] {
  return blocks.flatMap((block) => (isBlock(block, 'text') ? [block.text] : []))
}

function resultTexts(block: Block): readonly string[] {
  if (!isBlock(block, 'tool_result')) return []
  const { content } = block
  if (typeof content === 'string') return [content]
  return Array.isArray(content) ? textsIn(content) : []
}
