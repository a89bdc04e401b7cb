import { ProviderError } from '../../errors.ts'
import { parseOverflow } from '../../tokens/overflow.ts'
import { isJsonObject } from '../../wire/json.ts'
import { ownError, providerError, rootMessage, type ApiFailure, type Cures } from '../api-failure.ts'

// The only place that looks at the SDK's errors. They are recognized by their fields.

/** A server that cannot take so long a prompt may report it as its own fault. */
const INVALID_STATUS = 400

export function toChatError(error: unknown, cures: Cures): ProviderError {
  return ownError(error) ?? streamFault(error) ?? providerError(readFailure(error), cures, error)
}

/** The SDK's names for what it cannot read, and what they mean. An overflow may be hidden in them. */
const STREAM_FAULTS: { readonly [name: string]: readonly ['bad-output' | 'transport', string] } = {
  AI_InvalidResponseDataError: ['transport', 'The answer was cut off before its end.'],
  AI_JSONParseError: [
    'bad-output',
    'The server sent a piece of an answer that is not JSON. Check the base URL.',
  ],
  AI_TypeValidationError: [
    'bad-output',
    'The server sent a piece of an answer that is not a chat completion. Check the base URL.',
  ],
  AI_EmptyResponseBodyError: ['bad-output', 'The server sent an empty answer. Check the base URL.'],
}

function streamFault(error: unknown): ProviderError | undefined {
  if (!(error instanceof Error) || parseOverflow(error.message) !== undefined) return undefined
  const [kind, text] = STREAM_FAULTS[error.name] ?? []
  return kind === undefined || text === undefined
    ? undefined
    : new ProviderError({ kind }, text, { cause: error })
}

function readFailure(error: unknown): ApiFailure {
  const fields: { readonly [name: string]: unknown } =
    typeof error === 'object' && error !== null ? { ...error } : {}
  const body = bodyOf(error, fields)
  const headers = headersOf(fields['responseHeaders'])
  const overflows = parseOverflow(body ?? messageOf(error)) !== undefined
  return {
    status: overflows ? INVALID_STATUS : statusOf(fields),
    message: messageOf(error),
    body,
    headers,
    requestId: headers?.get('x-request-id') ?? undefined,
  }
}

/** An error inside a stream is the server's object, without a status; its code may be one. */
function statusOf(fields: { readonly [name: string]: unknown }): number | undefined {
  const { statusCode, code } = fields
  // A failure after a good status comes from the connection, or from what came over it.
  if (typeof statusCode === 'number') return statusCode >= INVALID_STATUS ? statusCode : undefined
  return typeof code === 'number' && code >= INVALID_STATUS ? code : undefined
}

function bodyOf(error: unknown, { responseBody }: { readonly [name: string]: unknown }): unknown {
  if (!(error instanceof Error)) return isJsonObject(error) ? { error } : undefined
  if (typeof responseBody !== 'string') return undefined
  try {
    return JSON.parse(responseBody)
  } catch {
    // Not every server answers in JSON; its text is all there is.
    return { message: responseBody }
  }
}

function messageOf(error: unknown): string {
  if (isJsonObject(error) && typeof error['message'] === 'string') return error['message']
  return rootMessage(error)
}

function headersOf(value: unknown): Headers | undefined {
  if (!isJsonObject(value)) return undefined
  const pairs = Object.entries(value).filter((pair): pair is [string, string] => typeof pair[1] === 'string')
  return new Headers(pairs)
}
