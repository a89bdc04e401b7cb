import { cpSync, statSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { createOfflineModel, OFFLINE_MODEL } from 'palimpsest/providers/offline'
import { BUILT_IN_FLAGS, type History, type Ports } from 'palimpsest'
import { openConversation } from 'palimpsest/conversation'
import { emptyView } from 'palimpsest/transcript'

import { createAccess } from '../../packages/palimpsest-cli/src/agent/paths/access.ts'
import { createPermit } from '../../packages/palimpsest-cli/src/agent/permissions/create-permit.ts'
import { commandEnvironment } from '../../packages/palimpsest-cli/src/agent/process/child-environment.ts'
import { createSandbox } from '../../packages/palimpsest-cli/src/agent/sandbox/create-sandbox.ts'
import { createShells } from '../../packages/palimpsest-cli/src/agent/shell/shells.ts'
import { SYSTEM_PROMPT } from '../../packages/palimpsest-cli/src/agent/system-prompt.ts'
import { createTools } from '../../packages/palimpsest-cli/src/agent/tools/create-tools.ts'
import type { Output } from '../../packages/palimpsest-cli/src/print/output.ts'
import { requestPrefix } from 'palimpsest/conversation'
import { runHeadless } from '../../packages/palimpsest-cli/src/print/run-headless.ts'
import { readWindow } from '../../packages/palimpsest-cli/src/run/window-settings.ts'
import { NO_TOTALS } from '../../packages/palimpsest/src/transcript/totals.ts'
import type { CodeBase } from './read-questions.ts'

// A question put to the offline model as a user would put it: the real loop, the real tools, the code base's folder. Only the disk is
// missing: nothing is kept.

/** More rounds than the model ever makes: reaching them is a mistake that shows. */
const ROUNDS_MAX = 12

export interface Asked {
  readonly answer: string
  readonly rounds: number
  /** Characters of all tool results. */
  readonly resultChars: number
}

export interface Ask extends AsyncDisposable {
  readonly ask: (question: string) => Promise<Asked>
}

export async function createAsk(codeBase: CodeBase): Promise<Ask> {
  const copy = await copyAsked(codeBase)
  const access = await createAccess({ cwd: copy, home: tmpdir(), rules: [] })
  const sessionFolder = join(tmpdir(), 'palimpsest-questions')
  const env = { PATH: process.env['PATH'] ?? '' }
  const machine = { platform: process.platform, architecture: process.arch }
  const sandbox = createSandbox({ policy: 'off', access, env, machine })
  const tools = createTools({ access, sessionFolder, shells: createShells(), sandbox, env, now: () => 0 })
  const permit = createPermit({
    access,
    mode: 'default',
    isTrusted: true,
    sandbox,
    env: commandEnvironment(env, copy),
    protectedFolders: [],
  })
  const reading = readWindow(OFFLINE_MODEL, { env: {} })
  const { facts } = reading.model
  const prefix = requestPrefix({ model: OFFLINE_MODEL, facts, system: SYSTEM_PROMPT, tools, reason: 'start' })
  const ask: Ask['ask'] = async (prompt) => {
    let resultChars = 0
    const output: Output = {
      tellsCost: false,
      begin: () => undefined,
      agent: () => undefined,
      event: (event) => {
        if (event.type === 'tool-end') resultChars += JSON.stringify(event.entry.message.content).length
      },
      end: () => undefined,
      breakOff: () => undefined,
    }
    const { signal } = new AbortController()
    const conversation = openConversation({
      session: { id: 'questions', view: emptyView() },
      ports: createPorts(),
      history: NO_HISTORY,
      totals: () => NO_TOTALS,
      tools,
      permit,
      prefix,
      opening: { first: [], always: [] },
      reading: () => reading,
      maxTokens: () => facts.maxOutput,
      roundsMax: ROUNDS_MAX,
      endsWithTurn: true,
      signal,
    })
    const run = await runHeadless({ conversation, prompt, now: () => 0 }, output, signal)
    if (run.end.reason !== 'answered') throw new Error(`"${prompt}" ended as ${run.end.reason}.`)
    return { answer: run.text, rounds: run.turns, resultChars }
  }
  return { ask, [Symbol.asyncDispose]: () => rm(copy, { recursive: true, force: true }) }
}

/** What is asked about, alone in a folder of its own, under the same paths. */
async function copyAsked({ name, root, folders }: CodeBase): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), `palimpsest-questions-${name}-`))
  for (const folder of folders)
    // A filter would make of one copy in Node's own code thousands of calls.
    for (const path of await withoutBuilt(root, folder, BUILT_DEPTH))
      cpSync(join(root, path), join(copy, path), { recursive: true })
  return copy
}

/** What is installed or built lies right in a package. */
const BUILT = new Set(['node_modules', 'dist'])
const BUILT_DEPTH = 2

async function withoutBuilt(root: string, path: string, depth: number): Promise<readonly string[]> {
  if (depth === 0 || !statSync(join(root, path)).isDirectory()) return [path]
  const names = (await readdir(join(root, path))).filter((name) => !BUILT.has(name))
  const found = await Promise.all(names.map((name) => withoutBuilt(root, join(path, name), depth - 1)))
  return found.flat()
}

const NO_HISTORY: History = {
  entries: async function* () {},
  blob: async () => undefined,
  load: async (entries) => ({ entries, from: null }),
}

function createPorts(): Ports {
  let ids = 0
  return {
    clock: { now: () => 0, sleep: async () => undefined, within: async (work) => await work },
    newId: () => `id-${++ids}`,
    random: () => 0,
    streamModel: createOfflineModel(),
    transcript: { append: async () => undefined },
    blobs: {
      save: async () => {
        throw new Error('A result was too large to be sent whole.')
      },
      locate: () => '',
    },
    flags: BUILT_IN_FLAGS,
    trace: () => undefined,
  }
}
