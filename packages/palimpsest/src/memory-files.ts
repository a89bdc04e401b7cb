import type { Hash } from './wire/hash.ts'

// A folder of memories as data: what it holds, how it changes, and what its history notes. The port `MemoryFolder` reads and writes it.

/** Who changed a memory. */
export type MemoryAuthor = 'extract' | 'dream' | 'user' | 'agent'

/** The files of one folder of memories. */
export interface MemoryFiles {
  readonly index: string
  /** By name, without `.md`. */
  readonly texts: ReadonlyMap<string, string>
  /** Files that exist but cannot be used, each with the reason. */
  readonly unusable: ReadonlyMap<string, string>
}

export interface MemoryChange {
  readonly by: MemoryAuthor
  readonly session?: string | undefined
  readonly reason: string
  /** The entry that this one undoes. */
  readonly undoes?: string | undefined
  /** True for an entry that only notes a verification; the history that people see leaves it out. */
  readonly isMark?: boolean | undefined
  /** By name; null deletes the file. */
  readonly texts: ReadonlyMap<string, string | null>
  readonly index: string
}

/** How one file changed: the piece that was removed, and the piece that took its place. */
export interface FilePatch {
  /** A memory's name, or `MEMORY` for the index. */
  readonly file: string
  /** Null if there was no file. */
  readonly before: { readonly hash: Hash; readonly bytes: number } | null
  readonly after: { readonly hash: Hash; readonly bytes: number } | null
  readonly at: number
  readonly removed: string
  readonly added: string
}

/** An entry in a memory folder's history. */
export interface MemoryRecord extends Omit<MemoryChange, 'texts' | 'index'> {
  readonly id: string
  readonly at: number
  readonly changed: readonly FilePatch[]
}

/** A proposal for memory that needs the user's approval. */
export interface PendingMemory {
  readonly id: string
  readonly at: number
  readonly name: string
  readonly description: string
  readonly type: string
  readonly body: string
  readonly why: string
  readonly by: MemoryAuthor
  readonly source: readonly { readonly session: string; readonly message: string }[]
}
