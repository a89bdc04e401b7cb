import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import type { RecordedSession } from '../packages/palimpsest/src/lab/replay/read/recorded-session.ts'
import { judge, REASONS, type Judged, type Reason } from '../test/kit/cache-exceptions.ts'
import { predictCache } from '../test/kit/predict-cache.ts'
import { readRecorded, recordedRows, type RecordedRow } from '../test/kit/recorded.ts'

// Writes docs/recorded-cache.md: what the ledger says recorded requests read from the cache, against what the provider reported.
//   node --conditions=x-source bench/recorded-cache.ts

export const REPORT_PATH = join(import.meta.dirname, '..', 'docs', 'recorded-cache.md')

export interface JudgedSession {
  readonly path: string
  readonly requests: readonly Judged[]
}

/** `onRead` is told of each session that was read, in order. Of other agents than Claude Code none is. */
export async function judgeRecorded(
  rows: readonly RecordedRow[],
  onRead?: (session: RecordedSession) => void,
): Promise<JudgedSession[]> {
  const sessions: JudgedSession[] = []
  for (const row of rows.filter(({ format }) => format === 'claude-code')) {
    const session = await readRecorded(row)
    onRead?.(session)
    const requests = predictCache(session).map(judge)
    sessions.push({ path: row.path.replace('claude-code/', ''), requests })
  }
  return sessions
}

export function writeReport(sessions: readonly JudgedSession[]): string {
  const all = sessions.flatMap((session) => session.requests)
  const { inScope, within, share } = sumUp(all)
  const expired = all.filter((request) => request.explanation.kind === 'expired')
  const sideGap = Math.max(
    ...all
      .filter((request) => request.reason === 'side request')
      .map(({ withSideRequest, reported }) => Math.abs(withSideRequest - reported)),
  )
  const counts = Object.entries(REASONS).flatMap(([reason, text]) => {
    const count = all.filter((request) => request.reason === reason).length
    return count > 0 ? [`| ${reason} | ${count} | ${text} |`] : []
  })
  return `# The ledger against recorded sessions

Written by \`bench/recorded-cache.ts\`; a test compares. The sessions are other people's, recorded with Claude Code, and are not part of
this project.

For every recorded request the ledger (\`docs/cache-accounting.md\`) says how many tokens it reads from the cache, from what earlier requests
left there: its own entries, the look-back, and the lifetimes bought (5 minutes or 1 hour, as the usage reports them). It does not see how
much the request read. Where the cached part of a request ended is known from that request's usage, so sizes of positions are not
guessed; system, tools and instruction files of the first prompt are not recorded and count as one position. On models that do not keep thinking
across turns, thinking of earlier turns is left out of the prompt.

**Of ${all.length} requests, ${inScope} are neither the first of a session nor the first after a recorded compaction nor after a lifetime that ran
out. In ${within} of these (${share}) the prediction is within 1% of the report.** The ledger says of ${expired.length} requests that the lifetime
had run out; in ${expired.filter((request) => !request.inScope).length} of them the provider reported the loss too.

## By session

| session | requests | in scope | within 1% | share | largest gap, tokens |
| --- | --- | --- | --- | --- | --- |
${sessions.map(sessionRow).join('\n')}

*Largest gap*: between prediction and report, among the requests in scope that are within 1%.

## Requests that read something else

| reason | requests | meaning |
| --- | --- | --- |
${counts.join('\n')}

For *side request* the end of the answer is not known from any usage; it is placed by characters between two ends that are. The ledger, given
that request, is then at most ${sideGap} tokens from the report.

| session | request | time (UTC) | since the one before | predicted | reported | reason |
| --- | --- | --- | --- | --- | --- | --- |
${sessions.flatMap(exceptionRows).join('\n')}
`
}

export function sessionRow({ path, requests }: JudgedSession): string {
  const { inScope, within, share, largest } = sumUp(requests)
  return `| ${path} | ${requests.length} | ${inScope} | ${within} | ${share} | ${largest} |`
}

export function sumUp(requests: readonly Judged[]) {
  const inScope = requests.filter((request) => request.inScope)
  const within = inScope.filter((request) => request.within)
  const gaps = within.map(({ predicted, reported }) => Math.abs(predicted - reported))
  return {
    inScope: inScope.length,
    within: within.length,
    ratio: within.length / inScope.length,
    share: `${((100 * within.length) / inScope.length).toFixed(1)}%`,
    largest: Math.max(0, ...gaps),
  }
}

export function exceptionRows({ path, requests }: JudgedSession): string[] {
  return requests.flatMap((request, index) =>
    request.reason === undefined ? [] : [exceptionRow(path, index + 1, request, request.reason)],
  )
}

function exceptionRow(path: string, number: number, request: Judged, reason: Reason): string {
  const time = new Date(request.response.requestedAt).toISOString().slice(0, 19).replace('T', ' ')
  const { gapMs } = request.between
  const since = gapMs === undefined ? '' : `${Math.round(gapMs / 1000)} s`
  return `| ${path} | ${number} | ${time} | ${since} | ${request.predicted} | ${request.reported} | ${reason} |`
}

if (import.meta.main) {
  const report = writeReport(await judgeRecorded(recordedRows()))
  const changed = report !== readOrEmpty(REPORT_PATH)
  writeFileSync(REPORT_PATH, report)
  console.log(changed ? `written: ${REPORT_PATH}` : 'nothing changed')
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
