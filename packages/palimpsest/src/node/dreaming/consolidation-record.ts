import { stat, unlink, type FileHandle } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { ConsolidationRecord } from '../../ports.ts'
import { writeAtomically } from '../files/atomic-write.ts'
import { makeFolder, requireInside } from '../files/inside-home.ts'
import { readPlainText } from '../files/plain-file.ts'
import { hasCode, toStorageError } from '../files/to-storage-error.ts'
import { parseHolder, printHolder } from './holder-text.ts'

const RECORD_FILE = '.consolidate-lock'
/** It names one process, so it is small. */
const RECORD_BYTES_MAX = 4096

/**
 * `.consolidate-lock` in a memory folder. Its modification time is that of the last consolidation; its text names the process that runs one
 * now, and is empty if none does.
 */
export function createConsolidationRecord(home: string, memoryFolder: string): ConsolidationRecord {
  const path = join(memoryFolder, RECORD_FILE)
  const place = async (text: string, ms: number): Promise<void> => {
    await makeFolder(home, memoryFolder)
    // The file has its time before it appears, so a reader always sees both.
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
