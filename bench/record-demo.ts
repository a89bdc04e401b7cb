import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { OFFLINE_MODEL } from '../packages/palimpsest/src/lab/offline/create-offline-model.ts'
import { serve } from '../packages/palimpsest/src/node/serving/serve.ts'
import { createSimulator, type ScriptStep } from '../packages/palimpsest/src/lab/simulator/index.ts'
import { ROOT } from '../test/kit/source-tree.ts'
import { FOLDER, layOut, TURNS, type Turn } from './demo-turns.ts'

// Records the session that `palimpsest demo` plays: our own agent, turn by turn, on a copy of a part of this repository. Its tools really run.
// Questions are answered by the offline model; where something is to be changed, what the model says is written here.
// `node --conditions=x-source bench/record-demo.ts` writes packages/palimpsest-cli/demo/session.jsonl.

const run = promisify(execFile)
const MODEL = 'claude-sonnet-5-5'
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024

const root = await mkdtemp(join(tmpdir(), 'palimpsest-record-'))
const simulator = createSimulator({ switches: { pastScript: 'offline' } })
const served = await serve(async (request) => await simulator.fetch(request))
try {
  await layOut()
  for (const [i, turn] of TURNS.entries()) await record(turn, i > 0)
  const session = await readRecorded(join(root, 'home'))
  const target = join(ROOT, 'packages/palimpsest-cli/demo')
  await mkdir(target, { recursive: true })
  await writeFile(join(target, 'session.jsonl'), session)
  const { requests, cost_usd: cost } = simulator.stats()
  console.log(`${requests} requests, ${session.length} characters, $${cost.toFixed(4)} unmanaged`)
} finally {
  await served.close()
  await rm(root, { recursive: true, force: true })
  await rm(FOLDER, { recursive: true, force: true })
}

async function record({ prompt, steps }: Turn, goesOn: boolean): Promise<void> {
  simulator.addSteps((steps ?? []).map((content): ScriptStep => ({ content, when: { source: 'main' } })))
  const main = join(ROOT, 'packages/palimpsest-cli/src/main.ts')
  const flags = [
    '--model',
    steps ? MODEL : OFFLINE_MODEL,
    '--permission-mode',
    'bypass',
    ...(goesOn ? ['--continue'] : []),
  ]
  const env = {
    PATH: process.env['PATH'],
    HOME: root,
    PALIMPSEST_HOME: join(root, 'home'),
    PALIMPSEST_BASE_URL: served.url,
    DISABLE_COMPACT: '1',
  }
  const args = ['--conditions=x-source', main, '-p', prompt, ...flags]
  const { stdout } = await run(process.execPath, args, { cwd: FOLDER, env, maxBuffer: OUTPUT_BYTES_MAX })
  console.log(`> ${prompt}\n${stdout.slice(0, 200)}\n`)
}

async function readRecorded(home: string): Promise<string> {
  const [project = ''] = await readdir(join(home, 'projects'))
  const names = await readdir(join(home, 'projects', project))
  const name = names.find((one) => one.endsWith('.jsonl'))
  if (name === undefined) throw new Error('nothing was recorded')
  return await readFile(join(home, 'projects', project, name), 'utf8')
}
