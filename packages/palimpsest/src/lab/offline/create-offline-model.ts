import { ProviderError } from '../../errors.ts'
import type { StreamModel } from '../../ports.ts'
import type { JsonText } from '../../wire/json.ts'
import { parseRequest } from '../../wire/parse.ts'
import type { MessagesRequest } from '../../wire/request.ts'
import { problemText } from '../../wire/shape.ts'

/** The model name that selects the embedded model. */
export const OFFLINE_MODEL = 'palimpsest-offline'

/** Holds no state: the same request gives the same bytes. */
export function createOfflineModel(): StreamModel {
  return async function* ({ body, model }, signal) {
    signal.throwIfAborted()
    const request = readRequest(body)
    // Most code that names this model never calls it, so its word lists and rules load only when it answers.
    const [{ chooseReply }, { replyEvents }] = await Promise.all([
      import('./choose-reply.ts'),
      import('./reply-events.ts'),
    ])
    yield* replyEvents({ body, model }, chooseReply(request))
  }
}

function readRequest(body: JsonText): MessagesRequest {
  const parsed = parseRequest(parseJson(body))
  if (parsed.ok) return parsed.value
  throw invalid(`The request is not valid: ${problemText(parsed.problem)}`)
}

function parseJson(body: JsonText): unknown {
  try {
    return JSON.parse(body)
  } catch (cause) {
    throw invalid('The request is not JSON.', { cause })
  }
}

/** The status that the Messages API answers with in this case. */
const INVALID_STATUS = 400

function invalid(message: string, options: ErrorOptions = {}): ProviderError {
  return new ProviderError({ kind: 'invalid-request', status: INVALID_STATUS }, message, options)
}
