import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

import { expect, test, vi } from 'vitest'

import type { JsonObject } from '../../packages/palimpsest/src/wire/json.ts'
import {
  askForSummaries,
  eventsIn,
  longAnswers,
  longText,
  ROUNDS_TO_FILL,
  script,
  settings,
  stream,
  SUMMARY_ASKED,
  summaryStep,
  todos,
  WINDOW,
} from '../kit/compacting.ts'
import {
  call,
  createBench,
  jsonObject,
  onlyTranscript,
  put,
  sentBody,
  startsWithAll,
  stringIn,
  text,
  transcriptsOf,
  type Bench,
} from '../kit/headless.ts'

// Compactions from outside: the command, hooks in a real shell, the simulator behind a socket.

const small = { PALIMPSEST_WINDOW: WINDOW }

/** The body of the newest request that asked for a summary. */
function summaryRequest({ simulator }: Bench): string {
  const bodies = simulator
    .requests()
    .map(({ body }) => (typeof body === 'string' ? body : JSON.stringify(body)))
  return bodies.findLast((body) => body.includes(SUMMARY_ASKED)) ?? ''
}

function newestBody(bench: Bench): string {
  return JSON.stringify(sentBody(bench, -1)['messages'])
}

function compactions(lines: readonly JsonObject[]): readonly JsonObject[] {
  return lines.filter(({ subtype }) => subtype === 'compact_boundary')
}

async function contextOf(bench: Bench): Promise<JsonObject> {
  return jsonObject((await bench.run(['context', '--json'], { env: small })).out)
}

/** A turn in which the window fills and is compacted once. */
async function fillOnce(bench: Bench, prompt: string, args: readonly string[] = []) {
  await put(join(bench.folder, 'a.txt'), 'alpha\nbeta in the second line\n')
  const list = todos(['Write the tests', 'in_progress'], ['Done before', 'completed'])
  bench.simulator.addSteps([
    { content: [call('Read', { file_path: 'a.txt', limit: 1 })] },
    summaryStep('SUMMARY ONE of the work.'),
    ...longAnswers('filling', ROUNDS_TO_FILL, () => call('TodoWrite', list)),
    { content: [text('The turn is over.')] },
  ])
  return await stream(bench, ['-p', prompt, ...args])
}

test('a full window is compacted with hooks, instructions, files and to-dos; the stream, the file and the bill show it', async () => {
  const bench = await createBench()
  await askForSummaries(bench)
  const log = join(bench.userHome, 'events.jsonl')
  const keep = await script(bench, 'keep.sh', `cat >> ${log}`)
  const pre = await script(bench, 'pre.sh', `cat >> ${log}; echo "HOOK WISH: keep the numbers"`)
  const start = await script(
    bench,
    'start.sh',
    `input=$(cat); echo "$input" >> ${log}; source=$(echo "$input" | sed 's/.*"source":"\\([a-z]*\\)".*/\\1/')
echo "{\\"hookSpecificOutput\\":{\\"hookEventName\\":\\"SessionStart\\",\\"additionalContext\\":\\"HOOK CONTEXT at $source\\"}}"`,
  )
  const command = (path: string) => [{ hooks: [{ type: 'command', command: path }] }]
  await settings(bench, {
    hooks: {
      PreCompact: command(pre),
      PostCompact: [{ matcher: 'auto', hooks: [{ type: 'command', command: keep }] }],
      SessionStart: command(start),
      InstructionsLoaded: [{ matcher: 'session_start|compact', hooks: [{ type: 'command', command: keep }] }],
    },
  })
  await put(
    join(bench.folder, 'AGENTS.md'),
    'Speak plainly.\n\n# Compact instructions\nSECTION WISH: name every file.\n',
  )
  const { exit, err, lines } = await fillOnce(bench, 'never rename a.txt. Fill the window')
  expect({ exit, err }).toEqual({ exit: 0, err: '' })
  expect(lines.at(-1)).toMatchObject({ subtype: 'success', result: 'The turn is over.' })

  const [boundary, ...others] = compactions(lines)
  expect(others).toEqual([])
  expect(boundary).toMatchObject({
    compact_metadata: { trigger: 'auto', pre_tokens: expect.any(Number), post_tokens: expect.any(Number) },
  })
  const around = lines.filter(({ subtype }) => subtype === 'status' || subtype === 'compact_boundary')
  expect(around.map(({ subtype, status }) => status ?? subtype)).toEqual([
    'compacting',
    'compact_boundary',
    'status',
  ])
  expect(around.at(-1)).toMatchObject({ status: null })

  const asked = summaryRequest(bench)
  expect(asked).toContain('SECTION WISH: name every file.')
  expect(asked).toContain('HOOK WISH: keep the numbers')
  const sent = newestBody(bench)
  for (const words of [
    'SUMMARY ONE of the work.',
    'never rename a.txt',
    'Speak plainly.',
    'HOOK CONTEXT at compact',
    'Write the tests',
    'a.txt, read again',
    'beta in the second line',
  ])
    expect(sent).toContain(words)
  for (const words of ['HOOK CONTEXT at startup', 'have changed', longText('filling 0')])
    expect(sent).not.toContain(words)

  const events = await eventsIn(log)
  const told = events.map((event) => {
    const why = ['source', 'load_reason', 'trigger'].find((name) => name in event) ?? ''
    return `${stringIn(event, 'hook_event_name')} ${stringIn(event, why)}`
  })
  expect(told.toSorted((a, b) => a.localeCompare(b))).toEqual([
    'InstructionsLoaded compact',
    'InstructionsLoaded session_start',
    'PostCompact auto',
    'PreCompact auto',
    'SessionStart compact',
    'SessionStart startup',
  ])
  expect(events.find((event) => event['hook_event_name'] === 'PostCompact')?.['compact_summary']).toContain(
    'SUMMARY ONE',
  )

  await expectBill(bench, lines)
  await expectRemoval(bench, stringIn(boundary ?? {}, 'uuid'))
})

