import { StorageError } from '../../errors.ts'
import { isBusy, isDamage, openDatabase, removeIndexFile, type IndexDatabase } from './index-database.ts'

// The index while it is needed. Whatever is wrong with it, a caller gets no error: the index is built again, or not used.

export interface DatabaseUse {
  /** Undefined if there is no usable index now. */
  readonly use: <T>(work: (db: IndexDatabase) => Promise<T>) => Promise<T | undefined>
  readonly close: () => void
}

export interface IndexFolder {
  readonly home: string
  /** The project's folder below the home. */
  readonly folder: string
  /** Receives one line for the trace. */
  readonly onTrace?: ((text: string) => void) | undefined
}

export function createDatabaseUse({ home, folder, onTrace }: IndexFolder): DatabaseUse {
  let open: IndexDatabase | undefined
  let isClosed = false
  const trace = onTrace ?? (() => undefined)
  const close = (): void => {
    open?.close()
    open = undefined
  }
  const reopen = async (): Promise<IndexDatabase | undefined> => {
    if (open && !open.isInPlace()) close()
    open ??= await openDatabase(home, folder)
    if (isClosed) close()
    return open
  }
  const tryOnce = async <T>(work: (db: IndexDatabase) => Promise<T>): Promise<T | undefined> => {
    const db = await reopen()
    return db && (await work(db))
  }
  return {
    use: async (work) => {
      if (isClosed) return undefined
      try {
        try {
          return await tryOnce(work)
        } catch (error) {
          if (!isDamage(error)) throw error
          trace(`the recall index was damaged and is built again (${sentenceOf(error)})`)
          const damaged = open
          removeIndexFile(folder, damaged)
          close()
          return await tryOnce(work)
        }
      } catch (error) {
        close()
        if (!isBusy(error)) trace(`the recall index is not used: ${sentenceOf(error)}`)
        if (isExpected(error)) return undefined
        throw error
      }
    },
    close: () => {
      isClosed = true
      close()
    },
  }
}

/** Errors of disks, locks and SQLite. Anything else is our own mistake. */
function isExpected(error: unknown): boolean {
  if (error instanceof StorageError) return true
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
}

function sentenceOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
