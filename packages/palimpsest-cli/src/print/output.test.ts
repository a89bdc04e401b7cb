import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { createOutput, FORMATS, NO_USAGE, type RunResult } from './output.ts'

const FACTS = { sessionId: 's-1', model: 'm', tools: [], cwd: '/', permissionMode: 'default' }
const RESULT: RunResult = {
  end: { reason: 'answered' },
  turns: 1,
  durationMs: 1,
  usage: NO_USAGE,
  costUsd: 0,
  costs: {},
  estimatedUsd: 0,
  compactions: {},
  text: 'Done.',
}
const SECOND_MS = 1_000

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('a stream is never silent for more than 20 seconds, whatever the run waits for, and ends with its result', () => {
  const { told, output } = open('stream-json')
  output.begin()
  vi.advanceTimersByTime(70 * SECOND_MS)
  expect(told().map(statusOf)).toEqual(['init', null, null, null])
  output.event({ type: 'compaction-start', cause: 'threshold' })
  vi.advanceTimersByTime(45 * SECOND_MS)
  output.event({ type: 'compaction-end' })
  expect(told().map(statusOf).slice(4)).toEqual(['compacting', 'compacting', 'compacting', null])
  output.end(RESULT)
  vi.advanceTimersByTime(1_000 * SECOND_MS)
  expect(told().map(statusOf).slice(8)).toEqual(['result'])
})

test('an interrupted run says nothing more either', () => {
  const { told, output } = open('stream-json')
  output.begin()
  output.breakOff(RESULT, 'the disk is full')
  vi.advanceTimersByTime(1_000 * SECOND_MS)
  expect(told().map(statusOf)).toEqual(['init', 'result'])
})

test.each(FORMATS.filter((format) => format !== 'stream-json'))(
  '%s says nothing while it waits',
  (format) => {
    const { out, output } = open(format)
    output.begin()
    vi.advanceTimersByTime(1_000 * SECOND_MS)
    expect(out()).toBe('')
  },
)

function open(format: (typeof FORMATS)[number]) {
  let text = ''
  const world = { print: (more: string) => void (text += more), printError: () => undefined }
  const told = (): readonly Line[] =>
    text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
  return { out: () => text, told, output: createOutput(format, FACTS, world) }
}

interface Line {
  readonly type: string
  readonly subtype: string
  readonly status?: string | null
}

function statusOf({ type, subtype, status }: Line): string | null {
  if (type === 'result') return type
  return status === undefined ? subtype : status
}