/** Every request of the run, the summary's too, is in the result, in the list of sessions and in the file. */
async function expectBill(bench: Bench, lines: readonly JsonObject[]): Promise<void> {
  const usages = bench.simulator.requests().flatMap(({ usage }) => usage ?? [])
  const result = lines.at(-1) ?? {}
  const output = usages.reduce((sum, { output_tokens }) => sum + output_tokens, 0)
  expect(result['usage']).toMatchObject({ output_tokens: output })
  const [listed] = JSON.parse((await bench.run(['sessions', '--json'])).out)
  expect(listed.cost_usd).toBeCloseTo(Number(result['total_cost_usd']), 6)
  const spent = (await onlyTranscript(bench)).filter(({ subtype }) => subtype === 'spent')
  expect(spent).toHaveLength(1)
}

async function expectRemoval(bench: Bench, id: string): Promise<void> {
  const context = await contextOf(bench)
  const undo = `palimpsest undo ${id} --session ${stringIn(context, 'session')}`
  const made = { path: 'fork', proof: { kept: expect.any(Number), repaired: 0, invented: 0 } }
  expect(context['removals']).toEqual([expect.objectContaining({ id, layer: 4, undo, ...made })])
  expect((await bench.run(['context'])).out).toMatch(/\n {4}by summary; summary checked: \d+ facts kept\n/)
}

test('an undone compaction, a restored message and a pinned one all survive the next compaction', async () => {
  const bench = await createBench()
  await askForSummaries(bench)
  const filled = await fillOnce(bench, 'remember the word quicksilver')
  const id = stringIn(compactions(filled.lines)[0] ?? {}, 'uuid')
  const before = bench.simulator
    .requests()
    .findLast(({ body }) => !/SUMMARY ONE|Answer with text only/.test(JSON.stringify(body)))

  const refused = await bench.run(['undo', id], { env: { PALIMPSEST_WINDOW: '30000' } })
  expect(refused).toMatchObject({
    exit: 1,
    err: expect.stringMatching(/would hold 5\d{4} tokens, and the limit is 2\d{4}/),
  })
  expect(await bench.run(['undo', 'no-such'])).toMatchObject({ exit: 2 })
  const undone = await bench.run(['undo', id])
  expect(undone).toMatchObject({
    exit: 0,
    out: expect.stringMatching(/^undone: the conversation holds 5\d{4} tokens/),
  })
  expect((await contextOf(bench))['removals']).toEqual([])
  expect(await bench.run(['undo', id])).toMatchObject({ exit: 1, err: expect.stringContaining('already') })

  // The next request begins as the one before the compaction did, and nothing compacts below the blocking limit.
  bench.simulator.addSteps([{ content: [text('Still here.')] }])
  const wide = { window: '100000', PALIMPSEST_AUTOCOMPACT_PCT: '40' }
  const after = await stream(bench, ['-p', 'go on', '--continue'], wide)
  expect(after).toMatchObject({ exit: 0, err: '' })
  expect(compactions(after.lines)).toEqual([])
  expect(startsWithAll(bench.simulator.requests().at(-1)?.body ?? '', before?.body ?? '?')).toBe(true)
  await expectKept(bench, filled.lines)
})

