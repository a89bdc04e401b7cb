import type { DatabaseSync } from 'node:sqlite'

/** Undefined where this Node has none. Its word that it is an experiment is for who builds on it, not for who uses the command. */
export function loadSqlite(): typeof DatabaseSync | undefined {
  const emitWarning = process.emitWarning.bind(process)
  try {
    process.emitWarning = () => undefined
    return process.getBuiltinModule('node:sqlite')?.DatabaseSync
  } catch {
    // Switched off, or built without it: the files are read instead.
    return undefined
  } finally {
    process.emitWarning = emitWarning
  }
}
