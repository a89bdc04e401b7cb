import { expect, test } from 'vitest'

import type { Fault, ScriptStep } from '../../packages/palimpsest/src/lab/simulator/index.ts'
import type { JsonObject } from '../../packages/palimpsest/src/wire/json.ts'
import { createBench, jsonLines, onlyTranscript, sentBody, text, type Bench } from '../kit/headless.ts'

// What goes wrong between us and the provider. Each turn ends in an answer or in one clear sentence, leaves no half message behind,
// and the same session goes on with the next.

interface Row {
  readonly name: string
  readonly fault?: Fault
  /** Answers that are no work of the simulator's, one per request. */
  readonly instead?: readonly (() => Response)[]
  readonly steps?: readonly ScriptStep[]
  readonly exit: 0 | 1
  readonly out?: string
  readonly err: RegExp
}

const ANSWER: readonly ScriptStep[] = [{ content: [text('A whole answer, at last.')] }]

/** A fault in mid-answer takes the answer with it: the script has it twice. */
const TWICE: readonly ScriptStep[] = [{ content: [text('A whole answer, at last.')], times: 2 }]

const ASKED_AGAIN: readonly Row[] = [
  {
    name: '429 with retry-after',
    fault: { type: 'status', status: 429, retry_after: 1 },
    exit: 0,
    err: /^asking again in 1\.0 s: .*429.*\n$/,
  },
  {
    name: '429 without',
    fault: { type: 'status', status: 429 },
    exit: 0,
    err: /^asking again in 0\.[345] s: .*429.*\n$/,
  },
  {
    name: '529',
    fault: { type: 'status', status: 529 },
    exit: 0,
    err: /^asking again in 0\.[345] s: .*529: Overloaded\n$/,
  },
  {
    name: 'an error in mid-stream',
    fault: { type: 'status', status: 529, after_events: 4 },
    steps: TWICE,
    exit: 0,
    err: /^asking again .*Overloaded\n$/,
  },
  {
    name: 'a cut stream',
    fault: { type: 'disconnect', after_bytes: 900 },
    steps: TWICE,
    exit: 0,
    err: /^asking again .*\n$/,
  },
  {
    name: 'garbage',
    fault: { type: 'garbage' },
    steps: TWICE,
    exit: 0,
    err: /^asking again .*not JSON.*\n$/,
  },
]

const ENDED: readonly Row[] = [
  {
    name: 'a page of HTML instead of an answer',
    instead: [page, page, page],
    exit: 1,
    err: /\npalimpsest: 127\.0\.0\.1:\d+ answered with text\/html, not with a stream of events\. Check the base URL\.\n$/,
  },
  {
    name: 'a page of HTML that says 404',
    instead: [() => page(404)],
    exit: 1,
    err: /^palimpsest: The provider does not know this model or address \(404\): a page of HTML\. Check --model and the base URL\.\n$/,
  },
  {
    name: 'a wrong key',
    fault: { type: 'status', status: 401, message: 'invalid x-api-key' },
    exit: 1,
    err: /^palimpsest: The provider refused the key \(401\): invalid x-api-key\. Set ANTHROPIC_API_KEY to a valid key\.\n$/,
  },
  {
    name: 'a prompt that is too long',
    fault: { type: 'prompt_too_long' },
    exit: 1,
    err: /^palimpsest: .*too long.*\n$/,
  },
  {
    name: 'a limit that lasts an hour',
    fault: { type: 'status', status: 429, retry_after: 3600, message: 'Come back later.' },
    exit: 1,
    err: /^palimpsest: The provider answered 429: Come back later\.\n$/,
  },
]

