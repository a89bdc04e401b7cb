import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import type { ScriptBlock, ScriptStep } from '../../packages/palimpsest/src/lab/simulator/index.ts'
import type { CommandBench } from '../kit/command-bench.ts'
import { call, text, thinking } from '../kit/headless.ts'

// Scripted sessions for the walk of the flags: each gives some mechanism an occasion, through the command.

/** Returns what the command told beside its answers. */
export type WalkSession = (bench: CommandBench) => Promise<string>

/** Has no signed compaction of its own. */
const PLAIN_MODEL = 'claude-opus-5'
/** Has. */
const SIGNING_MODEL = 'claude-opus-5-5'
const SMALL_WINDOW = ['--window', '60000']
/** Of each file, so that all that is read is well below where that window compacts. */
const SMALL_WINDOW_CHARS = 3_500
const MINUTE_MS = 60_000
const NOTES: ScriptStep = {
  when: { source: 'session-memory' },
  content: [text(`<notes># Current state\n${'The work goes on as planned.\n'.repeat(60)}</notes>`)],
  times: 999,
}
const SUMMARY: ScriptStep = {
  when: { source: 'compact' },
  content: [text(`<summary>${'The work goes on as planned. '.repeat(150)}</summary>`)],
  times: 999,
}
const BESIDE = [NOTES, SUMMARY]

/** A turn of these answers and a last word. */
async function turn(
  bench: CommandBench,
  model: string,
  answers: readonly (readonly ScriptBlock[])[],
  args: readonly string[] = [],
): Promise<string> {
  const steps = [...answers, [text('Done.')]].map((content): ScriptStep => ({
    when: { source: 'main' },
    content,
  }))
  bench.simulator.addSteps(steps)
  const always = ['-p', 'go on', '--max-turns', '999', '--allowed-tools', 'Bash']
  return (await bench.run([...always, ...args], { PALIMPSEST_MODEL: model })).err
}

const glances = (count: number, name = 'step'): readonly (readonly ScriptBlock[])[] =>
  Array.from({ length: count }, (_, i) => [
    text(`One more ${name}, number ${i}.`),
    call('Glob', { pattern: `${name}-${i}-*` }),
  ])

/** The same without a process for each. */
const quickGlances = (count: number): readonly (readonly ScriptBlock[])[] =>
  Array.from({ length: count }, (_, i) => [
    text(`One more step, number ${i}.`),
    call('Read', { file_path: `step-${i}.txt` }),
  ])

async function layFile({ folder }: CommandBench, name: string, chars: number): Promise<void> {
  const line = (i: number): string => `export const ${name.replaceAll(/\W/g, '_')}_${i} = compute(${i * 7})`
  const lines = Array.from({ length: Math.ceil(chars / 40) }, (_, i) => line(i))
  await writeFile(join(folder, name), lines.join('\n').slice(0, chars))
}

const words = (name: string, lines: number): string =>
  Array.from({ length: lines }, (_, i) => `Line ${i} of ${name} says nothing new at all.`).join('\n')

/** About 7,000 tokens each. */
const speeches = (count: number, lines = 400): readonly (readonly ScriptBlock[])[] =>
  Array.from({ length: count }, (_, i) => [
    text(words(`part ${i}`, lines)),
    call('Glob', { pattern: `part-${i}-*` }),
  ])

export const largeResult: WalkSession = async (bench) => {
  await layFile(bench, 'large.txt', 150_000)
  return await turn(bench, PLAIN_MODEL, [[call('Bash', { command: 'cat large.txt' })], ...glances(8)])
}

export const wideAnswer: WalkSession = async (bench) => {
  const names = Array.from({ length: 6 }, (_, i) => `wide-${i}.txt`)
  for (const name of names) await layFile(bench, name, 45_000)
  return await turn(bench, PLAIN_MODEL, [
    names.map((name) => call('Bash', { command: `cat ${name}` })),
    ...glances(8),
  ])
}

export const fullWindow: WalkSession = async (bench) => {
  bench.simulator.addSteps(BESIDE)
  const names = Array.from({ length: 4 }, (_, i) => `late-${i}.ts`)
  for (const name of names) await layFile(bench, name, 14_000)
  return await turn(
    bench,
    PLAIN_MODEL,
    [...speeches(4), names.map((name) => call('Read', { file_path: name })), ...glances(4)],
    SMALL_WINDOW,
  )
}

