import type { DatabaseSync } from 'node:sqlite'

/** Undefined if this Node has no SQLite. Hides its "experimental" warning, which is for developers and not for users of the command. */
export function loadSqlite(): typeof DatabaseSync | undefined {
  const emitWarning = process.emitWarning.bind(process)
  try {
    process.emitWarning = () => undefined
    return process.getBuiltinModule('node:sqlite')?.DatabaseSync
  } catch {
    // Switched off, or built without it: the caller reads the files instead.
    return undefined
  } finally {
    process.emitWarning = emitWarning
  }
}
