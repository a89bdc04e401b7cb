import { spawn } from 'node:child_process'
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import { claudeCodeSession } from '../../test/kit/claude-code-session.ts'

// The command on a folder of Claude Code with 200 sessions: when the first figures are on the screen, how often something moves, how long
// the whole takes, and what Ctrl-C leaves. Sessions are the recorded ones, each many times, cut to lengths as people have them: most are
// short. Where there are none recorded, invented ones of the same lengths.
//   npm run bench:own [-- --stop-after SECONDS]

const ROOT = join(import.meta.dirname, '../..')
const RECORDED = join(ROOT, '../shared/data/sessions/claude-code')
const SESSIONS = 200
const FIRST_SCREEN_S_MAX = 10

/** Of the lines of a recorded session, by turns: every tenth is whole. */
const SHARES = [1, 0.05, 0.1, 0.3, 0.05, 0.2, 0.1, 0.5, 0.05, 0.1] as const
const MS = 1000

const home = mkdtempSync(join(tmpdir(), 'own-sessions-'))
try {
  const bytes = makeSessions(join(home, '.claude/projects'))
  console.log(`${SESSIONS} sessions, ${(bytes / 1024 ** 2).toFixed(0)} MB`)
  await measure()
} finally {
  rmSync(home, { recursive: true, force: true })
}

async function measure(): Promise<void> {
  const at = process.argv.indexOf('--stop-after')
  const stopAfterS = at < 0 ? undefined : Number(process.argv[at + 1])
  const started = performance.now()
  const seconds = (): number => (performance.now() - started) / MS
  const child = spawn(
    process.execPath,
    ['--conditions=x-source', join(ROOT, 'packages/palimpsest-cli/src/main.ts'), 'replay'],
    { env: { PATH: process.env['PATH'], HOME: home }, stdio: ['ignore', 'pipe', 'pipe'] },
  )
  let out = ''
  let firstS: number | undefined
  let lastS = 0
  let quietS = 0
  let stoppedS: number | undefined
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => {
    if (firstS === undefined && chunk.toString().includes('So far')) {
      firstS = seconds()
      console.log(`first figures after ${firstS.toFixed(1)} s (wanted within ${FIRST_SCREEN_S_MAX})`)
    }
    quietS = Math.max(quietS, seconds() - lastS)
    lastS = seconds()
  })
  if (stopAfterS !== undefined)
    setTimeout(() => {
      stoppedS = seconds()
      child.kill('SIGINT')
    }, stopAfterS * MS)
  const code = await new Promise((resolve) => child.on('close', resolve))
  console.log(`longest time without a sign: ${quietS.toFixed(1)} s`)
  if (stoppedS !== undefined) console.log(`stopped after ${stoppedS.toFixed(1)} s`)
  const load = loadavg()[0]?.toFixed(1) ?? '?'
  console.log(`the whole: ${seconds().toFixed(1)} s, exit code ${String(code)}; load of the machine ${load}`)
  console.log(out.split('\n', 1)[0])
  if (firstS === undefined || firstS > FIRST_SCREEN_S_MAX) process.exitCode = 1
}

/** Newest last in name, spread over projects. */
function makeSessions(folder: string): number {
  const recorded = existsSync(RECORDED) ? globSync('**/*.jsonl', { cwd: RECORDED }).toSorted() : []
  let bytes = 0
  for (let index = 0; index < SESSIONS; index++) {
    const share = SHARES[index % SHARES.length] ?? 1
    const text = cut(recorded[index % recorded.length], share)
    const file = join(folder, `-home-me-project-${index % 7}`, `session-${index}.jsonl`)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
    utimesSync(file, index + 1, index + 1)
    bytes += text.length
  }
  return bytes
}

const INVENTED_ROUNDS = 200

function cut(name: string | undefined, share: number): string {
  const text =
    name === undefined ? claudeCodeSession(INVENTED_ROUNDS) : readFileSync(join(RECORDED, name), 'utf8')
  const lines = text.split('\n')
  return `${lines.slice(0, Math.ceil(lines.length * share)).join('\n')}\n`
}
