import type { ProviderError } from '../../errors.ts'
import { ownError, providerError, rootMessage, type ApiFailure, type Cures } from '../api-failure.ts'

// The only place that looks at the SDK's errors. They are recognized by their fields, since the SDK may not be loaded yet.

export function toProviderError(error: unknown, cures: Cures): ProviderError {
  return ownError(error) ?? providerError(readFailure(error), cures, error)
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
