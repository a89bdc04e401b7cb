import type { Entry } from './entry.ts'

/**
 * Whether any entry of a log is such a one. A log only grows, and an undo gives a new one: so each entry is looked at once, and asking before
 * every request costs what was appended since.
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
