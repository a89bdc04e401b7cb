import type { BuiltRequest } from '../../request/build-request.ts'
import { messageBody, type EntryBody } from '../../situation/session.ts'
import type { MessageEntry } from '../../transcript/entry.ts'
import type { CollectedResponse } from './collect-response.ts'

/** An answer in the form in which it is appended, with what we know about its request. */
export function answerBody(
  {
    response,
    json,
    requestId,
    breaksSeal,
  }: Pick<CollectedResponse, 'response' | 'json' | 'requestId' | 'breaksSeal'>,
  built: Pick<BuiltRequest, 'under' | 'estimate'>,
): EntryBody<MessageEntry> {
  return messageBody(response, 'model', {
    json,
    responseId: response.id,
    model: response.model,
    usage: response.usage,
    // Thinking after something that we repaired is no longer valid. Without `under`, none of the answer's thinking is sent again.
    ...(breaksSeal ? {} : { under: built.under }),
    sentEstimate: built.estimate,
    ...(requestId === undefined ? {} : { requestId }),
  })
}
