import type { LoopEvent } from 'palimpsest/loop'
import type { MessageEntry } from 'palimpsest/transcript'
import type { JsonObject } from 'palimpsest/wire'
import { describe, expect, test } from 'vitest'

import { createCallSummary } from './summarise-calls.ts'
import { createSummaryPace, SUMMARY_EVERY_MS } from './summary-pace.ts'

type Call = readonly [tool: string, input: JsonObject]

function entry(message: MessageEntry['message']): MessageEntry {
  const json = JSON.stringify(message)
  return { kind: 'message', id: 'm', parent: null, at: 0, origin: 'tool', message, json }
}

const answer: LoopEvent = { type: 'message', entry: entry({ role: 'assistant', content: 'I look.' }) }

function start([name, input]: Call): LoopEvent {
  return { type: 'tool-start', toolUseId: 't', name, input }
}

function end(name: string, text: string): LoopEvent {
  const content = [{ type: 'tool_result' as const, tool_use_id: 't', content: text }]
  return { type: 'tool-end', toolUseId: 't', name, entry: entry({ role: 'user', content }) }
}

function wordsFor(...calls: readonly Call[]): string | undefined {
  const see = createCallSummary()
  see(answer)
  return calls.map((call) => see(start(call))).at(-1)
}

const bash = (command: string): Call => ['Bash', { command }]

describe('what an agent is doing, from its last calls', () => {
  test.each<readonly [string, Call]>([
    ['Reading queue.ts in src', ['Read', { file_path: '/work/src/queue.ts' }]],
    ['Editing the file queue.ts', ['Edit', { file_path: 'queue.ts' }]],
    ['Searching for timeout in src', ['Grep', { pattern: String.raw`\btimeout\s*=|delay`, path: 'src' }]],
    ['Searching for Log error', ['Grep', { pattern: 'Log error' }]],
    ['Looking for *.test.ts files', ['Glob', { pattern: 'src/**/*.test.ts' }]],
    ['Running npm run build', bash('cd packages/a && NODE_ENV=x npm run build 2>&1 | tail -5')],
    ['Running npm test', bash('npm test')],
    ['Running git diff on queue.ts', bash('git diff -- src/queue.ts')],
    ['Running git commit', bash('git add -A && git commit -m "x y"')],
    ['Running gh pr checks', bash('# how it is\ngh pr checks 12')],
    ['Running vitest on queue.test.ts', bash('timeout 60 npx vitest src/queue.test.ts')],
    ['Running a Python script', bash("python3 - <<'E'\nprint(1)\nE")],
    ['Running the script measure.py', bash('python3 bench/measure.py --n 5')],
    ['Running the command make', bash('make')],
    ['Reading queue.ts in src', bash("sed -n '1,40p' src/queue.ts")],
    ['Running the command awk', bash("awk '{print $1}'")],
    ['Searching for retryAfter in src', bash('grep -rn "retryAfter" src | head')],
    ['Listing files in src', bash('ls -la src')],
    ['Fetching a page from example.com', bash('curl -H "A: x" https://me:secret@example.com/a?key=b')],
    ['Fetching a page from example.com', ['WebFetch', { url: 'https://example.com/a' }]],
    ['Waiting for an agent: look around here', ['Agent', { description: 'look around here and there' }]],
    ['Calling the tool mcp__a__b', ['mcp__a__b', {}]],
  ])('%s', (words, call) => {
    expect(wordsFor(call)).toBe(words)
  })

  test('several calls of one answer count as one, and reading a file that a search found is tracing', () => {
    const read = (file_path: string): Call => ['Read', { file_path }]
    expect(wordsFor(read('a/x.ts'), read('a/y.ts'), read('a/z.ts'))).toBe('Reading x.ts and 2 more')
    const see = createCallSummary()
    see(answer)
    see(start(['Grep', { pattern: 'timeout' }]))
    see(end('Grep', 'src/queue.ts:4: timeout'))
    see(answer)
    expect(see(start(read('src/queue.ts')))).toBe('Tracing timeout in queue.ts')
    see(answer)
    expect(see(start(read('src/other.ts')))).toBe('Reading other.ts in src')
  })

  test('a to-do list says nothing about the work; nonsense is bounded, and prints nothing odd', () => {
    expect(wordsFor(['TodoWrite', { todos: [] }])).toBeUndefined()
    for (const text of ['', '\u001b[31m', 'x'.repeat(5_000), '"'.repeat(300), '&&&&;;||', '$(('.repeat(99)]) {
      const all: readonly Call[] = [
        bash(text),
        ['Read', { file_path: text }],
        ['Grep', { pattern: text }],
        [text, {}],
      ]
      for (const call of all) expect(wordsFor(call)).toMatch(/^[^\p{Cc}]{3,60}$/u)
    }
  })
})

describe('the pace of a summary', () => {
  function createClock() {
    let at = 0
    let waiting: readonly { readonly run: () => void; readonly due: number }[] = []
    return {
      now: () => at,
      later: (run: () => void, waitMs: number) => {
        const one = { run, due: at + waitMs }
        waiting = [...waiting, one]
        return () => void (waiting = waiting.filter((other) => other !== one))
      },
      advance: (ms: number) => {
        at += ms
        const due = waiting.filter((one) => one.due <= at)
        waiting = waiting.filter((one) => one.due > at)
        for (const { run } of due) run()
      },
      waiting: () => waiting.length,
    }
  }

  test('the first words are shown at once, then the newest every 30 seconds while something changes', () => {
    const clock = createClock()
    const told: string[] = []
    const pace = createSummaryPace({ ...clock, tell: (words) => void told.push(words) })
    pace.changed('one')
    for (const words of ['two', 'three', 'four']) pace.changed(words)
    expect(told).toEqual(['one'])
    clock.advance(SUMMARY_EVERY_MS - 1)
    expect(told).toEqual(['one'])
    clock.advance(1)
    expect(told).toEqual(['one', 'four'])
    clock.advance(10 * SUMMARY_EVERY_MS)
    pace.changed('four')
    expect(told).toEqual(['one', 'four'])
    pace.changed('five')
    pace.changed('six')
    pace.end()
    clock.advance(SUMMARY_EVERY_MS)
    expect(told).toEqual(['one', 'four', 'five'])
    expect(clock.waiting()).toBe(0)
  })
})
