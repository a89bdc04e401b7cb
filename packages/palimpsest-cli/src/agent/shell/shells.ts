import { startShell, type RunningShell, type ShellCommand, type ShellEnd } from './start-shell.ts'

// The shells of one conversation: those that run now, and those in the background, by id.

export interface BackgroundShell {
  readonly id: string
  readonly command: string
  readonly shell: RunningShell
  /** Undefined while it runs. */
  readonly end: () => ShellEnd | undefined
  /** The last part of what it printed, for viewers; it stays available to the reader of the whole output. */
  readonly recent: () => string
}

export interface Shells {
  readonly start: (command: ShellCommand) => RunningShell
  /** Undefined if too many already run. */
  readonly startBackground: (command: ShellCommand) => BackgroundShell | undefined
  readonly find: (id: string) => BackgroundShell | undefined
  readonly ids: () => readonly string[]
  /** Calls the listener for each shell started in the background. There is only one listener. */
  readonly onBackground: (listen: (shell: BackgroundShell) => void) => void
  /** Ends everything that was started here. To be called when the conversation is left. */
  readonly killAll: () => Promise<void>
}

/** A person would lose track of more. */
export const BACKGROUND_MAX = 16
/** About one screen. */
const RECENT_BYTES = 4_000

export function createShells(): Shells {
  const background = new Map<string, BackgroundShell>()
  const started = new Set<RunningShell>()
  let counter = 0
  let listener: (shell: BackgroundShell) => void = () => undefined
  const start = (command: ShellCommand): RunningShell => {
    const shell = startShell(command)
    started.add(shell)
    void shell.ended.then(() => {
      if (!shell.hasLeftovers()) started.delete(shell)
    })
    return shell
  }
  return {
    start,
    startBackground: (command) => {
      const running = [...background.values()].filter(({ shell }) => shell.isRunning())
      if (running.length >= BACKGROUND_MAX) return undefined
      let recent = Buffer.alloc(0)
      const onOutput = (chunk: Uint8Array): void => {
        recent = Buffer.concat([recent, chunk]).subarray(-RECENT_BYTES)
        command.onOutput?.(chunk)
      }
      const shell = start({ ...command, onOutput })
      const id = `shell_${++counter}`
      let end: ShellEnd | undefined
      void shell.ended.then((value) => {
        end = value
      })
      const entry = {
        id,
        command: command.command,
        shell,
        end: () => end,
        recent: () => recent.toString('utf8'),
      }
      background.set(id, entry)
      listener(entry)
      return entry
    },
    find: (id) => background.get(id),
    ids: () => [...background.keys()],
    onBackground: (listen) => {
      listener = listen
    },
    killAll: async () => {
      for (const shell of started) shell.kill()
      await Promise.all([...started].map(({ ended }) => ended))
    },
  }
}
