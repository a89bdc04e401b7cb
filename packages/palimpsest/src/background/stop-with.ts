/** A signal that aborts with another one, if there is one, or before it. */
export function stopWith(outer: AbortSignal | undefined): {
  readonly signal: AbortSignal
  readonly stop: () => void
} {
  const own = new AbortController()
  const pass = (): void => own.abort(outer?.reason)
  if (outer?.aborted) pass()
  else outer?.addEventListener('abort', pass, { once: true })
  return {
    signal: own.signal,
    stop: () => {
      outer?.removeEventListener('abort', pass)
      own.abort()
    },
  }
}
