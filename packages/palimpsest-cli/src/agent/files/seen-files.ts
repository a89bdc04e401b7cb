// Which files the model has seen, and what they held then. A file is changed only by somebody who knows its content.

export interface SeenFiles {
  readonly note: (path: string, hash: string) => void
  /** The hash of the content last seen. Takes a real path. */
  readonly find: (path: string) => string | undefined
}

/** More files than a conversation reads; the oldest are forgotten first and must be read again before a change. */
const SEEN_MAX = 10_000

export function createSeenFiles(): SeenFiles {
  const hashes = new Map<string, string>()
  return {
    note: (path, hash) => {
      hashes.delete(path)
      hashes.set(path, hash)
      const oldest = hashes.size > SEEN_MAX ? hashes.keys().next() : undefined
      if (oldest?.done === false) hashes.delete(oldest.value)
    },
    find: (path) => hashes.get(path),
  }
}