async function expectKept(bench: Bench, lines: readonly JsonObject[]): Promise<void> {
  const answers = lines.filter(({ type }) => type === 'assistant')
  const [first = '', second = ''] = answers.slice(1).map((line) => stringIn(line, 'uuid'))
  expect(await bench.run(['pin', `${first}:0`])).toMatchObject({ exit: 0, out: `pinned: ${first}:0\n` })
  expect(await bench.run(['pin', `${first}:7`])).toMatchObject({ exit: 2 })
  bench.simulator.addSteps([summaryStep('SUMMARY TWO of the work.')])
  const asked = await bench.run(['compact', 'mind', 'the', 'gap', '--json'], { env: small })
  expect(asked).toMatchObject({ exit: 0, err: '' })
  expect(jsonObject(asked.out)).toMatchObject({
    path: 'fork',
    proof: { invented: 0 },
    pre_tokens: expect.any(Number),
  })
  expect(summaryRequest(bench)).toContain('mind the gap')
  expect(await bench.run(['compact'], { env: small })).toMatchObject({
    exit: 1,
    err: 'palimpsest: Nothing has been said since the last compaction.\n',
  })
  const restored = await bench.run(['restore', second], { env: small })
  expect(restored).toMatchObject({ exit: 0, out: expect.stringMatching(/^restored: \d+ characters/) })

  bench.simulator.addSteps([{ content: [text('All here.')] }])
  await stream(bench, ['-p', 'what is there?', '--continue'])
  const sent = newestBody(bench)
  const shown = (name: string): string => JSON.stringify(longText(name)).slice(1, -1)
  for (const words of ['SUMMARY TWO', 'quicksilver', shown('filling 0'), shown('filling 1')])
    expect(sent).toContain(words)
  expect(sent).not.toContain(shown('filling 2'))

  // A second compaction keeps what is pinned, and not what was only brought back.
  bench.simulator.addSteps([summaryStep('SUMMARY THREE.'), { content: [text('Again.')] }])
  expect(await bench.run(['compact'], { env: { PALIMPSEST_WINDOW: '200000' } })).toMatchObject({ exit: 0 })
  await stream(bench, ['-p', 'and now?', '--continue'])
  expect(newestBody(bench)).toContain(shown('filling 0'))
}

test('hooks may object, fail, run too long and print escapes: only an objection stops a compaction', async () => {
  const bench = await createBench()
  await askForSummaries(bench)
  const hook = (command: string, timeout = 5) => ({ hooks: [{ type: 'command', command, timeout }] })
  await settings(bench, {
    hooks: {
      PreCompact: [
        { matcher: 'manual', ...hook('echo "not before the release" >&2; exit 2') },
        { matcher: 'auto', ...hook(`printf '\\033[31mred\\033[0m' >&2; exit 1`) },
      ],
      PostCompact: [hook('sleep 60', 0.2)],
      SessionStart: [
        { matcher: 'compact', ...hook(`printf '%*s' 30000 '' | tr ' ' y; echo END`) },
        hook('no-such-program'),
      ],
      Stop: [hook('touch stop-hooks-are-not-run-here')],
    },
  })
  // A project that nobody trusts runs nothing.
  const sneaky = {
    hooks: { PreCompact: [hook('touch sneaked-in')], SessionStart: [hook('touch sneaked-in')] },
  }
  await put(join(bench.folder, '.palimpsest/settings.json'), JSON.stringify(sneaky))
  const { exit, err, lines } = await fillOnce(bench, 'work')
  expect(exit).toBe(0)
  expect(compactions(lines)).toHaveLength(1)
  expect(err).toContain('is not trusted')
  expect(err).toContain(String.raw`the hook "printf" failed with exit code 1: \x1b[31mred\x1b[0m`)
  expect(err).toContain('the hook "sleep" took too long and was stopped')
  expect(err).toContain('the hook "no-such-program" failed with exit code 127')
  expect(err).not.toContain('\u001B')
  // A long text goes to disk, and the conversation gets its beginning.
  expect(newestBody(bench)).toMatch(
    /y{2000}\\n\[30003 characters in all, in [^\]]*tool-results\/hook-[\w-]+\.txt\]/,
  )
  expect(await readdir(bench.folder)).not.toContain('sneaked-in')
  expect(await readdir(bench.folder)).not.toContain('stop-hooks-are-not-run-here')

  const asked = await bench.run(['compact'], { env: small })
  expect(asked).toMatchObject({
    exit: 1,
    out: '',
    err: expect.stringContaining('palimpsest: not before the release\n'),
  })
  await bench.run(['compact', '--trust'], { env: small })
  expect(await readdir(bench.folder)).toContain('sneaked-in')

  await rm(join(bench.folder, 'sneaked-in'))
  await settings(bench, { disableAllHooks: true })
  bench.simulator.addSteps([{ content: [text('Still here.')] }])
  expect(await bench.run(['-p', 'go on', '--continue'])).toMatchObject({ exit: 0, err: '' })
  expect(await readdir(bench.folder)).not.toContain('sneaked-in')
})

