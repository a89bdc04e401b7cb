// Ties an agent to the call that waits for it, until it is let go.

export interface CallLink {
  /** Aborts with the call, or by `abort`. */
  readonly signal: AbortSignal
  readonly abort: () => void
  /** The call no longer waits, so its end no longer ends the agent. */
  readonly letGo: () => void
  /** Resolves when the agent is moved to the background. */
  readonly moved: Promise<'moved'>
  readonly move: () => void
}

/** `call` undefined: no call waits. */
export function linkToCall(call: AbortSignal | undefined): CallLink {
  const stop = new AbortController()
  const abort = (): void => stop.abort()
  if (call?.aborted) abort()
  call?.addEventListener('abort', abort)
  const letGo = (): void => call?.removeEventListener('abort', abort)
  let resolve: (how: 'moved') => void = () => undefined
  const moved = new Promise<'moved'>((settle) => void (resolve = settle))
  const move = (): void => {
    letGo()
    resolve('moved')
  }
  return { signal: stop.signal, abort, letGo, moved, move }
}
