import { ProviderError } from '../../errors.ts'
import { providerError, rootMessage, type ApiFailure } from '../api-failure.ts'

// The one place that looks at the SDK's errors. They are told by their fields: the SDK itself may not be loaded yet.

const KEY_CURE = 'Set ANTHROPIC_API_KEY to a valid key.'

export function toProviderError(error: unknown): ProviderError {
  return error instanceof ProviderError ? error : providerError(readFailure(error), KEY_CURE, error)
}

function readFailure(error: unknown): ApiFailure {
  const fields: { readonly [name: string]: unknown } =
    typeof error === 'object' && error !== null ? { ...error } : {}
  const { status, error: body, headers, requestID } = fields
  return {
    status: typeof status === 'number' ? status : undefined,
    message: rootMessage(error),
    body,
    headers: headers instanceof Headers ? headers : undefined,
    requestId: typeof requestID === 'string' ? requestID : undefined,
  }
}
