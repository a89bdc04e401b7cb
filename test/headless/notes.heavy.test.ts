import { lstat, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { BACKGROUND_SHARE_MAX } from '../../packages/palimpsest/src/background/background-bill.ts'
import { NOTES_BYTES_MAX } from '../../packages/palimpsest/src/node/transcripts/notes-file.ts'
import { SOURCE_HEADER } from '../../packages/palimpsest/src/lab/simulator/headers.ts'
import type { LoggedRequest, ScriptStep } from '../../packages/palimpsest/src/lab/simulator/index.ts'
import type { JsonObject } from '../../packages/palimpsest/src/wire/json.ts'
import {
  longAnswers,
  longText,
  ROUNDS_TO_FILL,
  settings,
  stream,
  switchOff,
  WINDOW,
} from '../kit/compacting.ts'
import {
  call,
  createBench,
  jsonObject,
  onlyTranscript,
  put,
  startsWithAll,
  text,
  transcriptsOf,
  type Bench,
} from '../kit/headless.ts'

// Notes of a session from outside: the file, the requests beside the conversation, what becomes of them when the window is full.

const NOTES = '# Session title\nFilling the window\n\n# Current state\nHALF OF IT IS DONE.'
const READ_SHARE_MIN = 0.98

function notesStep(words = NOTES, more: Partial<ScriptStep> = {}): ScriptStep {
  return { when: { source: 'session-memory' }, content: [text(`<notes>\n${words}\n</notes>`)], ...more }
}

/** The conversation's own answers. */
function main(steps: readonly ScriptStep[]): readonly ScriptStep[] {
  return steps.map((step) => ({ ...step, when: { source: 'main' } }))
}

function askedBy({ simulator }: Bench, source: string): readonly LoggedRequest[] {
  return simulator.requests().filter(({ headers }) => (headers[SOURCE_HEADER] ?? 'main') === source)
}

function messagesOf(request: LoggedRequest | undefined): readonly unknown[] {
  const { messages } = jsonObject(bodyOf(request))
  return Array.isArray(messages) ? messages : []
}

function bodyOf(request: LoggedRequest | undefined): string {
  const body = request?.body ?? {}
  return typeof body === 'string' ? body : JSON.stringify(body)
}

async function notesPath(bench: Bench): Promise<string> {
  const [transcript = ''] = await transcriptsOf(bench)
  return transcript.replace(/([^/]+)\.jsonl$/, 'session-memory/$1.md')
}

async function notesOf(bench: Bench): Promise<string | undefined> {
  return await readFile(await notesPath(bench), 'utf8').catch(() => undefined)
}

function boundaries(lines: readonly JsonObject[]): readonly unknown[] {
  return lines.flatMap(({ subtype, compactMetadata: meta }) =>
    subtype === 'compact_boundary' ? [Object.assign({}, meta)] : [],
  )
}

async function fill(bench: Bench, rounds: number, args: readonly string[] = []) {
  bench.simulator.addSteps(main([...longAnswers('filling', rounds), { content: [text('Done.')] }]))
  return await stream(bench, ['-p', 'fill the window', ...args])
}

test('past the warning a fork writes notes from the cache; the file and the bill show them; at the threshold they become the summary', async () => {
  const bench = await createBench({ script: [notesStep()] })
  await switchOff(bench, 'server-compaction')
  const { exit, err, lines } = await fill(bench, ROUNDS_TO_FILL)
  expect({ exit, err }).toEqual({ exit: 0, err: '' })
  expect(await notesOf(bench)).toBe(`${NOTES}\n`)

  const [fork, ...others] = askedBy(bench, 'session-memory')
  expect(others).toEqual([])
  const parent = bench.simulator.requests().find(({ id }) => id === fork?.prefix_of)
  expect(startsWithAll(fork?.body ?? '', parent?.body ?? '?')).toBe(true)
  expect(messagesOf(fork)).toHaveLength(messagesOf(parent).length + 1)
  const read = fork?.usage?.cache_read_input_tokens ?? 0
  expect(read / (parent?.input_tokens ?? Infinity)).toBeGreaterThanOrEqual(READ_SHARE_MIN)

  expect(askedBy(bench, 'compact')).toEqual([])
  const stored = await onlyTranscript(bench)
  expect(boundaries(stored)).toMatchObject([{ path: 'notes', trigger: 'auto' }])
  expect(bodyOf(askedBy(bench, 'main').at(-1)).includes('HALF OF IT IS DONE.')).toBe(true)

  const cost = bench.simulator.stats().cost_usd
  expect((fork?.cost_usd ?? Infinity) / cost).toBeLessThanOrEqual(BACKGROUND_SHARE_MAX)
  expect(lines.at(-1)?.['total_cost_usd']).toBeCloseTo(cost, 6)
  const context = jsonObject((await bench.run(['context', '--json'])).out)
  expect(context).toMatchObject({ cost_usd: expect.closeTo(cost, 6) })
  expect(context['cost_by_source']).toMatchObject({
    'session-memory': expect.closeTo(fork?.cost_usd ?? 0, 6),
  })
})

test('the file has computed notes after every run, without a request; if switched off, there is no file', async () => {
  const bench = await createBench()
  const run = { content: [call('Bash', { command: 'ls no-such-file' })] }
  bench.simulator.addSteps([run, { content: [text('It is not there.')] }])
  expect(await bench.run(['-p', 'never delete a.txt', '--permission-mode', 'bypass'])).toMatchObject({
    exit: 0,
  })
  const notes = await notesOf(bench)
  for (const words of ['never delete a.txt', 'ls no-such-file', 'exit 2', 'It is not there.'])
    expect(notes).toContain(words)
  expect(bench.simulator.requests()).toHaveLength(2)

  const off = await createBench()
  await settings(off, { sessionMemory: 'off' })
  off.simulator.addSteps([{ content: [text('Yes.')] }])
  await off.run(['-p', 'is anybody there?'])
  expect(await notesOf(off)).toBeUndefined()
})

test("the user's template and request replace ours; the summary says what the user changed in the file", async () => {
  const bench = await createBench()
  await switchOff(bench, 'server-compaction')
  await put(join(bench.home, 'session-memory', 'template.md'), '# Ours\n_What matters here._\n')
  await put(join(bench.home, 'session-memory', 'prompt.md'), 'OUR REQUEST for notes:\n{{notes}}')
  bench.simulator.addSteps([notesStep('# Ours\nAs the model has it.')])
  const rounds = ROUNDS_TO_FILL - 1
  expect(await fill(bench, rounds)).toMatchObject({ exit: 0, err: '' })
  const [fork] = askedBy(bench, 'session-memory')
  expect(bodyOf(fork).includes(String.raw`OUR REQUEST for notes:\n# Ours\n_What matters here._`)).toBe(true)

  await writeFile(await notesPath(bench), '# Ours\nAS THE USER HAS IT.\n')
  const compacted = await bench.run(['compact', '--json', '--window', WINDOW])
  expect(compacted).toMatchObject({ exit: 0, err: '' })
  expect(jsonObject(compacted.out)).toMatchObject({ path: 'notes' })
  bench.simulator.addSteps(main([{ content: [text('I see.')] }]))
  await stream(bench, ['-p', 'go on', '--continue'])
  const sent = bodyOf(askedBy(bench, 'main').at(-1))
  expect(sent.includes('AS THE USER HAS IT.')).toBe(true)
  expect(sent.includes('As the model has it.')).toBe(false)
})

test('a run reports its result before notes that are still being written, and includes their cost in the bill when it ends', async () => {
  const bench = await createBench({ script: [notesStep(NOTES, { delay_ms: 1_500 })] })
  await switchOff(bench, 'server-compaction')
  bench.simulator.addSteps(
    main([...longAnswers('filling', ROUNDS_TO_FILL - 1), { content: [text('Done.')] }]),
  )
  const { exit, err, lines } = await stream(bench, ['-p', 'fill'])
  expect({ exit, err }).toEqual({ exit: 0, err: '' })
  expect(lines.at(-1)).toMatchObject({ type: 'result', subtype: 'success' })
  const spent = (await onlyTranscript(bench)).filter(({ subtype }) => subtype === 'spent')
  expect(spent).toHaveLength(1)
  const context = jsonObject((await bench.run(['context', '--json'])).out)
  expect(context['cost_usd']).toBeCloseTo(bench.simulator.stats().cost_usd, 6)

  // A model that is named for the summary is asked for one.
  bench.simulator.addSteps([
    { when: { source: 'compact' }, content: [text('<summary>As it was asked for.</summary>')] },
  ])
  const args = ['compact', '--model', 'claude-opus-5', '--json']
  const named = await bench.run(args, { env: { PALIMPSEST_WINDOW: WINDOW } })
  expect(jsonObject(named.out)).toMatchObject({ path: 'plain' })
})

test('notes that were due when a run ended are written in parallel with the next one, from the cache', async () => {
  const bench = await createBench({ script: [notesStep()] })
  await switchOff(bench, 'server-compaction')
  // The last answer crosses the warning, and calls no tool.
  const last = { content: [text(longText('one'))] }
  bench.simulator.addSteps(main([...longAnswers('filling', ROUNDS_TO_FILL - 2), last]))
  await stream(bench, ['-p', 'say much'])
  expect(askedBy(bench, 'session-memory')).toEqual([])
  bench.simulator.addSteps(main([{ content: [text('Two.')], delay_ms: 300 }]))
  await stream(bench, ['-p', 'and more', '--continue'])
  const [fork] = askedBy(bench, 'session-memory')
  expect(fork?.usage?.cache_read_input_tokens).toBeGreaterThan(4_000)
  expect(await notesOf(bench)).toBe(`${NOTES}\n`)
})

test('a session gives up after three answers that are not notes, however many runs it has', async () => {
  const nothing = { when: { source: 'session-memory' }, content: [text(' ')], times: 9 }
  const bench = await createBench({ script: [nothing] })
  await switchOff(bench, 'server-compaction')
  const slow = { content: [text('More.')], delay_ms: 300 }
  bench.simulator.addSteps(
    main([...longAnswers('filling', ROUNDS_TO_FILL - 1), { content: [text('Done.')] }]),
  )
  bench.simulator.addSteps(main([slow, slow, slow]))
  for (const args of [[], ['--continue'], ['--continue'], ['--continue']])
    expect(await stream(bench, ['-p', 'say more', ...args])).toMatchObject({ exit: 0 })
  expect(askedBy(bench, 'session-memory')).toHaveLength(3)
})

test('if notes are off, a summary is prepared in time and used at the threshold', async () => {
  const bench = await createBench()
  await switchOff(bench, 'server-compaction', 'session-memory')
  const summary = { when: { source: 'compact' }, content: [text('<summary>MADE IN TIME.</summary>')] }
  bench.simulator.addSteps([summary])
  expect(await fill(bench, ROUNDS_TO_FILL)).toMatchObject({ exit: 0, err: '' })
  expect(askedBy(bench, 'compact')).toHaveLength(1)
  const stored = await onlyTranscript(bench)
  expect(boundaries(stored)).toMatchObject([{ path: 'prepared' }])
  const spent = stored.filter(({ subtype }) => subtype === 'spent')
  expect(JSON.stringify(spent)).toContain('"prepared"')
})

test('the model that the settings name for summaries writes them; the model that answers writes no notes instead', async () => {
  const bench = await createBench()
  await settings(bench, { compaction: { model: 'claude-haiku-5-5' } })
  bench.simulator.addSteps([
    { when: { source: 'compact' }, content: [text('<summary>BY THE OTHER.</summary>')] },
  ])
  expect(await fill(bench, ROUNDS_TO_FILL)).toMatchObject({ exit: 0, err: '' })
  expect(askedBy(bench, 'session-memory')).toEqual([])
  const [asked, ...others] = askedBy(bench, 'compact')
  expect(others).toEqual([])
  expect(jsonObject(bodyOf(asked))).toMatchObject({ model: 'claude-haiku-5-5' })
  expect(boundaries(await onlyTranscript(bench))).toMatchObject([{ path: 'plain' }])
  expect(await notesOf(bench)).toContain('fill the window')
})

test.each([
  ['background calls are off', ['background-calls'], []],
  ['the session must not cost more', [], ['--max-cost', '0.0001']],
])('no notes are requested if %s', async (_why, flags, args) => {
  const bench = await createBench()
  await switchOff(bench, 'server-compaction', ...flags)
  await fill(bench, ROUNDS_TO_FILL - 1, args)
  expect(askedBy(bench, 'session-memory')).toEqual([])
})

test('a place of the notes with something else in it stops nothing, is reported in a line and stays as it is', async () => {
  const bench = await createBench()
  bench.simulator.addSteps(Array.from({ length: 5 }, () => ({ content: [text('Yes.')] })))
  await bench.run(['-p', 'is anybody there?'])
  const path = await notesPath(bench)
  const outside = join(bench.userHome, 'mine.md')
  const standIns: readonly (readonly [string, () => Promise<unknown>])[] = [
    ['it is not a file', async () => await mkdir(path)],
    ['it is a symbolic link', async () => await symlink(outside, path)],
    ['it is over', async () => await writeFile(path, 'x'.repeat(NOTES_BYTES_MAX + 1))],
    ['it is not text', async () => await writeFile(path, 'a\0b')],
  ]
  await writeFile(outside, 'MINE')
  for (const [why, make] of standIns) {
    await rm(path, { recursive: true, force: true })
    await make()
    const before = await lstat(path)
    const { exit, out, err } = await bench.run(['-p', 'and now?', '--continue'])
    expect({ exit, out }).toEqual({ exit: 0, out: 'Yes.\n' })
    expect(err).toMatch(new RegExp(`^palimpsest: cannot .*${why}.*only in the transcript\n$`))
    const { ino, size } = await lstat(path)
    expect({ ino, size }).toEqual({ ino: before.ino, size: before.size })
  }
  expect(await readFile(outside, 'utf8')).toBe('MINE')
})