/** Five files, five others in part, then these and five more whole. */
async function readMuch(bench: CommandBench, args: readonly string[] = [], chars = 5_000): Promise<void> {
  for (let i = 0; i < 15; i++) await layFile(bench, `file-${i}.ts`, chars)
  const round = (from: number, part = {}) =>
    Array.from({ length: 5 }, (_, i) => call('Read', { file_path: `file-${from + i}.ts`, ...part }))
  const part = { offset: 10, limit: 60 }
  await turn(bench, PLAIN_MODEL, [round(5), round(0, part), round(0), round(10)], args)
}

export const longPause: WalkSession = async (bench) => {
  await readMuch(bench)
  bench.wait(62 * MINUTE_MS)
  return await turn(bench, PLAIN_MODEL, quickGlances(8), ['--continue'])
}

/** What is newest in so small a window is less. */
export const longPauseSmall: WalkSession = async (bench) => {
  await readMuch(bench, SMALL_WINDOW, SMALL_WINDOW_CHARS)
  bench.wait(62 * MINUTE_MS)
  return await turn(bench, PLAIN_MODEL, glances(8), ['--continue', ...SMALL_WINDOW])
}

export const manyPauses: WalkSession = async (bench) => {
  await readMuch(bench)
  let told = ''
  for (let i = 0; i < 6; i++) {
    bench.wait(15 * MINUTE_MS)
    told += await turn(bench, PLAIN_MODEL, glances(2, `after-${i}`), ['--continue'])
  }
  return told
}

async function readOneByOne(
  bench: CommandBench,
  count: number,
  chars: number,
  model: string,
): Promise<string> {
  bench.simulator.addSteps(BESIDE)
  for (let i = 0; i < count; i++) await layFile(bench, `file-${i}.ts`, chars)
  let told = ''
  for (let from = 0; from < count; from += 10)
    told += await turn(
      bench,
      model,
      Array.from({ length: Math.min(10, count - from) }, (_, i) => [
        text(`Now part ${from + i}: I look at the file and think about it.`),
        call('Read', { file_path: `file-${from + i}.ts` }),
      ]),
      [...SMALL_WINDOW, ...(from > 0 ? ['--continue'] : [])],
    )
  return told
}

export const manyReads: WalkSession = async (bench) => await readOneByOne(bench, 40, 4_800, PLAIN_MODEL)

/** On a model that clears on the server. */
export const manyReadsCleared: WalkSession = async (bench) =>
  await readOneByOne(bench, 40, 4_800, 'claude-opus-4-6')

export const manySteps: WalkSession = async (bench) => {
  bench.simulator.addSteps(BESIDE)
  for (let i = 0; i < 20; i++) await layFile(bench, `file-${i}.ts`, 6_500)
  return await turn(bench, PLAIN_MODEL, [
    ...Array.from({ length: 20 }, (_, i) => [call('Read', { file_path: `file-${i}.ts` })]),
    ...glances(250),
  ])
}

const filled =
  (model: string): WalkSession =>
  async (bench) => {
    bench.simulator.addSteps(BESIDE)
    return await turn(bench, model, [...speeches(7), ...glances(6)], SMALL_WINDOW)
  }

export const filledSigning = filled(SIGNING_MODEL)
export const filledPlain = filled(PLAIN_MODEL)

/** To the window that the provider has, on a model that has no larger one than ours. */
export const overflowing: WalkSession = async (bench) => {
  bench.simulator.addSteps(BESIDE)
  const answers = [...speeches(24, 1_400), ...glances(3)]
  return await turn(
    bench,
    'claude-haiku-4-5',
    answers.map((answer) => [thinking('What comes next?'), ...answer]),
  )
}

/** Another system prompt in the middle of a session. */
export const otherPrompt: WalkSession = async (bench) => {
  await turn(bench, PLAIN_MODEL, [[text(words('the plan', 200)), call('Read', { file_path: 'plan.txt' })]])
  return await turn(bench, PLAIN_MODEL, quickGlances(2), [
    '--continue',
    '--system-prompt',
    'Be someone else.',
  ])
}

/** Nine pictures of 3 MB. */
export const pictures: WalkSession = async (bench) => {
  bench.simulator.addSteps(BESIDE)
  const head = Buffer.from('89504e470d0a1a0a0000000d4948445200000320000002580806000000', 'hex')
  for (let i = 0; i < 9; i++)
    await writeFile(
      join(bench.folder, `${i}.png`),
      Buffer.concat([head, Buffer.alloc(3_000_000, i + 1), Buffer.from('IEND')]),
    )
  return await turn(
    bench,
    PLAIN_MODEL,
    Array.from({ length: 9 }, (_, i) => [call('Read', { file_path: `${i}.png` })]),
  )
}

export const shortTalk: WalkSession = async (bench) => await turn(bench, PLAIN_MODEL, quickGlances(6))
