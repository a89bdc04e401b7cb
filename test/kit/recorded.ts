import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { readSessionText } from '../../packages/palimpsest/src/lab/replay/read/read-session.ts'
import type { RecordedSession } from '../../packages/palimpsest/src/lab/replay/read/recorded-session.ts'

// Recorded sessions of real agents stand outside the project and are never part of it. A test that needs them is skipped, and says so.

/** With `sessions`, `sessions-2` and an index of each. */
export const RECORDED_DATA = join(import.meta.dirname, '..', '..', '..', 'shared', 'data')

export const hasRecorded = existsSync(join(RECORDED_DATA, 'INDEX.tsv'))

/** To be put at the end of a title. */
export const recordedNote = hasRecorded ? '' : ' (skipped: no recorded sessions at ../shared/data)'

export interface RecordedRow {
  readonly path: string
  readonly format: string
  readonly messages: number
  readonly humanTurns: number
  readonly toolCalls: number
  readonly usageRecords: number
  readonly maxPromptTokens: number
  readonly bytes: number
  readonly models: readonly string[]
}

export function recordedRows(): RecordedRow[] {
  if (!hasRecorded) return []
  const [head = '', ...lines] = readFileSync(join(RECORDED_DATA, 'INDEX.tsv'), 'utf8').trim().split('\n')
  const names = head.split('\t')
  return lines.map((line) => {
    const cells = line.split('\t')
    const cell = (name: string): string => cells[names.indexOf(name)] ?? ''
    return {
      path: cell('path'),
      format: cell('format'),
      messages: Number(cell('messages')),
      humanTurns: Number(cell('human_turns')),
      toolCalls: Number(cell('tool_calls')),
      usageRecords: Number(cell('usage_records')),
      maxPromptTokens: Number(cell('max_prompt_tokens_reported')),
      bytes: Number(cell('bytes')),
      models: cell('models').split(','),
    }
  })
}

/** All of them in the soak. In CI the named ones: enough to show once what is said of each. */
export function recordedSome(paths: readonly string[]): RecordedRow[] {
  return recordedRows().filter(({ path }) => process.env['SOAK'] || paths.includes(path))
}

/** A small one of each format, with images, a branch, calls without an answer, compactions and clearings among them. */
export const OF_EACH_FORMAT = [
  'claude-code/entireio-cli/b6-f735fbac66-0.jsonl',
  'claude-code/kimi-cli/28-db10720a96-0.jsonl',
  'codex/agentv/00-34f597b72d-1.jsonl',
  'opencode/nimbus/5c-64e86a2232-0.json',
  'pi/pi-mono/before-compaction.jsonl',
] as const

export async function readRecorded(row: RecordedRow): Promise<RecordedSession> {
  return readRecordedFile(recordedPath(row))
}

/** At once: in chunks it takes half as long again. */
export function readRecordedFile(path: string): RecordedSession {
  return readSessionText(readFileSync(path, 'utf8'))
}

export function recordedPath(row: RecordedRow): string {
  return join(RECORDED_DATA, 'sessions', row.path)
}
