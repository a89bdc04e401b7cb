import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { createCommandBench, type CommandBench } from '../kit/command-bench.ts'
import { put, text } from '../kit/headless.ts'

// A base URL may hold a token, wherever a token can be in one. Nothing that is printed or kept says it.

const SECRET = 'tok-0123456789-abcdef-hush7'
const withSecret = (url: string): string => `${url}/${SECRET}/x?key=${SECRET}#${SECRET}`

/** Whatever address is asked, the simulator answers. */
async function open(): Promise<CommandBench> {
  const bench: CommandBench = await createCommandBench({
    script: [{ content: [text('Four.')], times: 5 }],
    instead: async (request) =>
      request.method === 'POST'
        ? await bench.simulator.fetch(new Request(`${bench.url}/v1/messages`, request))
        : new Response('none', { status: 404 }),
  })
  return bench
}

async function filesOf(folder: string): Promise<string> {
  const names = await readdir(folder, { recursive: true })
  const paths = names.map((name) => join(folder, name))
  const files = await Promise.all(
    paths.map(async (path) => ((await stat(path)).isFile() ? await readFile(path, 'latin1') : '')),
  )
  return [...names, ...files].join('\n')
}

const COMMANDS = [
  ['-p', 'two and two?', '--debug', '--output-format', 'stream-json'],
  ['-p', 'again', '--continue'],
  ['doctor'],
  ['doctor', '--json'],
  ['doctor', '--bundle', 'bundle.json'],
  ['context'],
  ['compact', '--debug'],
  ['sessions', '--json'],
]

test('no command prints or stores a token from the base URL', async () => {
  const bench = await open()
  const env = { PALIMPSEST_BASE_URL: withSecret(bench.url), ANTHROPIC_API_KEY: 'sk-key' }
  const printed: string[] = []
  for (const args of COMMANDS) {
    const { out, err } = await bench.run(args, env)
    printed.push(out, err)
  }
  expect(printed.join('\n')).toContain('Four.')
  expect(printed.join('\n')).not.toContain('hush7')
  expect(await filesOf(bench.home)).not.toContain('hush7')
  expect(await readFile(join(bench.folder, 'bundle.json'), 'utf8')).not.toContain('hush7')
})

test('a token in an address from the settings, or in an invalid one, is not shown either', async () => {
  const bench = await open()
  const settings = (baseUrl: string): string => JSON.stringify({ baseUrl })
  const printed: string[] = []
  const run = async (
    args: readonly string[],
    env: { readonly [name: string]: string | undefined },
  ): Promise<void> => {
    const { out, err } = await bench.run(args, env)
    printed.push(out, err)
  }
  await put(join(bench.folder, '.palimpsest', 'settings.json'), settings(withSecret(bench.url)))
  await run(['-p', 'hello', '--trust'], { PALIMPSEST_BASE_URL: undefined, ANTHROPIC_API_KEY: 'sk-key' })
  await run(['doctor'], { PALIMPSEST_BASE_URL: undefined, ANTHROPIC_API_KEY: 'sk-key' })
  for (const wrong of [
    `ftp://x/${SECRET}?${SECRET}`,
    `http://me:${SECRET}@x/`,
    `${SECRET}@x`,
    `x?${SECRET}`,
  ]) {
    await run(['-p', 'hello'], { PALIMPSEST_BASE_URL: wrong })
    await run(['-p', 'hello', '--base-url', wrong], {})
    await run(['doctor'], { ANTHROPIC_BASE_URL: wrong, PALIMPSEST_BASE_URL: undefined })
    await run(['doctor'], { PALIMPSEST_FLAGS_URL: wrong })
    await put(join(bench.home, 'settings.json'), settings(wrong))
    await run(['doctor'], { PALIMPSEST_BASE_URL: undefined })
    await run(['-p', 'hello'], { PALIMPSEST_BASE_URL: undefined })
    await put(join(bench.home, 'settings.json'), '{}')
  }
  expect(printed.join('\n')).toMatch(/was chosen by the project, so it gets no key/)
  expect(printed.join('\n')).toMatch(/must be an http or https address/)
  expect(printed.join('\n')).not.toContain('hush7')
})
