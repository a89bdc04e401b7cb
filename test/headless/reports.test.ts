import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { createCommandBench, type CommandBench } from '../kit/command-bench.ts'
import { claudeCodeSession } from '../kit/claude-code-session.ts'
import { longAnswers, longText, setFlags, summaryStep, switchOff } from '../kit/compacting.ts'
import { call, jsonLines, jsonObject, put, text, transcriptsOf } from '../kit/headless.ts'
import { openScreen } from '../kit/open-screen.ts'
import type { JsonObject } from '../../packages/palimpsest/src/wire/json.ts'
import { promptTokens } from '../../packages/palimpsest/src/wire/usage.ts'

// What `compact`, `context`, `sessions` and a result say of one session: the same figures, and the provider's.

const MAIN = { source: 'main' }
const IS_SOAK = process.env['SOAK'] !== undefined
const FILES = IS_SOAK ? 5 : 3

/** Each counts tokens in its own way. */
const MODELS = ['claude-opus-5-5', ...(IS_SOAK ? ['claude-opus-4-6', 'claude-sonnet-5-5'] : [])]

test.each(MODELS)(
  '%s: compact and context report the same size, marked as an estimate, and the provider then counts about as much',
  async (model) => {
    const { bench, env } = await filled(model)
    const compacted = jsonObject((await bench.run(['compact', '--json'], env)).out)
    expect(compacted['post_tokens_estimated']).toBe(true)
    const context = await contextOf(bench, env)
    expect(context).toMatchObject({ used: compacted['post_tokens'], used_estimated: true })
    const [path = ''] = await transcriptsOf(bench)
    const boundary = jsonLines(await readFile(path, 'utf8')).find(
      ({ subtype }) => subtype === 'compact_boundary',
    )
    expect(boundary?.['compactMetadata']).toMatchObject({
      postTokens: compacted['post_tokens'],
      discoveredTools: [],
    })
    const sessions: unknown = JSON.parse((await bench.run(['sessions', '--json'], env)).out)
    expect(sessions).toMatchObject([{ tokens: compacted['post_tokens'] }])
    await bench.run(['-p', 'x', '--continue'], env)
    const usage = bench.asked('main').at(-1)?.usage
    const counted = usage ? promptTokens(usage) : 0
    expect(Math.abs(Number(compacted['post_tokens']) / counted - 1)).toBeLessThan(0.05)
    expect(await contextOf(bench, env)).toMatchObject({
      used: counted + (usage?.output_tokens ?? 0),
      used_estimated: false,
    })
  },
)

test('another agent’s session, compacted before any answer here, is reported at its compacted size', async () => {
  const bench = await createCommandBench()
  await switchOff(bench, 'server-compaction', 'background-calls', 'micro-batch')
  bench.simulator.addSteps([
    { ...summaryStep('They read files.'), times: 9 },
    { content: [text('Yes.')], times: 9 },
  ])
  const file = join(bench.folder, 'recorded.jsonl')
  await writeFile(file, claudeCodeSession(60))
  const env = { PALIMPSEST_MODEL: 'claude-opus-4-5', PALIMPSEST_WINDOW: '60000' }
  const ran = await bench.run(['-p', 'x', '--resume', file], env)
  expect(ran).toMatchObject({ exit: 0, out: 'Yes.\n' })
  expect(ran.err).toMatch(/compacted: \d+ to ~\d+ tokens/)
  const [, told] = /to ~(\d+) tokens/.exec(ran.err) ?? []
  const usage = bench.asked('main').at(-1)?.usage
  expect(Math.abs(Number(told) / (usage ? promptTokens(usage) : 1) - 1)).toBeLessThan(0.25)
})

test.each([
  ['a fork', 'summary', ['server-compaction']],
  ['the provider', "the provider's summary", []],
])(
  'the share served from the cache is that of the whole session, before a compaction by %s and after it',
  async (_who, name, off) => {
    const { bench, env } = await filled('claude-opus-5-5', off)
    const rate = async (): Promise<unknown> => (await contextOf(bench, env))['cache']
    expect(await rate()).toMatchObject({ hit_rate: expect.closeTo(bench.simulator.stats().hit_rate, 9) })
    expect((await bench.run(['compact'], env)).out).toContain(`(by ${name};`)
    expect(await rate()).toMatchObject({ hit_rate: expect.closeTo(bench.simulator.stats().hit_rate, 9) })
    await bench.run(['-p', 'x', '--continue'], env)
    expect(await rate()).toMatchObject({ hit_rate: expect.closeTo(bench.simulator.stats().hit_rate, 9) })
  },
)

test('the tokens of a result are all that the provider processed in that run, including its own compaction', async () => {
  const bench = await createCommandBench()
  await switchOff(bench, 'background-calls')
  bench.simulator.addSteps([
    { ...summaryStep('They write.'), when: { source: 'compact' }, times: 9 },
    ...[...longAnswers('long', 8), { content: [text('Done.')] }].map((step) => ({ ...step, when: MAIN })),
  ])
  const env = { PALIMPSEST_MODEL: 'claude-opus-5-5', PALIMPSEST_WINDOW: '60000' }
  const { out } = await bench.run(['-p', 'write', '--output-format', 'json'], env)
  const { tokens, cost_usd } = bench.simulator.stats()
  expect(jsonObject(out)).toMatchObject({
    compactions: { server: 1 },
    total_cost_usd: expect.closeTo(cost_usd, 9),
    usage: {
      input_tokens: tokens.uncached,
      output_tokens: tokens.output,
      cache_creation_input_tokens: tokens.cache_write_5m + tokens.cache_write_1h,
      cache_read_input_tokens: tokens.cache_read,
    },
  })
})

