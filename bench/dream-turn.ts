import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isMainThread, parentPort, Worker, type MessagePort } from 'node:worker_threads'

import { createSimulator } from 'palimpsest/simulator'

import { drive } from '../packages/palimpsest/src/drive.ts'
import { addMemory } from '../packages/palimpsest/src/layers/5-memory/change-memory.ts'
import { openHome } from '../packages/palimpsest/src/node/files/inside-home.ts'
import { openProject } from '../packages/palimpsest/src/node/files/paths.ts'
import { serve } from '../packages/palimpsest/src/node/serving/serve.ts'
import { memoriesOf } from '../packages/palimpsest-cli/src/memory/memory-scopes.ts'
import { isRunning } from '../packages/palimpsest-cli/src/tasks/background-task.ts'
import {
  hostConversation,
  type HostedConversation,
} from '../packages/palimpsest-cli/src/tui/host/host-conversation.ts'
import type { World } from '../packages/palimpsest-cli/src/world.ts'
import { print, type Figure } from './figure.ts'

// A turn while a dream runs in the same process, beside the same turn while none does. The simulator is in a thread of its own, as a provider is
// elsewhere. The dream gets an answer every half second and runs a tool for each: from a real model one comes in seconds.

const ROUNDS = 7
const TURNS = 20
const DREAM_STEP_MS = 500
const MEMORIES = 20

export async function benchDreamTurn(): Promise<Figure[]> {
  const worker = new Worker(import.meta.filename)
  const url = await new Promise<string>((resolve) => {
    worker.once('message', (told) => resolve(String(told)))
  })
  const rounds: { readonly idleMs: number; readonly busyMs: number }[] = []
  try {
    // Whatever grows with a conversation grows for both: each comes first in every other round.
    for (let round = 0; round < ROUNDS; round++) {
      const { idle, busy } = await measureRound(url, round % 2 === 0)
      rounds.push({ idleMs: median(idle), busyMs: median(busy) })
    }
  } finally {
    await worker.terminate()
  }
  // Round by round: what else the machine does changes from one to the next.
  const ratio = median(rounds.map(({ idleMs, busyMs }) => busyMs / idleMs))
  return [
    { name: 'a turn while nothing dreams', value: median(rounds.map(({ idleMs }) => idleMs)), unit: 'ms' },
    { name: 'a turn while a dream runs', value: median(rounds.map(({ busyMs }) => busyMs)), unit: 'ms' },
    { name: 'dreaming / idle', value: ratio, unit: '×', atMost: 1.25 },
  ]
}

async function measureRound(
  url: string,
  isIdleFirst: boolean,
): Promise<{ readonly idle: readonly number[]; readonly busy: readonly number[] }> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'palimpsest-bench-dream-')))
  const conversation = await openWithMemories(root, url)
  const dreamt = async (): Promise<readonly number[]> => {
    const { dreaming } = conversation.prepared
    await dreaming.dreamNow()
    const [task] = dreaming.tasks.list()
    while (task?.status().toolCount === 0 && isRunning(task.status())) await sleep(5)
    const times = await turns(conversation)
    if (!task || !isRunning(task.status())) throw new Error(`no dream runs: ${task?.status().text}`)
    task.kill()
    await task.ended
    return times
  }
  try {
    await turns(conversation)
    if (isIdleFirst) return { idle: await turns(conversation), busy: await dreamt() }
    return { busy: await dreamt(), idle: await turns(conversation) }
  } finally {
    await conversation.close()
    await rm(root, { recursive: true })
  }
}

async function openWithMemories(root: string, url: string): Promise<HostedConversation> {
  const [folder, userHome] = [join(root, 'work'), join(root, 'user')]
  await mkdir(folder)
  await mkdir(userHome)
  const home = await openHome(join(root, 'home'))
  const world: World = {
    version: '0.0.0',
    nodeVersion: process.version,
    env: {
      PATH: process.env['PATH'],
      PALIMPSEST_HOME: home,
      PALIMPSEST_BASE_URL: url,
      PALIMPSEST_MEMORY_EXTRACT: '0',
    },
    cwd: folder,
    userHome,
    now: () => Date.now(),
    platform: process.platform,
    readInput: async () => ({ kind: 'none' }),
    print: () => undefined,
    printError: () => undefined,
    signal: new AbortController().signal,
  }
  const [memory] = memoriesOf(await openProject(home, folder), world)
  if (!memory) throw new Error('unreachable: a project has memories')
  for (let i = 0; i < MEMORIES; i++)
    await addMemory({ text: `Service${i} is owned by team${i} and answers on port ${4_000 + i}` }, memory)
  const wishes = {
    prompt: '',
    cwd: folder,
    session: { kind: 'new' as const },
    trust: false,
    allowed: [],
    roundsMax: 20,
    systemPrompt: {},
    debug: false,
  }
  return await hostConversation(wishes, home, world)
}

async function turns(conversation: HostedConversation): Promise<readonly number[]> {
  const times: number[] = []
  for (let i = 0; i < TURNS; i++) {
    const begun = performance.now()
    await drive(conversation.say(`Question ${i}?`, new AbortController().signal))
    times.push(performance.now() - begun)
  }
  return times
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN
}

/** Answers, whoever asks and however often. */
const ENDLESS = 100_000

async function serveSimulator(port: MessagePort | null): Promise<void> {
  const call = { type: 'tool_use' as const, name: 'Glob', input: { pattern: '*.md' } }
  const simulator = createSimulator({
    script: [
      { content: [{ type: 'text', text: 'Yes.' }], when: { source: 'main' }, times: ENDLESS },
      { content: [call], when: { source: 'dream' }, times: ENDLESS, delay_ms: DREAM_STEP_MS },
    ],
  })
  const served = await serve((request) => simulator.fetch(request))
  port?.postMessage(served.url)
}

if (!isMainThread) await serveSimulator(parentPort)
else if (import.meta.main) print('A turn beside a dream', await benchDreamTurn())