const STOPPED: readonly Row[] = [
  { name: 'end_turn', steps: ANSWER, exit: 0, err: /^$/ },
  {
    name: 'stop_sequence',
    steps: [{ content: [text('Up to here')], stop_reason: 'stop_sequence' }],
    exit: 0,
    out: 'Up to here\n',
    err: /^$/,
  },
  {
    name: 'max_tokens',
    steps: [{ content: [text('part ')], stop_reason: 'max_tokens', times: 3 }],
    exit: 0,
    out: 'part part part \n',
    err: /^The answer reached the output limit again and again, and is cut short\. Ask for the rest\.\n$/,
  },
  {
    name: 'refusal',
    steps: [{ content: [], stop_reason: 'refusal' }],
    exit: 1,
    out: '',
    err: /^palimpsest: the model refused: .*\n$/,
  },
  {
    name: 'model_context_window_exceeded',
    steps: [{ content: [text('Half of')], stop_reason: 'model_context_window_exceeded' }],
    exit: 1,
    out: 'Half of\n',
    err: /^palimpsest: The answer stopped because the window is full\. .*\n$/,
  },
  {
    name: 'a call that is not JSON',
    instead: [() => brokenCall('tool_use')],
    steps: ANSWER,
    exit: 0,
    err: /^$/,
  },
  {
    name: 'a call that the output limit cut',
    instead: [() => brokenCall('max_tokens')],
    steps: ANSWER,
    exit: 0,
    err: /^$/,
  },
  { name: 'an answer without content', steps: [{ content: [] }], exit: 0, out: '', err: /^$/ },
  {
    name: 'a reason nobody knows yet',
    instead: [() => stream(said('Novel.'), 'novel_reason')],
    exit: 0,
    out: 'Novel.\n',
    err: /^$/,
  },
]

test.each([
  ['ask again', ASKED_AGAIN],
  ['end the turn', ENDED],
  ['are stop reasons', STOPPED],
] as const)('faults that %s: one session survives them all', async (_what, rows) => {
  const instead: (() => Response)[] = []
  const bench = await createBench({
    instead: ({ url }) => (url.endsWith('/v1/messages') ? instead.shift()?.() : undefined),
  })
  let goesOn: string[] = []
  for (const row of rows) {
    instead.push(...(row.instead ?? []))
    bench.simulator.addFaults(row.fault ? [{ fault: row.fault }] : [])
    if (row.exit === 0 || row.steps) bench.simulator.addSteps(row.steps ?? (row.instead ? [] : ANSWER))
    // What compactions make of a refusal because of size is told elsewhere.
    const env = { DISABLE_AUTO_COMPACT: '1' }
    const ran = await bench.run(['-p', `turn: ${row.name}`, ...goesOn], { env })
    expect({ row: row.name, exit: ran.exit, out: ran.out }).toEqual({
      row: row.name,
      exit: row.exit,
      out: row.out ?? (row.exit === 0 ? 'A whole answer, at last.\n' : ''),
    })
    expect(ran.err).toMatch(row.err)
    goesOn = ['--continue']
  }
  await expectGoesOn(bench, rows)
})

/** A last turn: everything that was said is still there, nothing of what failed. */
async function expectGoesOn(bench: Bench, rows: readonly Row[]): Promise<void> {
  bench.simulator.addSteps([{ content: [text('Still here.')] }])
  const last = await bench.run(['-p', 'still there?', '--continue', '--output-format', 'stream-json'])
  expect(jsonLines(last.out).at(-1)).toMatchObject({ is_error: false, result: 'Still here.' })
  const sent = JSON.stringify(sentBody(bench, -1)['messages'])
  for (const { name } of rows) expect(sent).toContain(`turn: ${name}`)
  const answers = (await onlyTranscript(bench)).filter(({ type }) => type === 'assistant')
  expect(answers.every(isWhole)).toBe(true)
}

function isWhole({ message }: JsonObject): boolean {
  return (
    typeof message === 'object' &&
    message !== null &&
    'stop_reason' in message &&
    message.stop_reason !== null
  )
}

interface StreamPart {
  readonly type: string
  readonly [field: string]: unknown
}

function page(status = 200): Response {
  const body = `<html><head><title>Sign in</title></head><body>${'<p>Please sign in.</p>'.repeat(500)}</body></html>`
  return new Response(body, { status, headers: { 'content-type': 'text/html' } })
}

function brokenCall(reason: string): Response {
  const start = {
    type: 'content_block_start',
    index: 0,
    content_block: { type: 'tool_use', id: `toolu_${reason}`, name: 'Read', input: {} },
  }
  const delta = {
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'input_json_delta', partial_json: '{"file_path": "a' },
  }
  return stream([start, delta, { type: 'content_block_stop', index: 0 }], reason)
}

function said(words: string): readonly StreamPart[] {
  return [
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: words } },
    { type: 'content_block_stop', index: 0 },
  ]
}

function stream(blocks: readonly StreamPart[], stop_reason: string): Response {
  const usage = { input_tokens: 5_000, output_tokens: 5 }
  const message = {
    id: `msg_${stop_reason}`,
    type: 'message',
    role: 'assistant',
    model: 'claude-opus-5-5',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage,
  }
  const events = [
    { type: 'message_start', message },
    ...blocks,
    { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage },
    { type: 'message_stop' },
  ]
  const body = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
}