test('context reports the same room as the screen, and counts compactions by who wrote their summary, over the whole session and in the result of a run', async () => {
  const { bench, env } = await filled('claude-opus-5-5')
  // Not of all that the model would accept.
  expect(await contextOf(bench, env)).toMatchObject({ window: 1_000_000, working: 200_000, room: 177_000 })
  const { out } = await bench.run(['context'], env)
  expect(out).toMatch(/^\S+ {2}claude-opus-5-5\n\d+ of 177000 tokens, \d+% left; /)
  expect(await contextOf(bench, env)).toMatchObject({ compactions: { total: 0, by_path: {} } })
  await bench.run(['compact'], env)
  bench.simulator.addSteps([
    ...[...longAnswers('more', 7), { content: [text('Done.')] }].map((step) => ({
      ...step,
      when: { bodyContains: 'a lot more' },
    })),
  ])
  const small = { ...env, PALIMPSEST_WINDOW: '60000' }
  const ran = await bench.run(['-p', 'a lot more', '--continue', '--output-format', 'json'], small)
  const made = jsonLines(ran.out).at(-1)?.['compactions']
  expect(made).toEqual({ fork: 1 })
  expect(await contextOf(bench, small)).toMatchObject({ compactions: { total: 2, by_path: { fork: 2 } } })
  expect((await bench.run(['context'], small)).out).toContain('\ncompacted 2 times: 2 by summary\n')
})

test('a breaker that opened is reported, with the time of the next attempt', async () => {
  const { bench, env } = await filled('claude-opus-5-5')
  const closed = { state: 'closed', failures: 0 }
  expect(await contextOf(bench, env)).toMatchObject({
    breakers: { summaries: closed, refills: closed, notes: closed },
  })
  bench.simulator.addFaults([
    { match: { bodyContains: 'Do not call any tool' }, times: 99, fault: { type: 'status', status: 400 } },
  ])
  for (let attempt = 0; attempt < 3; attempt++) {
    expect((await bench.run(['compact'], env)).exit).toBe(0)
    // Something that a compaction can take away.
    const name = `filling ${attempt}`
    const steps = [...longAnswers(name, 1), { content: [text('Done.')] }]
    bench.simulator.addSteps(steps.map((step) => ({ ...step, when: { bodyContains: name } })))
    await bench.run(['-p', name, '--continue'], env)
  }
  const { breakers } = await contextOf(bench, env)
  expect(breakers).toMatchObject({
    summaries: { state: 'open', failures: 3, retry_at: expect.stringMatching(/^\d{4}-/) },
  })
  expect((await bench.run(['context'], env)).out).toContain(
    '\nasking a model for summaries stopped after 3 failures, until ',
  )
  bench.wait(31 * 60_000)
  expect(await contextOf(bench, env)).toMatchObject({
    breakers: { summaries: { state: 'half-open', failures: 3 } },
  })
})

/** That each of them is heard, `compact.heavy.test.ts` and `traces.test.ts` show, too. */
const SWITCHED_OFF: readonly {
  readonly flags?: { readonly [flag: string]: boolean }
  readonly settings?: JsonObject
  readonly more?: { readonly [name: string]: string }
}[] = [
  { more: { DISABLE_AUTO_COMPACT: '1' } },
  ...(IS_SOAK ? [{ settings: { autoCompactEnabled: false } }, { flags: { 'auto-compact': false } }] : []),
]

test('if nothing compacts automatically, the command and the screen warn before the window is full', async () => {
  const { bench, env } = await filled('claude-opus-5-5')
  for (const { flags = {}, settings = {}, more = {} } of SWITCHED_OFF) {
    await setFlags(bench, { 'background-calls': false, ...flags })
    await put(join(bench.home, 'settings.json'), JSON.stringify(settings))
    const thresholds = { warning: 160_000, error: 170_000, auto: 167_000, blocking: 177_000 }
    const off = { ...env, ...more }
    expect(await contextOf(bench, off)).toMatchObject({ thresholds })
    expect((await bench.run(['context'], off)).out).not.toMatch(/^ {2}auto /m)
    const conversation = await openScreen(bench, off)
    expect(conversation.facts).toMatchObject({ thresholds, autoEnabled: false })
    await conversation.close()
  }
})

/** A session that has read files. */
async function filled(model: string, off: readonly string[] = ['server-compaction']) {
  const bench = await createCommandBench()
  await switchOff(bench, 'background-calls', 'micro-batch', ...off)
  const reads = Array.from({ length: FILES }, (_, i) => ({
    content: [text(`I read part ${i}.`), call('Read', { file_path: `part-${i}.ts` })],
    when: MAIN,
  }))
  for (let i = 0; i < FILES; i++) await writeFile(join(bench.folder, `part-${i}.ts`), longText(`part ${i}`))
  bench.simulator.addSteps([
    { ...summaryStep('They read parts.'), when: { source: 'compact' }, times: 9 },
    ...reads,
    { content: [text('All are read.')], when: { bodyContains: 'read them all' } },
    { content: [text('Yes.')], when: { bodyContains: '"x"' }, times: 9 },
  ])
  const env = { PALIMPSEST_MODEL: model }
  const ran = await bench.run(['-p', 'read them all'], env)
  expect(ran).toMatchObject({ exit: 0, out: 'All are read.\n' })
  return { bench, env }
}

async function contextOf(bench: CommandBench, env: { readonly [name: string]: string }): Promise<JsonObject> {
  return jsonObject((await bench.run(['context', '--json'], env)).out)
}
