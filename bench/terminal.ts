import { execFile, execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

import { openProject } from '../packages/palimpsest/src/node/files/paths.ts'
import { createTranscript } from '../packages/palimpsest/src/node/transcripts/transcript-file.ts'
import { generateTranscript } from '../test/kit/generate-transcript.ts'
import { print, type Figure } from './figure.ts'

// The built command on a terminal (tmux): a long session is gone on with, and a key is shown. Needs `npm run build` and tmux.

const COMMAND = new URL('../packages/palimpsest-cli/dist/main.js', import.meta.url).pathname
const LONG_BYTES = 200 * 1024 * 1024
const BOUNDARY_BYTES = 800 * 1024
const RESULT_CHARS = 4_000
const RESUME_MS_MAX = 2_000
const MEMORY_MB_MAX = 400
const RESUMES = 3
const SHORT_RESULT_CHARS = 40
const FEW = 10
const MANY = 10_000
const KEYS = 400
const WARM_UP = 40
/** The input is emptied after so many, so that it stays one line. */
const KEYS_A_LINE = 40
const P95 = 0.95
const RATIO_MAX = 1.2
const WAIT_MS = 60_000
const POLL_MS = 10
const KB = 1024

const run = promisify(execFile)

export async function benchTerminal(): Promise<Figure[]> {
  if (!existsSync(COMMAND) || !hasTmux()) {
    console.log('  (left out: it needs `npm run build` and tmux)')
    return []
  }
  const root = await mkdtemp(join(tmpdir(), 'palimpsest-bench-'))
  try {
    return [...(await resumeLong(root)), ...(await pressKeys(root))]
  } finally {
    await rm(root, { recursive: true })
  }
}

async function resumeLong(root: string): Promise<Figure[]> {
  const place = await makeSession(join(root, 'long'), { bytes: LONG_BYTES, boundaryBytes: BOUNDARY_BYTES })
  const times: number[] = []
  let memoryMb = 0
  for (let i = 0; i < RESUMES; i++) {
    const terminal = await open(place)
    times.push(terminal.readyMs)
    memoryMb = Math.max(memoryMb, peakMb(terminal.pid))
    await terminal.close()
  }
  const median = times.toSorted((a, b) => a - b)[RESUMES >> 1] ?? Number.NaN
  return [
    { name: 'resume 200 MB, to a usable prompt', value: median, unit: 'ms', atMost: RESUME_MS_MAX },
    {
      name: 'peak memory of the command that resumes it',
      value: memoryMb,
      unit: 'MB',
      atMost: MEMORY_MB_MAX,
    },
  ]
}

/** One key here, one there, in turns: whatever the machine does meanwhile, it does to both. */
async function pressKeys(root: string): Promise<Figure[]> {
  const few = await open(await makeSession(join(root, 'few'), { messages: FEW }))
  const many = await open(await makeSession(join(root, 'many'), { messages: MANY }))
  const times = { few: [] as number[], many: [] as number[] }
  try {
    for (let i = 0; i < WARM_UP + KEYS; i++) {
      if (i % KEYS_A_LINE === 0) for (const terminal of [few, many]) await terminal.empty()
      const order = i % 2 === 0 ? (['few', 'many'] as const) : (['many', 'few'] as const)
      for (const name of order) {
        const ms = await (name === 'few' ? few : many).press('x')
        if (i >= WARM_UP) times[name].push(ms)
      }
    }
  } finally {
    await few.close()
    await many.close()
  }
  const [fewMs, manyMs] = [quantile(times.few, P95), quantile(times.many, P95)]
  return [
    { name: `key to frame at ${FEW} messages, p95`, value: fewMs, unit: 'ms' },
    { name: `key to frame at ${MANY} messages, p95`, value: manyMs, unit: 'ms' },
    { name: 'many / few', value: manyMs / fewMs, unit: '×', atMost: RATIO_MAX },
  ]
}

interface Place {
  readonly home: string
  readonly folder: string
  readonly id: string
}

async function makeSession(
  root: string,
  size: { readonly bytes?: number; readonly messages?: number; readonly boundaryBytes?: number },
): Promise<Place> {
  const place = { home: join(root, 'home'), folder: join(root, 'work'), id: randomUUID() }
  await mkdir(place.folder, { recursive: true })
  await mkdir(place.home)
  const project = await openProject(place.home, place.folder)
  const options = { project, sessionId: place.id, cwd: place.folder, version: 'bench', now: Date.now }
  const file = await createTranscript({ ...options, sync: 'close' })
  const { bytes = Number.MAX_SAFE_INTEGER, messages, boundaryBytes = 0 } = size
  await generateTranscript(file, {
    bytes,
    boundaryBytes,
    resultChars: messages === undefined ? RESULT_CHARS : SHORT_RESULT_CHARS,
    ...(messages === undefined ? {} : { messagesMax: messages }),
  })
  await file.close()
  return place
}

interface Terminal {
  readonly readyMs: number
  readonly pid: number
  /** Milliseconds until something was drawn. */
  readonly press: (key: string) => Promise<number>
  readonly empty: () => Promise<void>
  readonly close: () => Promise<void>
}

async function open({ home, folder, id }: Place): Promise<Terminal> {
  const socket = `palimpsest-bench-${randomUUID()}`
  const tmux = async (...args: readonly string[]): Promise<string> =>
    (await run('tmux', ['-L', socket, '-f', '/dev/null', ...args])).stdout
  const env = `env -i PATH="$PATH" LANG=C.UTF-8 TERM=screen PALIMPSEST_HOME=${home} HOME=${folder}`
  const start = performance.now()
  await tmux(
    ...['new-session', '-d', '-s', 'main', '-x', '80', '-y', '24', '-c', folder],
    `exec ${env} ${process.execPath} ${COMMAND} --resume ${id}`,
  )
  while (!(await tmux('capture-pane', '-p', '-t', 'main')).includes('% context left')) {
    if (performance.now() - start > WAIT_MS) throw new Error('no prompt came')
    await sleep(POLL_MS)
  }
  const readyMs = performance.now() - start
  const pid = Number(await tmux('display', '-p', '-t', 'main', '#{pane_pid}'))
  // Told of what the pane draws as it comes, without a program per key.
  const control = spawn('tmux', ['-L', socket, '-C', 'attach', '-t', 'main'])
  const press = async (key: string): Promise<number> => await drawn(control, `send-keys -t main -l ${key}\n`)
  await sleep(SETTLE_MS)
  return {
    readyMs,
    pid,
    press,
    empty: async () => {
      control.stdin.write('send-keys -t main C-u\n')
      await sleep(SETTLE_MS)
    },
    close: async () => void (await tmux('kill-server').catch(() => undefined)),
  }
}

/** For what is drawn besides to be over. */
const SETTLE_MS = 300

async function drawn({ stdin, stdout }: ChildProcess, command: string): Promise<number> {
  const start = performance.now()
  return await new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('nothing was drawn')), WAIT_MS)
    const onData = (chunk: Buffer): void => {
      if (!chunk.includes('%output')) return
      clearTimeout(timer)
      stdout?.off('data', onData)
      resolve(performance.now() - start)
    }
    stdout?.on('data', onData)
    stdin?.write(command)
  })
}

/** As the kernel tells it; not known elsewhere than on Linux. */
function peakMb(pid: number): number {
  try {
    const [, kb = ''] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return Number(kb) / KB
  } catch {
    return Number.NaN
  }
}

function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? Number.NaN
}

function hasTmux(): boolean {
  try {
    execFileSync('tmux', ['-V'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

if (import.meta.main) print('on a terminal', await benchTerminal())
