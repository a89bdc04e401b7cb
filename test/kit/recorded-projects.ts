import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { half } from '../../packages/palimpsest/src/lab/replay/half.ts'
import { RECORDED_DATA } from './recorded.ts'

// The recorded sessions of both sets, by project. Sessions of one project share files, habits and people, so all of them are for tuning
// or all for reporting.

const INDEXES = { sessions: 'INDEX.tsv', 'sessions-2': 'INDEX-2.tsv' } as const

/** Both sets are there. */
export const hasBothSets = Object.values(INDEXES).every((name) => existsSync(join(RECORDED_DATA, name)))

/** To be put at the end of a title. */
export const bothSetsNote = hasBothSets
  ? ''
  : ' (skipped: not both sets of recorded sessions at ../shared/data)'

export interface ProjectSession {
  /** Below `RECORDED_DATA`. */
  readonly session: string
  readonly project: string
  readonly half: ReturnType<typeof half>
  readonly bytes: number
}

export function projectSessions(): ProjectSession[] {
  return hasBothSets ? Object.entries(INDEXES).flatMap(([folder, index]) => rowsOf(folder, index)) : []
}

/** The first index has no column for the project; the second names the repository without its owner. */
function rowsOf(folder: string, index: string): ProjectSession[] {
  const [head = '', ...lines] = readFileSync(join(RECORDED_DATA, index), 'utf8').trim().split('\n')
  const names = head.split('\t')
  return lines.map((line) => {
    const cells = line.split('\t')
    const cell = (name: string): string => cells[names.indexOf(name)] ?? ''
    const project = cell('project') || cell('source_repo').slice(cell('source_repo').lastIndexOf('/') + 1)
    return {
      session: `${folder}/${cell('path')}`,
      project,
      half: half(project),
      bytes: Number(cell('bytes')),
    }
  })
}