test('an objection of a hook to automatic compaction is respected, and reported once in its own words', async () => {
  const bench = await createBench()
  await askForSummaries(bench)
  const command = `echo '{"decision":"block","reason":"NOT BEFORE NOON"}'`
  await settings(bench, { hooks: { PreCompact: [{ hooks: [{ type: 'command', command }] }] } })
  bench.simulator.addSteps(longAnswers('filling', 8))
  const { exit, err, lines } = await stream(bench, ['-p', 'fill'])
  expect({ exit, err }).toEqual({ exit: 1, err: 'not compacted: NOT BEFORE NOON\n' })
  expect(compactions(lines)).toEqual([])
  expect(lines.at(-1)).toMatchObject({ result: expect.stringContaining('the limit is') })
})

test('the environment and the settings stop automatic compaction; DISABLE_COMPACT stops all of it', async () => {
  const bench = await createBench()
  await askForSummaries(bench)
  bench.simulator.addSteps([
    ...longAnswers('filling', ROUNDS_TO_FILL),
    { content: [text('The turn is over.')] },
  ])
  // In its whole window there is room for it.
  expect(await bench.run(['-p', 'work'])).toMatchObject({ exit: 0, err: '' })
  const asked = bench.simulator.requests().length
  const blocked = { ...small, PALIMPSEST_BLOCKING_LIMIT: '45000' }
  for (const [env, written] of [
    [{ DISABLE_COMPACT: '1' }, {}],
    [{ DISABLE_AUTO_COMPACT: 'yes' }, {}],
    [{}, { autoCompactEnabled: false }],
  ] as const) {
    await settings(bench, written)
    const full = await bench.run(['-p', 'more', '--continue'], { env: { ...blocked, ...env } })
    expect(full).toMatchObject({ exit: 1, out: '', err: expect.stringContaining('the limit is 45000') })
    const context = jsonObject((await bench.run(['context', '--json'], { env: { ...small, ...env } })).out)
    expect(context['flags']).toMatchObject({ auto: false, error: true })
  }
  const all = await bench.run(['compact'], { env: { ...small, DISABLE_COMPACT: '1' } })
  expect(all).toMatchObject({ exit: 1, err: expect.stringContaining('DISABLE_COMPACT is set') })
  expect(bench.simulator.requests()).toHaveLength(asked)
  // By hand it still goes.
  bench.simulator.addSteps([summaryStep('By hand.')])
  const byHand = await bench.run(['compact'], { env: { ...small, DISABLE_AUTO_COMPACT: '1' } })
  expect(byHand).toMatchObject({ exit: 0, out: expect.stringContaining('compacted: ') })
})

test('part of a conversation is compacted, from a message on or up to it, offline too', async () => {
  const bench = await createBench()
  await askForSummaries(bench)
  bench.simulator.addSteps([
    ...longAnswers('filling', 3),
    { content: [text('The turn is over.')] },
    summaryStep('The newer part.'),
    { content: [text('Next.')] },
    summaryStep('The older part.'),
  ])
  const { lines } = await stream(bench, ['-p', 'FIRST WORDS of the user'])
  const answers = lines.filter(({ type }) => type === 'assistant').map((line) => stringIn(line, 'uuid'))
  expect(await bench.run(['compact', '--from', 'nowhere'])).toMatchObject({ exit: 2 })
  expect(await bench.run(['compact', '--from', 'a', '--up-to', 'b'])).toMatchObject({ exit: 2 })
  expect(await bench.run(['compact', '--from', answers[1] ?? ''])).toMatchObject({ exit: 0, err: '' })
  const sentFrom = bench.simulator.requests().at(-2)
  const second = await stream(bench, ['-p', 'SECOND WORDS', '--continue'])
  const after = bench.simulator.requests().at(-1)
  const shown = (name: string): string => JSON.stringify(longText(name)).slice(1, -1)
  const body = newestBody(bench)
  expect(body).toContain(shown('filling 0'))
  expect(body).not.toContain(shown('filling 1'))
  expect(body.indexOf('FIRST WORDS')).toBeLessThan(body.indexOf('The newer part.'))
  // What stays in front stays in the cache.
  expect(after?.status).toBe(200)
  expect(after?.usage?.cache_read_input_tokens).toBeGreaterThan(5_000)
  expect(sentFrom?.status).toBe(200)

  // What that compaction kept stands beside its summary: a span that ends there would take more than was asked for.
  const offline = { env: { ...small, PALIMPSEST_BASE_URL: undefined } }
  const refused = await bench.run(['compact', '--up-to', answers[0] ?? '', '--json'], offline)
  expect(refused).toMatchObject({ exit: 1, out: '' })
  expect(refused.err).toContain('The last compaction kept this message')
  const later = second.lines.find(({ type }) => type === 'assistant')
  const taken = await bench.run(['compact', '--up-to', stringIn(later ?? {}, 'uuid'), '--json'], offline)
  expect(taken).toMatchObject({ exit: 0 })
})

