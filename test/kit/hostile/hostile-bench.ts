import { mkdir, mkdtemp, realpath } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { onTestFinished } from 'vitest'

import { runCli } from '../../../packages/palimpsest-cli/src/commands/run-cli.ts'
import {
  createSimulator,
  STRICT_SWITCHES,
  type Simulator,
} from '../../../packages/palimpsest/src/lab/simulator/index.ts'
import { openChatServer, type ChatServer } from '../chat-server.ts'
import { removeFolder } from '../temp-home.ts'
import { openHostileServer, type HostileServer } from './hostile-server.ts'

// The command in this process, against a server that does to it what a test says, and answers well otherwise: the strictest reading of the
// API judges every request that the good answers are for.

export const GOOD = 'A good answer.'

export interface HostileBench {
  readonly server: HostileServer
  readonly simulator: Simulator
  readonly home: string
  readonly folder: string
  readonly userHome: string
  readonly env: { readonly [name: string]: string | undefined }
  readonly run: (args: readonly string[], more?: RunMore) => Promise<HostileRun>
  /** Time passes, for the command. */
  readonly wait: (ms: number) => void
}

export interface RunMore {
  readonly env?: { readonly [name: string]: string | undefined }
  readonly signal?: AbortSignal
}

export interface HostileRun {
  readonly exit: number
  readonly out: string
  readonly err: string
  readonly ms: number
}

export async function createHostileBench(): Promise<HostileBench> {
  const simulator = createSimulator({
    switches: { ...STRICT_SWITCHES, pastScript: 'refuse' },
    script: [{ content: [{ type: 'text', text: GOOD }], times: 1_000_000 }],
  })
  const bench = await benchFor((request) => simulator.fetch(request))
  return { ...bench, simulator }
}

export interface ChatBench extends Omit<HostileBench, 'simulator'> {
  readonly chat: ChatServer
}

/** The same with a server of chat completions, as strict as the strictest of their kind. */
export async function createHostileChatBench(): Promise<ChatBench> {
  const chat = await openChatServer([], { pastScript: { text: GOOD } })
  const bench = await benchFor(async (request) => {
    const { pathname } = new URL(request.url)
    return await fetch(`${chat.url.replace(/\/v1$/, '')}${pathname}`, {
      method: request.method,
      headers: { 'content-type': 'application/json' },
      ...(request.method === 'POST' && { body: await request.text() }),
    })
  })
  return { ...bench, chat }
}

async function benchFor(
  good: (request: Request) => Promise<Response>,
): Promise<Omit<HostileBench, 'simulator'>> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'palimpsest-hostile-')))
  const server = await openHostileServer(good)
  onTestFinished(async () => await removeFolder(root))
  const [home, folder, userHome] = [join(root, 'home'), join(root, 'work'), join(root, 'user')]
  await mkdir(folder)
  await mkdir(userHome)
  let waitedMs = 0
  const env = {
    PATH: process.env['PATH'],
    PALIMPSEST_HOME: home,
    PALIMPSEST_BASE_URL: server.url,
    PALIMPSEST_MEMORY_EXTRACT: '0',
  }
  const run: HostileBench['run'] = async (args, more = {}) => {
    const texts = { out: '', err: '' }
    const startedAt = performance.now()
    const exit = await runCli(args, {
      version: '1.2.3',
      nodeVersion: process.version,
      env: { ...env, ...more.env },
      cwd: folder,
      userHome,
      now: () => Date.now() + waitedMs,
      platform: process.platform,
      readInput: async () => ({ kind: 'none' }),
      print: (text) => (texts.out += text),
      printError: (text) => (texts.err += text),
      signal: more.signal ?? new AbortController().signal,
    })
    return { exit, ...texts, ms: performance.now() - startedAt }
  }
  const wait = (ms: number): void => void (waitedMs += ms)
  return { server, home, folder, userHome, env, run, wait }
}

/** Longer is a page, not a sentence. */
const SENTENCE_CHARS_MAX = 1_500

/** What is wrong with how a run ended: an answer, or exactly one sentence. */
export function complaintsAbout({
  exit,
  out,
  err,
}: Pick<HostileRun, 'exit' | 'out' | 'err'>): readonly string[] {
  const told = err.split('\n').filter((line) => line.startsWith('palimpsest: '))
  return [
    ...(exit === 0 || exit === 1 ? [] : [`exit code ${exit}`]),
    ...(exit === 0 && told.length > 0 ? [`an answer and a problem: ${told.join(' / ').slice(0, 200)}`] : []),
    ...(exit === 1 && told.length !== 1 ? [`${told.length} sentences: ${err.slice(0, 300)}`] : []),
    ...(exit === 1 && out !== '' && !out.endsWith('\n') ? ['half a line'] : []),
    ...(/^\s+at .+[:(]/m.test(err) ? [`a stack trace: ${err.slice(0, 400)}`] : []),
    ...(told.some((line) => line.length > SENTENCE_CHARS_MAX) ? ['a sentence that is too long'] : []),
    ...(/undefined|\[object Object\]|NaN/.test(told.join(''))
      ? [`no sentence: ${told.join(' / ').slice(0, 300)}`]
      : []),
  ]
}
