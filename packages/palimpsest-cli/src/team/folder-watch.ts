import { watch } from 'node:fs'

// Waits for changes in folders, and also looks now and then by itself: not every file system reports changes.

export interface FolderWatch {
  /** Resolves when something changed since the last call, after `LOOK_MS` in any case, and when the signal aborts. */
  readonly next: (signal: AbortSignal) => Promise<void>
  /** Acts as if something had changed. */
  readonly poke: () => void
  readonly close: () => void
}

/** Expired leases and dead processes only show when we look; this is often enough for them. */
const LOOK_MS = 2_000

/** `onChange` is called at once, even while nothing waits. */
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
      // A folder that disappears is still checked at intervals.
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
