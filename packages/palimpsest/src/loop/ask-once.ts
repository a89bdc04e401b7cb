import { drive } from '../drive.ts'
import { ProviderError } from '../errors.ts'
import type { AskModel, AskOutcome, ModelEvent, ModelRequest, Ports } from '../ports.ts'
import { isBlock, type ToolUseBlock } from '../wire/message.ts'
import type { MessagesResponse } from '../wire/response.ts'
import { collectResponse } from './answers/collect-response.ts'

/** Asks once and waits for the whole answer. Rejects only when aborted. */
export async function askOnce(
  request: ModelRequest,
  { streamModel }: Pick<Ports, 'streamModel'>,
  signal: AbortSignal,
  onBegin: () => void = () => undefined,
): Promise<AskOutcome> {
  try {
    const { response } = await drive(collectResponse(noting(streamModel(request, signal), onBegin)))
    signal.throwIfAborted()
    return outcomeOf(response)
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof ProviderError)) throw error
    return { kind: 'failed', failure: error.failure, message: error.message }
  }
}

export function createAskModel(ports: Pick<Ports, 'streamModel'>): AskModel {
  return async (request, signal) => await askOnce(request, ports, signal)
}

async function* noting(events: AsyncIterable<ModelEvent>, onBegin: () => void): AsyncGenerator<ModelEvent> {
  for await (const event of events) {
    if (event.type === 'message_start') onBegin()
    yield event
  }
}

function outcomeOf(response: MessagesResponse): AskOutcome {
  const calls = response.content.filter((block): block is ToolUseBlock => isBlock(block, 'tool_use'))
  if (calls.length > 0) return { kind: 'called-tools', response, calls }
  const text = response.content.flatMap((block) => (isBlock(block, 'text') ? [block.text] : [])).join('')
  return { kind: 'answered', response, text }
}
