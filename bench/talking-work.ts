import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { openFileMailbox } from '../packages/palimpsest/src/node/mailbox/file-mailbox.ts'
import { serve } from '../packages/palimpsest/src/node/serving/serve.ts'
import {
  createSimulator,
  STRICT_SWITCHES,
  type LoggedRequest,
  type ScriptStep,
} from '../packages/palimpsest/src/lab/simulator/index.ts'
import { isJsonObject, type JsonObject } from '../packages/palimpsest/src/wire/json.ts'
import { runInside } from '../test/kit/run-inside.ts'

// The work of Bob, who has a seat in a team and reads one file after the other. Ann writes to him while requests are under way, so that what
// she writes joins at the next tool boundary.

export interface Work {
  /** Files that are read, one a request. */
  readonly rounds: number
  /** So many of the first requests are each followed by a message. */
  readonly messages: number
}

const FILE_LINE = 'export function berth(ship: Ship, tide: number): Berth { return quay.find(ship, tide) }\n'
const FILE_LINES = 60
const MESSAGE =
  'I changed what find() of the quay returns: it is undefined now where no berth is free. The tests of the harbour pass; yours may need the same change. I leave the tide tables to you. '.repeat(
    3,
  )
const SEAT = ['--team', 'red', '--as', 'bob']

/** All requests of the run, as the simulator judged them. */
export async function playWork({ rounds, messages }: Work): Promise<readonly LoggedRequest[]> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'palimpsest-talking-')))
  const [home, folder, userHome] = [join(root, 'home'), join(root, 'work'), join(root, 'user')]
  for (const path of [home, folder, userHome]) await mkdir(path, { mode: 0o700 })
  for (let i = 0; i < rounds; i++)
    await writeFile(join(folder, `part-${i}.ts`), `// part ${i}\n${FILE_LINE.repeat(FILE_LINES)}`)
  // The mailboxes are there in either case: who is in a team is told to the model.
  await openFileMailbox({ home, team: 'red', self: 'bob' })
  const ann = await openFileMailbox({ home, team: 'red', self: 'ann' })
  const simulator = createSimulator({ switches: STRICT, script: scriptOf(rounds) })
  let sent = 0
  const served = await serve(async (request) => {
    if (request.url.endsWith('/messages') && sent < messages) {
      const summary = `news ${++sent}`
      await ann.send({ id: `news-${sent}`, from: 'ann', to: 'bob', at: sent, summary, message: MESSAGE })
    }
    return await simulator.fetch(request)
  })
  try {
    const env = {
      PATH: process.env['PATH'] ?? '',
      PALIMPSEST_HOME: home,
      HOME: userHome,
      PALIMPSEST_BASE_URL: served.url,
      PALIMPSEST_MEMORY_EXTRACT: '0',
    }
    const ran = await runInside(['-p', 'Read all parts, one after the other.', ...SEAT], { cwd: folder, env })
    if (ran.exit !== 0) throw new Error(ran.err)
  } finally {
    await served.close()
    await rm(root, { recursive: true, force: true })
  }
  return simulator.requests()
}

const STRICT = { ...STRICT_SWITCHES, pastScript: 'refuse' as const }

function scriptOf(rounds: number): readonly ScriptStep[] {
  const reading = Array.from({ length: rounds }, (_, i): ScriptStep => ({
    content: [{ type: 'tool_use', name: 'Read', input: { file_path: `part-${i}.ts` } }],
  }))
  return [...reading, { content: [{ type: 'text', text: 'All parts are read.' }] }]
}

/** The same requests, with each message after the system prompt from the request on with which it came. */
export function playInFront(requests: readonly LoggedRequest[]): readonly LoggedRequest[] {
  const simulator = createSimulator({ switches: STRICT, script: scriptOf(requests.length - 1) })
  for (const { body, headers } of requests) simulator.answer(messagesInFront(body), headers)
  return simulator.requests()
}

function messagesInFront(body: LoggedRequest['body']): JsonObject {
  const whole: unknown = typeof body === 'string' ? JSON.parse(body) : body
  if (!isJsonObject(whole)) throw new Error('a request has no body')
  const moved: JsonObject[] = []
  const messages = objectsIn(whole['messages']).flatMap((message) => {
    const { content } = message
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : objectsIn(content)
    const rest = blocks.filter((block) => !isLetter(block))
    for (const block of blocks) if (isLetter(block)) moved.push({ type: 'text', text: block['text'] })
    return rest.length === 0 ? [] : [{ ...message, content: rest }]
  })
  return { ...whole, system: [...objectsIn(whole['system']), ...moved], messages }
}

function isLetter({ text }: JsonObject): boolean {
  return typeof text === 'string' && text.startsWith('<agent-message')
}

function objectsIn(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter((item) => isJsonObject(item)) : []
}

export interface Bill {
  readonly requests: number
  readonly promptTokens: number
  readonly lastPromptTokens: number
  readonly readTokens: number
  /** Of what the request before had sent already: sent again after a prefix that changed. */
  readonly rewrittenTokens: number
  readonly usd: number
}

export function billOf(requests: readonly LoggedRequest[]): Bill {
  const refused = requests.find(({ status }) => status !== 200)
  if (refused) throw new Error(`a request was refused: ${refused.error?.message}`)
  const sum = (of: (request: LoggedRequest, before: LoggedRequest | undefined) => number): number =>
    requests.reduce((all, request, i) => all + of(request, requests[i - 1]), 0)
  return {
    requests: requests.length,
    promptTokens: sum(({ input_tokens: tokens }) => tokens),
    lastPromptTokens: requests.at(-1)?.input_tokens ?? 0,
    readTokens: sum(({ usage }) => usage?.cache_read_input_tokens ?? 0),
    rewrittenTokens: sum(({ common_prefix_tokens: common }, before) =>
      before ? before.input_tokens - common : 0,
    ),
    usd: sum(({ cost_usd: usd }) => usd),
  }
}
