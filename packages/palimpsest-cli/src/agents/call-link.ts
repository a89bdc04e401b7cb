// What ties an agent to the call that waits for it, until somebody lets it go.

export interface CallLink {
  /** Ends with the call, or by `abort`. */
  readonly signal: AbortSignal
  readonly abort: () => void
  /** Nobody waits any more: the call's end is not its own. */
  readonly letGo: () => void
  /** Resolves when it was let go to the background. */
  readonly moved: Promise<'moved'>
  readonly move: () => void
}

/** `call`: undefined where none waits. */
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
