import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'

import Anthropic from '@anthropic-ai/sdk'
import { createAgent } from 'palimpsest'
import { createSimulator } from 'palimpsest/simulator'

import { createIndexer } from '../packages/palimpsest/src/node/recall-index/create-indexer.ts'
import { removeRecallIndex } from '../packages/palimpsest/src/node/recall-index/open-recall.ts'
import { fileStore } from '../packages/palimpsest/src/node/transcripts/file-store.ts'
import { print, type Figure } from './figure.ts'
import { writeProject } from './recall/write-project.ts'

// A turn while a project is being indexed, beside the same turn while nothing is. Turns of both kinds alternate in blocks, in one run.

const ENTRIES = 20_000
const ROUNDS = 6
const TURNS = 40
const START_MS = 500

export async function benchRecallTurn(): Promise<Figure[]> {
  const words = 'harbour lantern heron ledger compile promise window cache token'.split(' ')
  const lines = Array.from({ length: ENTRIES }, (_, i) => {
    const text = Array.from(
      { length: 120 },
      (__, k) => `${words[(i * 7 + k * 3) % words.length] ?? ''}${(i * k) % 997}`,
    )
    return { id: `e${i}`, at: i * 1_000, role: 'user' as const, content: text.join(' ') }
  })
  const idle: number[] = []
  const busy: number[] = []
  const project = await writeProject([{ id: 'large', lines }])
  for (let round = 0; round < ROUNDS; round++) {
    idle.push(...(await turns()))
    const indexer = createIndexer(project)
    indexer.nudge()
    // A thread that starts is not yet one that indexes.
    await setTimeout(START_MS)
    busy.push(...(await turns()))
    await indexer.close()
    removeRecallIndex(project)
  }
  await project.remove()
  const ratio = median(busy) / median(idle)
  return [
    { name: 'a turn while nothing is indexed', value: median(idle), unit: 'ms' },
    { name: 'a turn while a project is indexed', value: median(busy), unit: 'ms' },
    { name: 'busy / idle', value: ratio, unit: '×', atMost: 1.5 },
  ]
}

async function turns(): Promise<readonly number[]> {
  const home = await realpath(await mkdtemp(join(tmpdir(), 'palimpsest-bench-turn-')))
  const script = Array.from({ length: TURNS }, (_, i) => ({
    content: [{ type: 'text', text: `Answer ${i}.` }],
  }))
  const simulator = createSimulator({ script })
  const fetch: typeof globalThis.fetch = (input, init) => simulator.fetch(new Request(input, init))
  const client = new Anthropic({ apiKey: 'none', fetch })
  const agent = createAgent({ client, model: 'claude-sonnet-5-5', store: fileStore(home) })
  const times: number[] = []
  try {
    for (let i = 0; i < TURNS; i++) {
      const begun = performance.now()
      for await (const _ of agent.send(`Question ${i}?`));
      times.push(performance.now() - begun)
    }
  } finally {
    await agent.close()
    await rm(home, { recursive: true })
  }
  return times
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN
}

if (import.meta.main) print('A turn beside the index', await benchRecallTurn())
