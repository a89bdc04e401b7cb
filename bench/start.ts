import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

import { print, type Figure } from './figure.ts'

// How long the built command takes to tell its version, and to a prompt that can be typed at, beside other agents from the registry, one
// after the other in the same run. They are installed in a folder that is removed again, or taken from the folder that is named.
// `node --conditions=x-source bench/start.ts [folder]`, after `npm run build`. Needs tmux.

const run = promisify(execFile)
const ROUNDS = 9
/** Of the fastest of the others. */
const RATIO_MAX = 1.1
const INSTALL_MS_MAX = 600_000
const PROMPT_MS_MAX = 60_000
const POLL_MS = 4
/** No tool shows this by itself. */
const TYPED = 'qzjx'
const COLUMNS = 100
const ROWS = 30

interface Tool {
  readonly name: string
  /** Of the registry; ours has none. */
  readonly package?: string
  readonly command: (folder: string) => readonly string[]
  /** On the screen once the input is there. */
  readonly prompt: RegExp
  /** So that nobody is asked anything, and nothing is downloaded: file in the home → content. */
  readonly settings?: { readonly [path: string]: string }
  readonly env?: { readonly [name: string]: string }
}

const OURS: Tool = {
  name: 'palimpsest',
  command: () => [
    process.execPath,
    new URL('../packages/palimpsest-cli/dist/main.js', import.meta.url).pathname,
  ],
  prompt: /% context left/,
}

const PEERS: readonly Tool[] = [
  {
    name: 'pi',
    package: '@earendil-works/pi-coding-agent@0.87.1',
    command: (folder) => [join(folder, 'node_modules/.bin/pi')],
    prompt: /%\/[\d.]+[MK]/i,
    env: { PI_OFFLINE: '1', ANTHROPIC_API_KEY: 'none' },
  },
  {
    name: 'opencode',
    package: 'opencode-ai@1.18.33',
    command: (folder) => [join(folder, 'node_modules/.bin/opencode')],
    prompt: /Ask anything/,
    env: { ANTHROPIC_API_KEY: 'none', OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1' },
  },
  {
    name: 'gemini-cli',
    package: '@google/gemini-cli@0.61.0',
    command: (folder) => [join(folder, 'node_modules/.bin/gemini')],
    prompt: /Type your message/,
    settings: {
      '.gemini/settings.json': JSON.stringify({
        security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: false } },
        general: { enableAutoUpdate: false },
      }),
    },
    env: { GEMINI_API_KEY: 'none' },
  },
]

const root = await mkdtemp(join(tmpdir(), 'palimpsest-start-'))
try {
  const folder = process.argv[2] ?? (await install(root))
  // Of a folder that is named, those that are there.
  const tools = [OURS, ...PEERS.filter((tool) => existsSync(tool.command(folder)[0] ?? ''))]
  const homes = new Map<Tool, string>()
  for (const tool of tools) homes.set(tool, await makeHome(root, tool))
  const measured = await measure(tools, { folder, homeOf: (tool) => homes.get(tool) ?? root })
  const fits = [
    print(
      '--version, median',
      figures(measured, ({ versionMs }) => versionMs),
    ),
    print(
      'To a prompt that shows what is typed, median',
      figures(measured, ({ promptMs }) => promptMs),
    ),
  ]
  process.exitCode = fits.every(Boolean) ? 0 : 1
} finally {
  // A program that was just ended may still be writing.
  await rm(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
}

async function install(root: string): Promise<string> {
  const folder = join(root, 'peers')
  await mkdir(folder)
  await writeFile(join(folder, 'package.json'), '{"private":true}')
  const packages = PEERS.flatMap((tool) => tool.package ?? [])
  console.log(`installing ${packages.join(', ')}`)
  await run('npm', ['install', '--no-audit', '--no-fund', ...packages], {
    cwd: folder,
    timeout: INSTALL_MS_MAX,
  })
  return folder
}

async function makeHome(root: string, tool: Tool): Promise<string> {
  const home = join(root, `home-${tool.name}`)
  await mkdir(home)
  for (const [path, content] of Object.entries(tool.settings ?? {})) {
    await mkdir(dirname(join(home, path)), { recursive: true })
    await writeFile(join(home, path), content)
  }
  return home
}

interface Place {
  readonly folder: string
  readonly homeOf: (tool: Tool) => string
}

interface Measured {
  readonly name: string
  readonly versionMs: readonly number[]
  readonly promptMs: readonly number[]
}

/** Round by round, so that whatever else the machine does strikes all alike. The first round only warms up. */
async function measure(tools: readonly Tool[], place: Place): Promise<readonly Measured[]> {
  const all = tools.map(({ name }) => ({ name, versionMs: [] as number[], promptMs: [] as number[] }))
  for (let round = 0; round <= ROUNDS; round++)
    for (const [i, tool] of tools.entries()) {
      const versionMs = await timeVersion(tool, place)
      const promptMs = await timePrompt(tool, place)
      if (round === 0) continue
      all[i]?.versionMs.push(versionMs)
      all[i]?.promptMs.push(promptMs)
    }
  return all
}

async function timeVersion(tool: Tool, place: Place): Promise<number> {
  const [program = '', ...args] = tool.command(place.folder)
  const start = performance.now()
  await run(program, [...args, '--version'], { env: environment(tool, place), cwd: place.homeOf(tool) })
  return performance.now() - start
}

async function timePrompt(tool: Tool, place: Place): Promise<number> {
  const socket = `palimpsest-start-${randomUUID()}`
  const tmux = async (...args: readonly string[]): Promise<string> =>
    (await run('tmux', ['-L', socket, '-f', '/dev/null', ...args])).stdout
  const env = Object.entries(environment(tool, place)).map(([name, value]) => `${name}=${value}`)
  const words = ['env', '-i', ...env, ...tool.command(place.folder)].map((word) => `'${word}'`)
  const size = ['-x', String(COLUMNS), '-y', String(ROWS)]
  // A server that is there already: its own start is not the tool's.
  await tmux('new-session', '-d', '-s', 'idle', 'sleep 600')
  try {
    const start = performance.now()
    await tmux('new-session', '-d', '-s', 'tool', ...size, '-c', place.homeOf(tool), words.join(' '))
    const until = async (wanted: RegExp): Promise<void> => {
      while (!wanted.test(await tmux('capture-pane', '-p', '-t', 'tool'))) {
        if (performance.now() - start > PROMPT_MS_MAX) throw new Error(`${tool.name}: no ${String(wanted)}`)
        await sleep(POLL_MS)
      }
    }
    await until(tool.prompt)
    await tmux('send-keys', '-t', 'tool', '-l', TYPED)
    await until(new RegExp(TYPED))
    return performance.now() - start
  } finally {
    await tmux('kill-server').catch(() => undefined)
  }
}

function environment(tool: Tool, place: Place): { [name: string]: string } {
  const home = place.homeOf(tool)
  const path = `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`
  return { PATH: path, HOME: home, TERM: 'screen-256color', LANG: 'C.UTF-8', ...tool.env }
}

function figures(
  measured: readonly Measured[],
  timesOf: (one: Measured) => readonly number[],
): readonly Figure[] {
  const rows = measured.map((one) => ({ name: one.name, value: median(timesOf(one)), unit: 'ms' }))
  const [ours, ...others] = rows
  const fastest = others.toSorted((a, b) => a.value - b.value)[0]
  if (!ours || !fastest) return rows
  const ratio = ours.value / fastest.value
  return [
    ...rows,
    { name: `ours against the fastest other (${fastest.name})`, value: ratio, unit: '×', atMost: RATIO_MAX },
  ]
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN
}
