import { toWire } from './to-wire.ts'

/** Tokens as the AI SDK reports them; undefined if the provider reports nothing. */
export interface AiUsage {
  readonly uncached?: number | undefined
  readonly read?: number | undefined
  readonly written?: number | undefined
  readonly output?: number | undefined
}

/** The content and usage of an answer in the form of the Messages API; undefined if it has no content. */
export function toAnswer(
  parts: readonly object[],
  {
    id,
    model,
    usage,
    callsTools,
  }: { readonly id: string; readonly model: string; readonly usage: AiUsage; readonly callsTools: boolean },
): object | undefined {
  const [message] = toWire([{ role: 'assistant', content: parts }]).messages
  if (!message?.content || message.content.length === 0) return undefined
  return {
    id,
    type: 'message',
    role: 'assistant',
    model,
    content: message.content,
    stop_reason: callsTools ? 'tool_use' : 'end_turn',
    stop_sequence: null,
    usage: {
      input_tokens: usage.uncached ?? 0,
      cache_read_input_tokens: usage.read ?? 0,
      cache_creation_input_tokens: usage.written ?? 0,
      output_tokens: usage.output ?? 0,
    },
  }
}
