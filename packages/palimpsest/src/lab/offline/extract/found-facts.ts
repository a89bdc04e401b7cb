// Facts about a conversation, from its messages or from a summary of earlier ones.

export interface SessionFacts {
  /** The user's words, in order. */
  readonly requests: readonly string[]
  /** One per path, with the last thing done to it. */
  readonly files: readonly TouchedFile[]
  readonly commands: readonly RunCommand[]
  readonly errors: readonly FoundError[]
  /** The newest list. */
  readonly todos: readonly Todo[]
  /** The last words of each turn. */
  readonly answers: readonly string[]
}

export interface TouchedFile {
  readonly path: string
  readonly operation: 'read' | 'edited' | 'created' | 'written' | 'moved' | 'deleted'
  /** Code of the last change. */
  readonly snippet?: string | undefined
}

export interface RunCommand {
  readonly command: string
  /** `exit 0`, `exit 1`, `failed`, `no result`. */
  readonly outcome: string
}

export interface FoundError {
  readonly text: string
  /** The call that failed. */
  readonly during: string
  /** The same call succeeded later. */
  readonly isResolved: boolean
}

export interface Todo {
  readonly text: string
  readonly status: string
}
