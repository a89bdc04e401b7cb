import { stat, unlink, type FileHandle } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { ConsolidationRecord } from '../../ports.ts'
import { writeAtomically } from '../files/atomic-write.ts'
import { makeFolder, requireInside } from '../files/inside-home.ts'
import { readPlainText } from '../files/plain-file.ts'
import { hasCode, toStorageError } from '../files/to-storage-error.ts'
import { parseHolder, printHolder } from './holder-text.ts'

const RECORD_FILE = '.consolidate-lock'
/** It names one process. */
const RECORD_BYTES_MAX = 4096

/** `.consolidate-lock` of a memory folder: its time is that of the last consolidation, its text says who is at it, and nothing where nobody is. */
export function createConsolidationRecord(home: string, memoryFolder: string): ConsolidationRecord {
  const path = join(memoryFolder, RECORD_FILE)
  const place = async (text: string, ms: number): Promise<void> => {
    await makeFolder(home, memoryFolder)
    // With its time from the start: whoever sees it sees both.
    await writeAtomically(home, path, async (file: FileHandle) => {
      await file.writeFile(text)
      await file.utimes(ms / 1000, ms / 1000)
    })
  }
  return {
    look: async () => {
      try {
        const { mtimeMs, size } = await stat(path)
        return { lastMs: Math.round(mtimeMs), isHeld: size > 0 }
      } catch (error) {
        if (hasCode(error, 'ENOENT')) return { lastMs: null, isHeld: false }
        throw toStorageError(error, 'look at', path)
      }
    },
    holder: async () => {
      try {
        return parseHolder(await readPlainText(path, RECORD_BYTES_MAX))
      } catch (error) {
        if (hasCode(error, 'ENOENT')) return undefined
        throw toStorageError(error, 'read', path)
      }
    },
    begin: async (holder) => await place(printHolder(holder), holder.at),
    end: async (lastMs) => {
      if (lastMs !== null) return await place('', lastMs)
      try {
        await requireInside(home, dirname(path))
        await unlink(path)
      } catch (error) {
        if (!hasCode(error, 'ENOENT')) throw toStorageError(error, 'delete', path)
      }
    },
  }
}
