import type { Entry } from './entry.ts'

/**
 * Whether a log contains a matching entry. A log only grows, and an undo creates a new one. So each entry is checked once, and a call
 * before every request costs only what was appended since.
 */
export function everInLog(isIt: (entry: Entry) => boolean): (log: readonly Entry[]) => boolean {
  const scans = new WeakMap<readonly Entry[], { read: number; found: boolean }>()
  return (log) => {
    const scan = scans.get(log) ?? { read: 0, found: false }
    scans.set(log, scan)
    for (; scan.read < log.length && !scan.found; scan.read++) {
      const entry = log[scan.read]
      scan.found = entry !== undefined && isIt(entry)
    }
    return scan.found
  }
}
