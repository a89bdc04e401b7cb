import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { half } from '../packages/palimpsest/src/lab/replay/half.ts'
import { isClaudeId } from '../packages/palimpsest/src/wire/model-facts.ts'
import { predictPrompts, type PredictedPrompt } from '../test/kit/predict-prompts.ts'
import { readRecorded, recordedRows, type RecordedRow } from '../test/kit/recorded.ts'

// Writes the figures of docs/tokens.md: every recorded request, predicted from the one before it.
//   node --conditions=x-source bench/recorded-tokens.ts

export const PAGE_PATH = join(import.meta.dirname, '..', 'docs', 'tokens.md')
const BEGIN = '<!-- figures: written by bench/recorded-tokens.ts -->'
const END = '<!-- end of figures -->'

/** An error below this many tokens is judged as if this many had been added: half the requests add less than 500. */
export const FLOOR_TOKENS = 100
/** A prompt may be this far from its prediction before it counts as missed. */
const PROMPT_TOLERANCE = 0.03
const FAR_OFF = 0.25

export interface PredictedSession {
  readonly path: string
  readonly prompts: readonly PredictedPrompt[]
}

export async function predictRecorded(rows: readonly RecordedRow[]): Promise<PredictedSession[]> {
  const sessions: PredictedSession[] = []
  for (const row of rows) sessions.push({ path: row.path, prompts: predictPrompts(await readRecorded(row)) })
  return sessions
}

export interface Accuracy {
  readonly requests: number
  /** Of the part that was estimated, relative to it but to at least `FLOOR_TOKENS`. */
  readonly median: number
  readonly p95: number
  /** The same without a floor. */
  readonly p95Bare: number
  /** Of everything new in the prompt, a reported answer included, without a floor. */
  readonly growthP95: number
  /** Share of prompts predicted more than 3% too small, and too large. */
  readonly under: number
  readonly over: number
  /** Share of requests whose answer had a reported length. */
  readonly outputKnown: number
}

/** Requests after a recorded compaction are left out: what the agent put in besides its summary is not in the log. */
export function measure(prompts: readonly PredictedPrompt[]): Accuracy {
  const judged = prompts.filter((prompt) => !prompt.afterBoundary)
  const share = (test: (prompt: PredictedPrompt) => boolean): number =>
    judged.filter(test).length / judged.length
  return {
    requests: judged.length,
    median: quantile(
      judged.map((prompt) => relativeError(prompt, FLOOR_TOKENS)),
      0.5,
    ),
    p95: quantile(
      judged.map((prompt) => relativeError(prompt, FLOOR_TOKENS)),
      0.95,
    ),
    p95Bare: quantile(
      judged.map((prompt) => relativeError(prompt, 1)),
      0.95,
    ),
    growthP95: quantile(
      judged.map((prompt) => missed(prompt) / Math.max(Math.abs(growth(prompt)), 1)),
      0.95,
    ),
    under: share((prompt) => prompt.predictedTokens < prompt.actualTokens * (1 - PROMPT_TOLERANCE)),
    over: share((prompt) => prompt.predictedTokens > prompt.actualTokens * (1 + PROMPT_TOLERANCE)),
    outputKnown: share((prompt) => prompt.outputKnown),
  }
}

function relativeError(prompt: PredictedPrompt, floor: number): number {
  const estimated = growth(prompt) - (prompt.outputKnown ? prompt.outputTokens : 0)
  return missed(prompt) / Math.max(Math.abs(estimated), floor)
}

function growth(prompt: PredictedPrompt): number {
  return prompt.actualTokens - prompt.previousTokens
}

function missed(prompt: PredictedPrompt): number {
  return Math.abs(prompt.predictedTokens - prompt.actualTokens)
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0
}

export function writeFigures(sessions: readonly PredictedSession[]): string {
  const all = sessions.flatMap((session) => session.prompts)
  const of = (test: (session: PredictedSession) => boolean) =>
    sessions.filter(test).flatMap((session) => session.prompts)
  const groups: readonly (readonly [string, readonly PredictedPrompt[]])[] = [
    ['**all Claude**', all.filter((prompt) => isClaudeId(prompt.model))],
    ['**all others**', all.filter((prompt) => !isClaudeId(prompt.model))],
    ['**half the weights were fitted on**', of((session) => half(session.path) === 'tuning')],
    ['**the other half**', of((session) => half(session.path) === 'held-out')],
    ['**all**', all],
  ]
  const rows = groups.map(([name, prompts]) => accuracyRow(name, prompts))
  return `${HEAD}
${[...writeModelRows(sessions), ...rows].join('\n')}

${describeFarOff(all)}

${describeBoundaries(all)}
`
}

/** One for each model of the sessions. */
export function writeModelRows(sessions: readonly PredictedSession[]): string[] {
  const models = Map.groupBy(
    sessions.flatMap(({ prompts }) => prompts),
    ({ model }) => model,
  )
  return [...models.keys()].toSorted().map((model) => accuracyRow(model, models.get(model) ?? []))
}

const HEAD = `| model | requests | median error | 95th percentile | no floor | of all growth | under by > 3% | over by > 3% | output reported |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |`

function accuracyRow(name: string, prompts: readonly PredictedPrompt[]): string {
  const { requests, median, p95, p95Bare, growthP95, under, over, outputKnown } = measure(prompts)
  const errors = [median, p95, p95Bare, growthP95].map((value) => percent(value, 1))
  return `| ${[name, requests, ...errors, percent(under, 2), percent(over, 2), percent(outputKnown, 0)].join(' | ')} |`
}

function describeFarOff(all: readonly PredictedPrompt[]): string {
  const judged = all.filter((prompt) => !prompt.afterBoundary)
  const far = judged.filter((prompt) => relativeError(prompt, FLOOR_TOKENS) > FAR_OFF)
  const shrank = far.filter((prompt) => growth(prompt) <= 0)
  const grewMore = far.filter((prompt) => growth(prompt) > 0 && prompt.predictedTokens < prompt.actualTokens)
  const median = quantile(grewMore.map(missed), 0.5)
  return `${far.length} of ${judged.length} requests are off by more than 25%. In ${grewMore.length} of them the prompt grew by more than the log shows (by ${median} tokens
in the median): reminders that the client adds unseen, results of hosted searches. In ${shrank.length} it shrank although nothing left the log. The
estimate itself was too high in ${far.length - grewMore.length - shrank.length}.`
}

function describeBoundaries(all: readonly PredictedPrompt[]): string {
  const after = all.filter((prompt) => prompt.afterBoundary)
  const errors = after.map((prompt) => missed(prompt) / prompt.actualTokens)
  return `${after.length} further requests come right after recorded compactions. They are not judged above, because the files and reminders that the client adds again
are not in its log. The same formula is off there by ${percent(quantile(errors, 0.5), 0)} of the prompt in the median.`
}

function percent(share: number, digits: number): string {
  return `${(100 * share).toFixed(digits)}%`
}

export function readFigures(page: string): string {
  return page.slice(page.indexOf(BEGIN) + BEGIN.length, page.indexOf(END)).trim()
}

if (import.meta.main) {
  const page = readFileSync(PAGE_PATH, 'utf8')
  const figures = writeFigures(await predictRecorded(recordedRows()))
  writeFileSync(
    PAGE_PATH,
    `${page.slice(0, page.indexOf(BEGIN))}${BEGIN}\n${figures}${page.slice(page.indexOf(END))}`,
  )
  console.log(`written: ${PAGE_PATH}`)
}
