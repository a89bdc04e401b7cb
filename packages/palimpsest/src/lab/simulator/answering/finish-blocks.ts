import { hashBlock } from '../../../ledger/request-prompt.ts'
import { isBlock, isThinking, type Block } from '../../../wire/message.ts'
import type { StopReason } from '../../../wire/response.ts'
import type { Counter } from '../context/count.ts'
import { prefixToSign, pushBlock, type PrefixChain } from '../context/prefix-chain.ts'
import type { ScriptBlock } from './script.ts'
import { signThinking, type ThinkingOrigin } from './sign.ts'

// From what the model would say to what the response contains: ids, signatures, limits.

export interface FinishInput {
  readonly draft: readonly ScriptBlock[]
  readonly stopReason: StopReason | undefined
  readonly stopSequences: readonly string[]
  readonly counter: Counter
  readonly chain: PrefixChain
  readonly key: string
  readonly origin: ThinkingOrigin
  readonly newToolId: (type: string) => string
  /** `off` leaves out scripted thinking; `omitted` keeps the block and hides its text. */
  readonly thinking: 'off' | 'shown' | 'omitted'
  readonly tokensMax: number
  /** Stop reason of an answer that reaches `tokensMax`. */
  readonly fullReason: StopReason
}

export interface Finished {
  readonly content: readonly Block[]
  readonly stopReason: StopReason
  readonly stopSequence: string | null
  readonly outputTokens: number
  readonly thinkingTokens: number
  /** Whether the limit cut off the last block. */
  readonly isCut: boolean
}

export function finishBlocks(input: FinishInput): Finished {
  const content: Block[] = []
  let tokens = 0
  let thinkingTokens = 0
  for (const drafted of input.draft) {
    const said = stopAt(drafted, input.stopSequences)
    const block = finishBlock(said.block, input)
    if (!block) continue
    const size = input.counter.blockTokens(block, 'assistant')
    if (tokens + size > input.tokensMax) {
      const cut = cutBlock(block, (input.tokensMax - tokens) / size)
      if (cut) content.push(cut)
      const full = { content, stopReason: input.fullReason, stopSequence: null, isCut: cut !== undefined }
      return { ...full, outputTokens: input.tokensMax, thinkingTokens }
    }
    tokens += size
    if (isThinking(block)) thinkingTokens += size
    content.push(block)
    pushBlock(input.chain, 'assistant', hashBlock(block, 'assistant'), isThinking(block))
    if (said.sequence !== undefined) {
      const stopped = { content, stopReason: 'stop_sequence', stopSequence: said.sequence } as const
      return { ...stopped, outputTokens: tokens, thinkingTokens, isCut: false }
    }
  }
  const stopReason =
    input.stopReason ?? (content.some((block) => block.type === 'tool_use') ? 'tool_use' : 'end_turn')
  return { content, stopReason, stopSequence: null, outputTokens: tokens, thinkingTokens, isCut: false }
}

function finishBlock(drafted: ScriptBlock, input: FinishInput): Block | undefined {
  const { key, origin, chain } = input
  switch (drafted.type) {
    case 'thinking': {
      if (input.thinking === 'off') return undefined
      const thinking = input.thinking === 'omitted' ? '' : stringOf(drafted['thinking'])
      const signature = signThinking(key, origin, thinking, prefixToSign(chain, 'assistant'))
      return { type: 'thinking', thinking, signature }
    }
    case 'redacted_thinking': {
      if (input.thinking === 'off') return undefined
      return {
        type: 'redacted_thinking',
        data: signThinking(key, origin, '', prefixToSign(chain, 'assistant')),
      }
    }
    case 'tool_use': {
      const { type, name, input: asked } = drafted
      return { type, id: input.newToolId(type), name: stringOf(name), input: asked ?? {} }
    }
    // The summary of a compaction: it already precedes the answer.
    case 'compaction':
      return undefined
    case 'server_tool_use':
      return { id: input.newToolId(drafted.type), ...drafted }
    default:
      return drafted
  }
}

/** The block up to its first stop sequence. */
function stopAt(
  block: ScriptBlock,
  sequences: readonly string[],
): { readonly block: ScriptBlock; readonly sequence?: string } {
  const text = block['text']
  if (block.type !== 'text' || typeof text !== 'string') return { block }
  const found = sequences
    .map((sequence) => ({ sequence, at: text.indexOf(sequence) }))
    .filter(({ at }) => at >= 0)
    .toSorted((a, b) => a.at - b.at)[0]
  return found ? { block: { ...block, text: text.slice(0, found.at) }, sequence: found.sequence } : { block }
}

/** What remains of the last block of a full answer: part of a text, a tool use without its input, nothing of thinking. */
function cutBlock(block: Block, share: number): Block | undefined {
  if (share <= 0) return undefined
  if (isBlock(block, 'text')) {
    const text = block.text.slice(0, Math.floor(block.text.length * share))
    return text === '' ? undefined : { ...block, text }
  }
  return isBlock(block, 'tool_use') ? { ...block, input: {} } : undefined
}

/** A script's fields are checked when it is added. */
function stringOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
