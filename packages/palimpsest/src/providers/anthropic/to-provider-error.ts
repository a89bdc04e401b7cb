import { ProviderError } from '../../errors.ts'
import { ownError, providerError, rootMessage, type ApiFailure, type Cures } from '../api-failure.ts'

// The only place that looks at the SDK's errors. They are recognized by their fields, since the SDK may not be loaded yet.

export function toProviderError(error: unknown, cures: Cures): ProviderError {
  return ownError(error) ?? withoutKey(error, cures) ?? providerError(readFailure(error), cures, error)
}

/** The SDK found no key, so it sent nothing. Asking again would not help. */
function withoutKey(error: unknown, { key }: Cures): ProviderError | undefined {
  if (!(error instanceof Error) || !error.message.startsWith('Could not resolve authentication method'))
    return undefined
  return new ProviderError({ kind: 'unauthorized' }, `There is no key for the provider. ${key}`, {
    cause: error,
  })
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
