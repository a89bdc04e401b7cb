import { messageBody, type EntryBody } from '../../situation/session.ts'
import type { MessageEntry } from '../../transcript/entry.ts'
import type { Hash } from '../../wire/hash.ts'
import { withMember, withoutMember, type JsonText } from '../../wire/json.ts'
import { isBlock, type Block } from '../../wire/message.ts'
import { readBlock, type Gathered, type OpenBlock } from './collect-response.ts'
import { writtenTokens } from '../../accounts/meter-model.ts'

// What we keep of an answer that was broken off: what the user saw of it, in a form that the API accepts. Calls are dropped, since none
// ran, and so is thinking without a signature.

/** Undefined if none of it was visible. */
export function partialAnswer(
  { started, blocks, requestId }: Gathered,
  under: Hash,
): EntryBody<MessageEntry> | undefined {
  if (!started) return undefined
  const kept = withoutEndingSpace(blocks.flatMap(keptBlock))
  if (!kept.some(({ block }) => isBlock(block, 'text'))) return undefined
  // For other readers of the transcript. Our own bill is separate, and no count starts from a usage that the provider never reported.
  const written = writtenTokens(kept.map(({ json }) => json).join(''), started.model)
  const usage = { ...started.usage, output_tokens: Math.max(started.usage.output_tokens, written) }
  const message = { ...started, content: kept.map(({ block }) => block), stop_reason: null, usage }
  const shell = withoutMember(JSON.stringify({ ...message, content: [] }), 'content')
  return messageBody(message, 'model', {
    json: withMember(shell, 'content', `[${kept.map(({ json }) => json).join(',')}]`),
    responseId: started.id,
    model: started.model,
    under,
    interrupted: true,
    ...(requestId === undefined ? {} : { requestId }),
  })
}

interface KeptBlock {
  readonly block: Block
  readonly json: JsonText
}

function keptBlock(open: OpenBlock): readonly KeptBlock[] {
  const { block, json } = readBlock(open)
  const isSigned = isBlock(block, 'thinking') && block.signature !== ''
  const isThought = open.stopped && (isSigned || isBlock(block, 'redacted_thinking'))
  // The API rejects text that is only white space.
  const isSaid = isBlock(block, 'text') && block.text.trim() !== ''
  return isThought || isSaid ? [{ block, json }] : []
}

/** It also rejects an answer that ends in white space if nothing follows it. */
function withoutEndingSpace(kept: readonly KeptBlock[]): readonly KeptBlock[] {
  const last = kept.at(-1)
  if (!last || !isBlock(last.block, 'text')) return kept
  const block = { ...last.block, text: last.block.text.trimEnd() }
  return [...kept.slice(0, -1), { block, json: JSON.stringify(block) }]
}
