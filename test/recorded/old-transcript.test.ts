import { cp, readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { projectSlug } from '../../packages/palimpsest/src/node/files/paths.ts'
import { promptTokens } from '../../packages/palimpsest/src/wire/usage.ts'
import { createCommandBench } from '../kit/command-bench.ts'
import { switchOff } from '../kit/compacting.ts'
import { startsWithAll, text } from '../kit/headless.ts'

// A session that an old build wrote (f793ecba, before its folders moved), with the command against the simulator, in /tmp/kitchen: it read
// recipes and thought, was compacted, stored a long result, failed at a command, and after an hour its old results were cleared.
// `last-request.body` is the last request as it arrived. Our prompt and tools have changed since; those that the session began with stand
// in its transcript. Nobody writes these files again: what users have on disk does not change with us.

const OLD = join(import.meta.dirname, 'old-build')
const ID = '7e93e8b9-7930-4966-b12a-beedb4274e02'
/** The entry that says a result lies on disk. */
const STORED_ID = '488135a6-0623-41bf-8ce3-a14cac6fedb0'
const KEY = 'kitchen'
const ENV = { PALIMPSEST_MODEL: 'claude-opus-5', PALIMPSEST_WINDOW: '30000', ANTHROPIC_API_KEY: KEY }
/** Two minutes after its last answer: nothing has expired. */
const NOW = Date.parse('2027-01-15T09:04:00.000Z')

test('a session of an old build continues byte for byte, and its entire last prompt is read from the cache', async () => {
  const sent: Promise<string>[] = []
  const bench = await createCommandBench({
    from: { now: NOW, ids: 0 },
    instead: (request) => {
      if (request.url.endsWith('/v1/messages')) sent.push(request.clone().text())
      return undefined
    },
  })
  await switchOff(bench, 'server-compaction', 'background-calls')
  const folder = join(bench.home, 'projects', projectSlug(bench.folder))
  const path = join(folder, `${ID}.jsonl`)
  await cp(join(OLD, 'session.jsonl'), path)
  await cp(join(OLD, 'tool-results'), join(folder, ID, 'tool-results'), { recursive: true })
  const [entries, last] = [await read(path), await read(join(OLD, 'last-request.body'))]

  bench.simulator.addSteps([{ content: [text('200.')] }, { content: [text('You are welcome.')] }])
  const headers = {
    'content-type': 'application/json',
    'x-api-key': KEY,
    'anthropic-version': '2023-06-01',
    'anthropic-beta': 'extended-cache-ttl-2025-04-11',
  }
  await (await fetch(`${bench.url}/v1/messages`, { method: 'POST', headers, body: last })).text()
  const ran = await bench.run(['-p', 'Thank you.', '--resume', ID], ENV)
  expect(ran).toMatchObject({ exit: 0, out: 'You are welcome.\n' })

  const [before, resumed = ''] = await Promise.all(sent)
  expect(before).toBe(last)
  expect(startsWithAll(resumed, last)).toBe(true)
  const [old, first] = bench.simulator.requests().flatMap(({ usage }) => usage ?? [])
  expect({ prompt: old && promptTokens(old), read: first?.cache_read_input_tokens }).toEqual({
    prompt: 6_287,
    read: 6_287,
  })

  // What it wrote stands as it wrote it; the first line alone is written again, in place.
  expect(withoutHead(await read(path)).startsWith(withoutHead(entries))).toBe(true)
  expect(await bench.run(['restore', STORED_ID, '--session', ID], ENV)).toMatchObject({
    exit: 0,
    out: expect.stringMatching(/^restored: 16691 characters, /),
  })
  expect(await read(path)).toContain('batch 399 of the jam boils at 104 degrees')
})

async function read(path: string): Promise<string> {
  return await readFile(path, 'utf8')
}

function withoutHead(lines: string): string {
  return lines.slice(lines.indexOf('\n'))
}
