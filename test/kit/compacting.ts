import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import type { ScriptStep } from '../../packages/palimpsest/src/lab/simulator/index.ts'
import type { JsonObject } from '../../packages/palimpsest/src/wire/json.ts'
import { call, jsonLines, put, text, type Bench, type Ran } from './headless.ts'

// A session of the command that fills its window: files are read, a list is kept, and long answers follow until it must be compacted.

/** Stands in requests for a summary, and nowhere else. */
export const SUMMARY_ASKED = 'Answer with text only. Do not call any tool'
/** At 60K a conversation compacts at 50,100 tokens. */
export const WINDOW = '60000'

const LONG_REPEATS = 400
/** The window is full when they have been said, and not before. */
export const ROUNDS_TO_FILL = 7

/** About 7,000 tokens that occur once. */
export function longText(name: string): string {
  const lines = Array.from(
    { length: LONG_REPEATS },
    (_, i) => `Line ${i} of ${name} says nothing new at all.`,
  )
  return lines.join('\n')
}

export function summaryStep(words: string): ScriptStep {
  const answer = `<analysis>All of it.</analysis>\n<summary>\n1. Primary request and intent:\n   ${words}\n</summary>`
  return { content: [text(answer)], when: { bodyContains: SUMMARY_ASKED } }
}

/**
 * So many long answers, each with a call after it so that the turn goes on; the last ends it. A file that is not there costs no process.
 * Where a failed call would show, another call takes its place.
 */
export function longAnswers(
  name: string,
  count: number,
  callAfter: (i: number) => ReturnType<typeof call> = (i) => call('Read', { file_path: `${name}-${i}.txt` }),
): readonly ScriptStep[] {
  return Array.from({ length: count }, (_, i) => ({
    content: [text(longText(`${name} ${i}`)), callAfter(i)],
  }))
}

export function todos(...items: readonly (readonly [string, string])[]): JsonObject {
  return { todos: items.map(([content, status]) => ({ content, status, activeForm: content })) }
}

/** Summaries are asked for when they are needed, not left to the provider and not made in time: the script foresees each request. */
export async function askForSummaries(bench: Pick<Bench, 'home'>): Promise<void> {
  await switchOff(bench, 'server-compaction', 'background-calls')
}

export async function switchOff(bench: Pick<Bench, 'home'>, ...flags: readonly string[]): Promise<void> {
  await setFlags(bench, Object.fromEntries(flags.map((flag) => [flag, false])))
}

/** The file of flags, anew. */
export async function setFlags(
  bench: Pick<Bench, 'home'>,
  values: { readonly [flag: string]: boolean | number },
): Promise<void> {
  const features = Object.fromEntries(
    Object.entries(values).map(([flag, defaultValue]) => [flag, { defaultValue }]),
  )
  await put(join(bench.home, 'flags.json'), JSON.stringify({ features }))
}

/** Settings of the user. */
export async function settings(bench: Pick<Bench, 'home'>, value: JsonObject): Promise<void> {
  await put(join(bench.home, 'settings.json'), JSON.stringify(value))
}

/** A script that hooks run: in the user's own folder, as they lie there. */
export async function script(bench: Pick<Bench, 'userHome'>, name: string, body: string): Promise<string> {
  const path = join(bench.userHome, name)
  await writeFile(path, `#!/bin/bash\n${body}\n`, { mode: 0o755 })
  return path
}

/** The events that hooks wrote down, one JSON object a line. */
export async function eventsIn(path: string): Promise<readonly JsonObject[]> {
  return jsonLines(await readFile(path, 'utf8').catch(() => ''))
}

/** A whole run in the small window, its lines read. */
export async function stream(
  bench: Bench,
  args: readonly string[],
  { window = WINDOW, ...env }: { readonly window?: string; readonly [name: string]: string | undefined } = {},
): Promise<Ran & { readonly lines: readonly JsonObject[] }> {
  const ran = await bench.run([...args, '--window', window, '--output-format', 'stream-json'], { env })
  return { ...ran, lines: jsonLines(ran.out) }
}
