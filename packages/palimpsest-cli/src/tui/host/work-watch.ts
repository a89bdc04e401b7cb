import type { ToolOutput } from 'palimpsest/loop'

import type { ToolWatch } from '../../agent/tools/watch-tools.ts'
import { tailLines } from '../text/output-lines.ts'
import type { StyledLine } from '../text/styled-line.ts'

// What the calls of a turn are doing: since when they run, what they print, how long they took. None of it is kept.

export interface EndedWork {
  readonly tookMs: number
  readonly output: ToolOutput
}

export interface WorkWatch extends ToolWatch {
  /** The end of what the newest running call printed. */
  readonly printing: (columns: number) => readonly StyledLine[]
  /** Returns the result once, then forgets it. */
  readonly takeEnded: (toolUseId: string) => EndedWork | undefined
}

const SHOWN_LINES = 6
/** More than the shown lines hold on any screen. */
const TAIL_CHARS_MAX = 8_000

interface Running {
  readonly since: number
  tail: string
}

/** `changed` is called with the time when a call begins, and without it when a call prints or ends. */
export function createWorkWatch(now: () => number, changed: (since?: number) => void): WorkWatch {
  const running = new Map<string, Running>()
  const ended = new Map<string, EndedWork>()
  return {
    started: (id) => {
      const since = now()
      running.set(id, { since, tail: '' })
      changed(since)
    },
    printed: (id, chunk) => {
      const work = running.get(id)
      if (!work) return
      work.tail = (work.tail + Buffer.from(chunk).toString('utf8')).slice(-TAIL_CHARS_MAX)
      changed()
    },
    ended: (id, output) => {
      const work = running.get(id)
      running.delete(id)
      if (work) ended.set(id, { tookMs: now() - work.since, output })
      changed()
    },
    printing: (columns) => {
      const newest = [...running.values()].findLast(({ tail }) => tail !== '')
      return newest ? tailLines(newest.tail, SHOWN_LINES, columns) : []
    },
    takeEnded: (id) => {
      const work = ended.get(id)
      ended.delete(id)
      return work
    },
  }
}
