import { readFile } from 'node:fs/promises'

import { expect, test } from 'vitest'

import { runCli } from '../../packages/palimpsest-cli/src/commands/run-cli.ts'
import { createCommandBench, type CommandBench, type CommandRun } from '../kit/command-bench.ts'
import { longAnswers, summaryStep, switchOff } from '../kit/compacting.ts'
import { cutAnswer } from '../kit/cut-answer.ts'
import { jsonLines, jsonObject, stringIn, text, transcriptsOf } from '../kit/headless.ts'

// The command is told to stop (Ctrl-C, SIGTERM) while the model speaks.

const WORDS = 'The parser reads one line at a time and keeps the rest for later. '.repeat(4)
const MODEL = { PALIMPSEST_MODEL: 'claude-opus-5-5' }
/** Of the answer, the user sees half. */
const EVENTS = 9

test.each(['text', 'json', 'stream-json'])(
  '-p, %s: the part of the answer that arrived is printed, kept and billed',
  async (format) => {
    const { bench, stopped } = await stopInAnswer(['-p', 'Explain the parser.', '--output-format', format])
    expect(stopped.exit).toBe(1)
    const sentence = 'stopped; the part of the answer that arrived is kept. Resume the session to continue'
    const [billed] = bench.simulator.requests()
    if (format === 'text') {
      expect(WORDS.startsWith(stopped.out.trimEnd())).toBe(true)
      expect(stopped.out.length).toBeGreaterThan(50)
      expect(stopped.err).toBe(`palimpsest: ${sentence}\n`)
    } else {
      const result = jsonLines(stopped.out).at(-1) ?? {}
      expect(result).toMatchObject({
        is_error: true,
        result: sentence,
        usage: { input_tokens: billed?.usage?.input_tokens },
      })
      const { total_cost_usd: cost, estimated_cost_usd: estimated } = result
      expect(cost).toBe(estimated)
      // The answer was broken off: less of it was written than the simulator wrote.
      expect(cost).toBeGreaterThan(0.5 * (billed?.cost_usd ?? 0))
      expect(cost).toBeLessThan(billed?.cost_usd ?? 0)
    }
    if (format === 'stream-json') {
      const answer = jsonLines(stopped.out).findLast(({ type }) => type === 'assistant')
      expect(JSON.stringify(answer)).toContain('The parser reads one line')
    }
  },
)

test('the next message carries the partial answer; the reports say which part of the bill is an estimate', async () => {
  const { bench } = await stopInAnswer(['-p', 'Explain the parser.'])
  const went = await bench.run(['-p', 'Shorter, please.', '--continue'], MODEL)
  expect(went).toMatchObject({ exit: 0, out: 'It reads lines.\n', err: '' })
  const body = JSON.stringify(bench.simulator.requests().at(-1)?.body)
  expect(body).toContain('The parser reads one line')
  expect(body).toContain('[The answer above was stopped here, before it was complete.')
  const context = jsonObject((await bench.run(['context', '--json'], MODEL)).out)
  const estimated = Number(context['cost_estimated_usd'])
  const answered = bench.simulator.requests().at(-1)?.cost_usd ?? 0
  expect(estimated).toBeGreaterThan(0)
  expect(context['cost_usd']).toBeCloseTo(estimated + answered, 9)
  expect(context['cost_by_source']).toEqual({ main: expect.closeTo(estimated + answered, 9) })
  const [session] = JSON.parse((await bench.run(['sessions', '--json'])).out)
  expect(session.cost_usd).toBeCloseTo(estimated + answered, 9)
})

test('other readers of the transcript find the usage of the partial answer', async () => {
  const { bench } = await stopInAnswer(['-p', 'Explain the parser.'])
  const [path = ''] = await transcriptsOf(bench)
  const answer = jsonLines(await readFile(path, 'utf8')).find(({ type }) => type === 'assistant') ?? {}
  expect(answer).toMatchObject({
    message: { stop_reason: null, usage: { input_tokens: expect.any(Number) } },
    palimpsest: { interrupted: true, usage: null },
  })
  expect(stringIn(answer, 'requestId')).toMatch(/^req_/)
})

async function stopInAnswer(
  args: readonly string[],
): Promise<{ readonly bench: CommandBench; readonly stopped: Omit<CommandRun, 'traces'> }> {
  const abort = new AbortController()
  const bench: CommandBench = await createCommandBench({
    script: [{ content: [text(WORDS)] }, { content: [text('It reads lines.')] }],
    instead: async (request) => {
      if (abort.signal.aborted || request.method !== 'POST') return undefined
      return cutAnswer(await bench.simulator.fetch(request), EVENTS, abort)
    },
  })
  const texts = { out: '', err: '' }
  const exit = await runCli(args, { ...bench.worldFor(texts, MODEL), signal: abort.signal })
  return { bench, stopped: { exit, ...texts } }
}

test('a stopped compaction says so in a sentence, leaves the conversation unchanged, and is on the bill', async () => {
  const abort = new AbortController()
  const bench: CommandBench = await createCommandBench({
    instead: async (request) => {
      if (request.headers.get('x-palimpsest-source') !== 'compact') return undefined
      return cutAnswer(await bench.simulator.fetch(request), EVENTS, abort)
    },
  })
  await switchOff(bench, 'server-compaction', 'background-calls')
  bench.simulator.addSteps([
    ...longAnswers('filling', 4),
    { content: [text('Done.')] },
    summaryStep('They fill it, and say so at some length. '.repeat(20)),
  ])
  const env = { ...MODEL, PALIMPSEST_WINDOW: '60000' }
  expect(await bench.run(['-p', 'fill it'], env)).toMatchObject({ exit: 0 })
  const texts = { out: '', err: '' }
  const exit = await runCli(['compact'], { ...bench.worldFor(texts, env), signal: abort.signal })
  expect({ exit, ...texts }).toEqual({
    exit: 1,
    out: '',
    err: 'palimpsest: stopped. Nothing that was stored is lost; run the command again to finish it\n',
  })
  const context = jsonObject((await bench.run(['context', '--json'], env)).out)
  expect(context).toMatchObject({
    compactions: { total: 0 },
    cost_by_source: { compact: expect.any(Number) },
  })
  expect(context['cost_estimated_usd']).toBeGreaterThan(0)
})
