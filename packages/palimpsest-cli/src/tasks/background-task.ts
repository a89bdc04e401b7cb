// Work beside a conversation that can be watched and ended: dreams, agents, shell commands.

export type TaskState = 'starting' | 'updating' | 'completed' | 'failed' | 'killed'

export interface TaskStatus {
  readonly state: TaskState
  /** One sentence: what it is doing, or its result. */
  readonly text: string
  readonly toolCount: number
  /** Files that it wrote, each once. */
  readonly files: readonly string[]
  /** What it said and called, newest last. */
  readonly turns: readonly string[]
  readonly startedAt: number
  readonly endedAt?: number | undefined
}

export interface BackgroundTask {
  readonly id: string
  /** `dream`, `agent` or `command`. */
  readonly kind: string
  readonly title: string
  readonly status: () => TaskStatus
  readonly kill: () => void
  /** Resolves when it has ended, however it did. */
  readonly ended: Promise<void>
  /** Path of its transcript, if it has its own. */
  readonly transcript?: string | undefined
  /** Set if the task is an agent. */
  readonly agent?: AgentOfTask | undefined
}

export interface AgentOfTask {
  /** Id of the agent that started it; undefined: the conversation did. */
  readonly parent: string | undefined
  readonly type: string
  readonly description: string
  readonly isBackground: () => boolean
  /** Tokens that the cache did not serve, and US dollars. */
  readonly spent: () => { readonly tokens: number; readonly costUsd: number }
}

export interface Tasks {
  /** Newest first. */
  readonly list: () => readonly BackgroundTask[]
  readonly add: (task: BackgroundTask) => void
  /** Calls `listen` on every change. Only one listener. */
  readonly onChange: (listen: () => void) => void
  readonly changed: () => void
  /** Ends all of them, and waits for them. */
  readonly endAll: () => Promise<void>
}

export function isRunning({ state }: Pick<TaskStatus, 'state'>): boolean {
  return state === 'starting' || state === 'updating'
}

/** A few words for the footer; undefined if nothing runs. */
export function runningText(tasks: readonly BackgroundTask[]): string | undefined {
  const titles = tasks.filter((task) => isRunning(task.status())).map(({ title }) => title)
  return titles.length === 0 ? undefined : `running: ${[...new Set(titles)].join(', ')}`
}

/** How many ended tasks are still listed. */
const ENDED_MAX = 20

export function createTasks(): Tasks {
  let all: readonly BackgroundTask[] = []
  let listener: () => void = () => undefined
  const running = (): readonly BackgroundTask[] => all.filter((task) => isRunning(task.status()))
  return {
    list: () => all,
    add: (task) => {
      const ended = all.filter((one) => !isRunning(one.status())).slice(0, ENDED_MAX)
      all = [task, ...all.filter((one) => isRunning(one.status()) || ended.includes(one))]
      listener()
    },
    onChange: (listen) => {
      listener = listen
    },
    changed: () => listener(),
    endAll: async () => {
      const live = running()
      for (const task of live) task.kill()
      await Promise.all(live.map(({ ended }) => ended))
    },
  }
}
