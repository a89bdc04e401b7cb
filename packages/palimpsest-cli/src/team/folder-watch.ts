import { watch } from 'node:fs'

// Whoever waits for others looks when a folder changed, and now and then without being told: not every file system tells.

export interface FolderWatch {
  /** Resolves when something changed since the last time, after a while all the same, and when it is to end. */
  readonly next: (signal: AbortSignal) => Promise<void>
  /** As if something had changed. */
  readonly poke: () => void
  readonly close: () => void
}

/** Leases and deaths are found out by looking; nobody waits for less than this to be seen. */
const LOOK_MS = 2_000

/** `onChange`: told at once, also while nobody waits. */
export function watchFolders(
  folders: readonly string[],
  onChange: () => void = () => undefined,
): FolderWatch {
  let changed = false
  let waiting: (() => void) | undefined
  const poke = (): void => {
    changed = true
    onChange()
    waiting?.()
  }
  const watchers = folders.flatMap((folder) => {
    try {
      const watcher = watch(folder, { persistent: false }, poke)
      // A folder that goes away is looked at all the same.
      watcher.on('error', () => watcher.close())
      return [watcher]
    } catch {
      return []
    }
  })
  return {
    poke,
    next: async (signal) => {
      if (!changed && !signal.aborted)
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, LOOK_MS)
          waiting = () => {
            clearTimeout(timer)
            resolve()
          }
          signal.addEventListener('abort', waiting, { once: true })
        })
      if (waiting) signal.removeEventListener('abort', waiting)
      waiting = undefined
      changed = false
    },
    close: () => {
      for (const watcher of watchers) watcher.close()
    },
  }
}