test('a setting decides what a compaction keeps: rich keeps more rounds unchanged than lean', async () => {
  const bench = await createBench()
  await askForSummaries(bench)
  const env = { PALIMPSEST_WINDOW: '100000' }
  const rounds = Array.from({ length: 8 }, (_, i) => [0, 1, 2].map((n) => `file-${i}-${n}.txt`))
  for (const name of rounds.flat()) await put(join(bench.folder, name), longText(name).slice(0, 6_000))
  bench.simulator.addSteps([
    ...rounds.map((names) => ({ content: names.map((name) => call('Read', { file_path: name })) })),
    { content: [text('All read.')] },
  ])
  expect(await bench.run(['-p', 'read them'], { env })).toMatchObject({ exit: 0 })
  const wholeReads = async (keep: string): Promise<number> => {
    await settings(bench, { compaction: { keep } })
    bench.simulator.addSteps([summaryStep('The files were read.'), { content: [text('On we go.')] }])
    expect(await bench.run(['compact'], { env })).toMatchObject({ exit: 0 })
    expect(await bench.run(['-p', 'go on', '--continue'], { env })).toMatchObject({ exit: 0 })
    return newestBody(bench).split('"tool_result"').length - 1
  }
  const lean = await wholeReads('lean')
  const [boundary = {}] = compactions(await onlyTranscript(bench))
  expect(await bench.run(['undo', stringIn(boundary, 'uuid')], { env })).toMatchObject({ exit: 0 })
  expect(await wholeReads('rich')).toBeGreaterThan(lean)
  await settings(bench, { compaction: { keep: 'everything' } })
  const wrong = await bench.run(['-p', 'go on', '--continue'], { env })
  expect(wrong.err).toMatch(/"compaction\.keep".*lean.*rich/)
})

test('a request that the provider refuses as too long is compacted and sent once more; the refusal appears nowhere', async () => {
  const bench = await createBench()
  await askForSummaries(bench)
  bench.simulator.addSteps([
    ...longAnswers('filling', ROUNDS_TO_FILL - 1),
    { content: [text('The turn is over.')] },
    summaryStep('SUMMARY after a refusal.'),
    { content: [text('Answered all the same.')] },
  ])
  expect(await bench.run(['-p', 'work'])).toMatchObject({ exit: 0 })
  bench.simulator.addFaults([{ fault: { type: 'prompt_too_long' } }])
  const { exit, err, out } = await bench.run(['-p', 'go on', '--continue'], { env: small })
  expect({ exit, out }).toEqual({ exit: 0, out: 'Answered all the same.\n' })
  expect(err).toMatch(/^compacted: \d+ to ~\d+ tokens \(by \w+; summary checked: .*\)\n$/)
  expect(newestBody(bench)).toContain('SUMMARY after a refusal.')
  expect(JSON.stringify(await onlyTranscript(bench))).not.toContain('prompt is too long')
  await expectLocked(bench)
})

/** A session that somebody else has open is not compacted, and not forked. */
async function expectLocked(bench: Bench): Promise<void> {
  const asked = bench.simulator.requests().length
  bench.simulator.addSteps([{ content: [text('Late.')], delay_ms: 60_000 }])
  const stop = new AbortController()
  const running = bench.run(['-p', 'take your time', '--continue'], { signal: stop.signal })
  await vi.waitFor(() => expect(bench.simulator.requests()).toHaveLength(asked + 1), { timeout: 30_000 })
  const locked = await bench.run(['compact'])
  stop.abort()
  expect(await running).toMatchObject({ exit: 1 })
  expect(locked).toMatchObject({ exit: 1, out: '', err: expect.stringMatching(/^palimpsest: .*open.*\n$/) })
  expect(await transcriptsOf(bench)).toHaveLength(1)
}
