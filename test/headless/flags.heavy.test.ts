import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { expect, onTestFinished, test, vi } from 'vitest'

import { serve } from '../../packages/palimpsest/src/node/serving/serve.ts'
import { call, createBench, onlyTranscript, put, text, type Bench } from '../kit/headless.ts'

// Flags as a user sets them, through the command: a file, a service, and never a wait.

const BIG = 'a line of the file\n'.repeat(4_000)
const STORAGE_OFF = JSON.stringify({ features: { 'tool-result-storage': { defaultValue: false } } })
const bash = (command: string) => call('Bash', { command })
const ALLOW = ['--allowed-tools', 'Bash']

test('a change to the file applies in the middle of a run; what was stored before stays stored', async () => {
  const bench = await createBench({
    script: [
      { content: [bash('cat big.txt')] },
      { content: [bash('touch waiting; while [ ! -e go ]; do sleep 0.02; done; cat big.txt')] },
      { content: [text('done')] },
    ],
  })
  await put(join(bench.folder, 'big.txt'), BIG)
  const running = bench.run(['-p', 'read it twice', ...ALLOW])
  await vi.waitFor(async () => expect(await readdir(bench.folder)).toContain('waiting'), { timeout: 30_000 })
  await writeFile(join(bench.home, 'flags.json'), STORAGE_OFF)
  await writeFile(join(bench.folder, 'go'), '')
  expect(await running).toMatchObject({ exit: 0, out: 'done\n', err: '' })
  const results = await resultsOf(bench)
  expect(results.map((result) => result.startsWith('<persisted-output>'))).toEqual([true, false])
  const [, second, third] = bench.simulator.requests()
  expect(third?.common_prefix_tokens).toBe(second?.input_tokens)
})

test('an invalid file is reported once and changes nothing', async () => {
  const bench = await createBench({ script: readAndAnswer() })
  await put(join(bench.folder, 'big.txt'), BIG)
  await put(join(bench.home, 'flags.json'), '{"features": {"tool-result-storage": {"defaultValue": fal')
  const { exit, err } = await bench.run(['-p', 'read it', ...ALLOW])
  expect(exit).toBe(0)
  expect(err.match(/flags\.json/g)).toHaveLength(1)
  expect(err).toContain('this is not valid JSON')
  expect((await resultsOf(bench))[0]).toMatch(/^<persisted-output>/)
})

test('a service that never answers delays neither the start nor the end', async () => {
  const bench = await createBench({ script: [{ content: [text('done')] }] })
  const asked: string[] = []
  const held = await serve(async ({ url }) => {
    asked.push(url)
    return await new Promise<Response>(() => undefined)
  })
  onTestFinished(async () => await held.close())
  const ran = await bench.run(['-p', 'hello'], { env: { PALIMPSEST_FLAGS_URL: `${held.url}/sdk-1` } })
  expect(ran).toMatchObject({ exit: 0, out: 'done\n', err: '' })
  expect(asked).toHaveLength(1)
})

test('what a service said is known at the next start, even if the service is gone', async () => {
  const bench = await createBench({ script: [...waitForFlags(), ...readAndAnswer()] })
  await put(join(bench.folder, 'big.txt'), BIG)
  const service = await serve(async () => new Response(STORAGE_OFF))
  onTestFinished(async () => await service.close())
  await put(join(bench.home, 'settings.json'), JSON.stringify({ flagsUrl: `${service.url}/sdk-1` }))
  const known = join(bench.home, 'flags-last-known.json')
  const first = await bench.run(['-p', 'wait', ...ALLOW], { env: { KNOWN: known } })
  expect(first).toMatchObject({ exit: 0, err: '' })
  await service.close()
  const second = await bench.run(['-p', 'read it', ...ALLOW, '--continue'])
  expect(second).toMatchObject({ exit: 0, out: 'read\n', err: '' })
  expect((await resultsOf(bench)).at(-1)).toBe(BIG.trimEnd())
})

test('a project cannot name a service, trusted or not', async () => {
  const bench = await createBench({ script: [{ content: [text('done')] }, { content: [text('done')] }] })
  const asked: string[] = []
  const service = await serve(async ({ url }) => {
    asked.push(url)
    return new Response(STORAGE_OFF)
  })
  onTestFinished(async () => await service.close())
  await mkdir(join(bench.folder, '.palimpsest'))
  await writeFile(
    join(bench.folder, '.palimpsest', 'settings.json'),
    JSON.stringify({ flagsUrl: service.url }),
  )
  await writeFile(join(bench.folder, '.palimpsest', 'flags.json'), STORAGE_OFF)
  const untrusted = await bench.run(['-p', 'hello'])
  const trusted = await bench.run(['-p', 'hello', '--trust'])
  expect([untrusted.exit, trusted.exit]).toEqual([0, 0])
  expect(trusted.err).toContain('"flagsUrl" cannot be set in a project')
  expect(asked).toEqual([])
})

function readAndAnswer() {
  return [{ content: [bash('cat big.txt')] }, { content: [text('read')] }]
}

/** A run that lasts until the service has answered. */
function waitForFlags() {
  return [{ content: [bash('while [ ! -e "$KNOWN" ]; do sleep 0.02; done')] }, { content: [text('known')] }]
}

/** What the model was shown for each call, in order. */
async function resultsOf(bench: Bench): Promise<readonly string[]> {
  const lines = await onlyTranscript(bench)
  return lines.flatMap(({ message }) => {
    const parsed: { content?: unknown } = JSON.parse(JSON.stringify(message ?? {}))
    const blocks: readonly { type?: string; content?: unknown }[] = Array.isArray(parsed.content)
      ? parsed.content
      : []
    return blocks.flatMap(({ type, content }) =>
      type === 'tool_result' && typeof content === 'string' ? [content] : [],
    )
  })
}
