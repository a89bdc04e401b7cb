import { readFile, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

import { describe, expect, inject, test } from 'vitest'

import { createBench, text, type Bench } from './kit/headless.ts'
import { SOURCES } from './kit/bundle.ts'

// What a look at something stored must not pay for: a provider's client, the offline model, the simulator.

/** Writes down whatever a process loads. */
const RECORDER = `
import { registerHooks } from 'node:module'
import { appendFileSync } from 'node:fs'
registerHooks({ load(url, context, next) { appendFileSync(process.env.LOADED_LIST, url + '\\n'); return next(url, context) } })
`

const HEAVY = /@anthropic-ai\/sdk|@ai-sdk\/|growthbook|offline\/(?!create-offline-model|index)|simulator\//

describe('the built command', () => {
  test('--version, --help, sessions and context load no client of a provider, no offline model and no simulator; the same check sees what a turn loads', async () => {
    const bench = await createBench({ script: [{ content: [text('hello')] }] })
    // It makes the session that the others look at.
    const loaded = await loadedBy(bench, ['-p', 'hello'])
    expect(loaded.some((source) => /@anthropic-ai\/sdk/.test(source))).toBe(true)
    for (const args of [['--version'], ['--help'], ['sessions'], ['context']]) {
      const heavy = (await loadedBy(bench, args)).filter((source) => HEAVY.test(source))
      expect([args, heavy]).toEqual([args, []])
    }
    const offline = await loadedBy(bench, ['-p', 'hello', '--model', 'palimpsest-offline'])
    expect(offline.some((source) => /offline\/choose-reply/.test(source))).toBe(true)
  })
})

/** The sources in all the files that the command loads. */
async function loadedBy(bench: Bench, args: readonly string[]): Promise<readonly string[]> {
  const [recorder, list] = [join(bench.folder, 'recorder.mjs'), join(bench.folder, 'loaded.txt')]
  await writeFile(recorder, RECORDER)
  await writeFile(list, '')
  const env = { NODE_OPTIONS: `--import=${pathToFileURL(recorder).href}`, LOADED_LIST: list }
  const { exit } = await bench.start(args, { env }).ended
  expect(exit).toBe(0)
  const sources: { readonly [file: string]: readonly string[] } = JSON.parse(
    await readFile(join(dirname(inject('bundle')), '..', SOURCES), 'utf8'),
  )
  const urls = (await readFile(list, 'utf8')).split('\n').filter((url) => url.startsWith('file:'))
  return urls.flatMap((url) => {
    const path = fileURLToPath(url)
    return [path, ...(sources[basename(path)] ?? [])]
  })
}
