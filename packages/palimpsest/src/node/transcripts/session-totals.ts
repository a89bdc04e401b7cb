import type { FileHandle } from 'node:fs/promises'
import type { CostOf } from '../../ports.ts'
import {
  addToTotals,
  NO_TOTALS,
  totalsInHead,
  type RunningTotals,
  type Totals,
} from '../../transcript/totals.ts'
import { decodeBytes, openToRead, readBytes } from './file-lines.ts'
import { findEnd } from './find-end.ts'
import { linesFromEnd, type LineSpan } from './lines-from-end.ts'

/** Room before the totals, for the longest path of a working folder, escaped. */
const SUMS_BYTES = 1 << 15

const COUNTED: ReadonlySet<string> = new Set(['message', 'boundary', 'spent'])

/**
 * The totals of a session. Our newest message line carries them; if the newest lines are another agent's, they are read one by one, back
 * to the first line that has totals.
 */
export async function readTotals(
  handle: FileHandle,
  lastEnd: number,
  costOf: CostOf,
): Promise<RunningTotals> {
  const later: LineSpan[] = []
  let totals: RunningTotals = NO_TOTALS
  for await (const line of linesFromEnd(handle, lastEnd)) {
    if (!('link' in line) || line.link.sidechain) continue
    if (!COUNTED.has(line.link.kind)) continue
    const known = line.link.kind === 'message' ? await totalsAt(handle, line) : undefined
    if (known) {
      totals = known
      break
    }
    later.push(line)
  }
  for (const line of later.toReversed()) {
    const entry = decodeBytes(await readBytes(handle, line.offset, line.offset + line.length))
    if (entry.kind === 'problem') continue
    totals = addToTotals(
      totals,
      entry,
      entry.kind === 'message' || entry.kind === 'spent' ? costOf(entry) : 0,
    )
  }
  return totals
}

/** The same for a file that is not open. */
export async function sessionTotals(path: string, costOf: CostOf): Promise<Totals> {
  const handle = await openToRead(path)
  try {
    const { lastEnd } = await findEnd(handle, (await handle.stat()).size)
    return await readTotals(handle, lastEnd, costOf)
  } finally {
    await handle.close()
  }
}

async function totalsAt(handle: FileHandle, { offset, length }: LineSpan): Promise<Totals | undefined> {
  const head = await readBytes(handle, offset, offset + Math.min(length, SUMS_BYTES))
  return totalsInHead(head.toString('utf8'))
}
