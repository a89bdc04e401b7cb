// A memory: one fact that outlasts its conversation, and how it came to be known.

export const MEMORY_TYPES = ['user', 'feedback', 'project', 'reference'] as const
export type MemoryType = (typeof MEMORY_TYPES)[number]

/** From the most trusted to the least. `confirmed`: somebody else said it, and the user agreed. */
export const TRUSTS = ['user', 'confirmed', 'model', 'tool'] as const
export type Trust = (typeof TRUSTS)[number]

/** A message that a memory rests on. */
export interface MemorySource {
  readonly session: string
  readonly message: string
}

export interface Memory {
  /** Of its file, without `.md`. */
  readonly name: string
  /** One line: what the index says of it. */
  readonly description: string
  readonly type: MemoryType
  readonly source: readonly MemorySource[]
  readonly trust: Trust
  /** ISO times. */
  readonly created: string
  readonly verified: string
  /** It no longer holds since then. */
  readonly ended?: string | undefined
  /** What ended it: the name of a memory, or a reason. */
  readonly endedBy?: string | undefined
  /** Lines of the front matter that have no meaning here. They stay as they are. */
  readonly other: readonly string[]
  readonly body: string
}

/** All that it says, as one text. */
export function memoryText({ description, body }: Pick<Memory, 'description' | 'body'>): string {
  return body === '' ? description : `${description}\n${body}`
}
