import { drive } from '../drive.ts'
import { ProviderError } from '../errors.ts'
import type { AskModel, AskOutcome, ModelEvent, ModelRequest, Ports } from '../ports.ts'
import { isBlock, type ToolUseBlock } from '../wire/message.ts'
import { collectResponse, nothingGathered, type CollectedResponse } from './answers/collect-response.ts'
import type { OwnIds } from './answers/own-ids.ts'

export interface AskOnceOptions {
  /** Called when the answer begins. */
  readonly onBegin?: (() => void) | undefined
  /** For the calls of an answer that a later request will extend. */
  readonly ids?: OwnIds | undefined
}

/** Asks once and waits for the complete answer. Rejects only when aborted. */
export async function askOnce(
  request: ModelRequest,
  { streamModel }: Pick<Ports, 'streamModel'>,
  signal: AbortSignal,
  { onBegin = () => undefined, ids }: AskOnceOptions = {},
): Promise<AskOutcome> {
  try {
    const events = noting(streamModel(request, signal), onBegin)
    const collected = await drive(collectResponse(events, nothingGathered(ids)))
    signal.throwIfAborted()
    return outcomeOf(collected)
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

function outcomeOf({ response, json, unreadable }: CollectedResponse): AskOutcome {
  const calls = response.content.filter((block): block is ToolUseBlock => isBlock(block, 'tool_use'))
  if (calls.length > 0) return { kind: 'called-tools', response, json, calls, unreadable }
  const text = response.content.flatMap((block) => (isBlock(block, 'text') ? [block.text] : [])).join('')
  return { kind: 'answered', response, json, text }
}
