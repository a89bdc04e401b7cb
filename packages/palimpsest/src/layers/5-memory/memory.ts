// A memory: one fact that outlasts its conversation, and how it became known.

export const MEMORY_TYPES = ['user', 'feedback', 'project', 'reference'] as const
export type MemoryType = (typeof MEMORY_TYPES)[number]

/** From the most trusted to the least. `confirmed`: someone else said it, and the user agreed. */
export const TRUSTS = ['user', 'confirmed', 'model', 'tool'] as const
export type Trust = (typeof TRUSTS)[number]

/** A message that a memory rests on. */
export interface MemorySource {
  readonly session: string
  readonly message: string
}

export interface Memory {
  /** Name of its file, without `.md`. */
  readonly name: string
  /** One line: what the index says about it. */
  readonly description: string
  readonly type: MemoryType
  readonly source: readonly MemorySource[]
  readonly trust: Trust
  /** ISO times. */
  readonly created: string
  readonly verified: string
  /** When it stopped holding; undefined while it holds. */
  readonly ended?: string | undefined
  /** What ended it: the name of a memory, or a reason. */
  readonly endedBy?: string | undefined
  /** Lines of the front matter that have no meaning here. They stay as they are. */
  readonly other: readonly string[]
  readonly body: string
}

/** Everything that it says, as one text. */
export function memoryText({ description, body }: Pick<Memory, 'description' | 'body'>): string {
  return body === '' ? description : `${description}\n${body}`
}
