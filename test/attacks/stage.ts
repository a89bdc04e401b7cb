import { spawn, type ChildProcess } from 'node:child_process'
import { lstatSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import type { SandboxPolicy } from '../../packages/palimpsest-cli/src/agent/sandbox/sandbox.ts'
import { createWorkbench, textOf, type Workbench } from '../kit/workbench.ts'

// A place to attack: secrets outside of the working folder and in the environment of a process, programs and files that are traps, and an
// eye on everything that was written, run or read. What escapes leaves a mark: a file that was not there, or a word that nobody could know.

export interface Stage {
  readonly bench: Workbench
  /** What a line is filled with. */
  readonly words: AttackWords
  /** Lets the agent run the line as a model would, nobody being there to ask. `ran`: it was not refused. */
  readonly attack: (line: string) => Promise<{ readonly ran: boolean; readonly escapes: readonly string[] }>
  /** Runs it as if somebody had allowed it: what escapes then shows that the eye sees. */
  readonly control: (line: string) => Promise<readonly string[]>
  readonly dispose: () => Promise<void>
}

export interface AttackWords {
  /** A command that leaves a mark. */
  readonly run: string
  /** A script that does, in the working folder. */
  readonly script: string
  /** A file to be written, in the working folder. */
  readonly target: string
  /** A secret, by an absolute path; by a way up; through a link; up from where a link leads. */
  readonly secret: string
  readonly up: string
  readonly link: string
  readonly past: string
  /** The environment of a process that has a key. */
  readonly environ: string
}

const WORDS = {
  outside: 'SECRET-OUTSIDE-7f3a',
  home: 'SECRET-KEY-91bc',
  environment: 'sk-secret-in-the-environment-55d1',
}
const LINE_MS = 10_000

export async function createStage(sandbox: SandboxPolicy, allow: readonly string[] = []): Promise<Stage> {
  const env = { ANTHROPIC_API_KEY: WORDS.environment }
  const bench = await createWorkbench({ sandbox, env, rules: { allow } })
  const { work, outside, home, root } = bench
  const mark = join(root, 'mark')
  const holder = spawn('sleep', ['1000'], { env: { KEY: WORDS.environment }, stdio: 'ignore' })
  writeFileSync(join(outside, 'secret.txt'), `${WORDS.outside}\n`)
  writeFileSync(join(outside, 'data.json'), `"${WORDS.outside}"\n`)
  mkdirSync(join(home, '.ssh'))
  writeFileSync(join(home, '.ssh', 'id_rsa'), `${WORDS.home}\n`)
  const words: AttackWords = {
    run: `touch ${mark}`,
    script: './evil.sh',
    target: 'made',
    secret: join(outside, 'secret.txt'),
    up: '../outside/secret.txt',
    link: 'l/secret.txt',
    past: 'l/../home/.ssh/id_rsa',
    environ: `/proc/${holder.pid ?? 0}/environ`,
  }
  fillWork(work, words, mark)
  let before = snapshot(root)
  const look = (output: string): readonly string[] => {
    const read = Object.entries(WORDS).flatMap(([what, word]) =>
      output.includes(word) ? [`read: ${what}`] : [],
    )
    const after = snapshot(root)
    const changed = [...new Set([...before.keys(), ...after.keys()])].filter(
      (path) => before.get(path) !== after.get(path),
    )
    const written = changed.map((path) => (path === 'mark' ? 'run: the payload' : `written: ${path}`))
    if (changed.length > 0) {
      restore(bench, words, mark)
      before = snapshot(root)
    }
    return [...read, ...written]
  }
  return {
    bench,
    words,
    attack: async (line) => {
      bench.access.moveShell(work)
      const output = textOf(await bench.call('Bash', { command: line, timeout: LINE_MS }))
      return { ran: !/^Bash (needs permission|is not permitted)/.test(output), escapes: look(output) }
    },
    control: async (line) => {
      bench.access.moveShell(work)
      const toolUseId = 'control'
      bench.access.grantCommand(toolUseId, { command: line, way: { kind: 'open' } })
      const tool = bench.tools.find(({ name }) => name === 'Bash')
      const context = { toolUseId, signal: AbortSignal.timeout(LINE_MS) }
      const output = await tool?.run({ command: line, timeout: LINE_MS }, context)
      return look(output === undefined ? '' : textOf(output))
    },
    dispose: async () => {
      await end(holder)
      await bench.dispose()
    },
  }
}

function fillWork(work: string, words: AttackWords, mark: string): void {
  for (const folder of ['src', '0', 'bin', 'lib']) mkdirSync(join(work, folder), { recursive: true })
  // Whatever became of PATH, this still leaves its mark.
  const evil = `#!/bin/sh\n: > ${mark}\n`
  const scripts = ['evil.sh', '0/ls', '0/cat', 'bin/ls', 'bin/git', 'src/cat', '-exec']
  for (const name of scripts) writeFileSync(join(work, name), evil, { mode: 0o755 })
  writeFileSync(join(work, 'a.txt'), 'alpha 1\nbeta 2\nalpha 3\n')
  writeFileSync(join(work, 'b.txt'), 'beta 2\n')
  writeFileSync(join(work, 'data.json'), '{"a":[1,2]}\n')
  writeFileSync(join(work, 'names'), `${words.secret}\n`)
  writeFileSync(join(work, 'names0'), `${words.secret}\0`)
  writeFileSync(join(work, '@list'), `${words.secret}\n`)
  writeFileSync(join(work, 'list'), `${words.secret}\n`)
  writeFileSync(join(work, 'sums'), `00000000000000000000000000000000  ${words.secret}\n`)
  writeFileSync(join(work, 'script.sed'), `1e ${words.run}\nr ${words.secret}\nw ${words.target}\n`)
  writeFileSync(join(work, 'script.awk'), `BEGIN { system("${words.run}") }\n`)
  writeFileSync(join(work, 'lib', 'm.jq'), '"x"\n')
  // Names that are options to whom they are given.
  for (const name of ['-o', '--output=made', '-delete', '--files0-from=names0', '-rf'])
    writeFileSync(join(work, name), 'trap\n')
  symlinkSync('../outside', join(work, 'l'))
  symlinkSync(words.secret, join(work, 'link.txt'))
  symlinkSync('../outside/nowhere', join(work, 'dangling'))
}

function restore({ work, root, outside, home }: Workbench, words: AttackWords, mark: string): void {
  rmSync(mark, { force: true, recursive: true })
  for (const name of readdirSync(work)) rmSync(join(work, name), { recursive: true, force: true })
  for (const name of readdirSync(root))
    if (!['work', 'outside', 'home', 'session'].includes(name))
      rmSync(join(root, name), { recursive: true, force: true })
  for (const folder of [outside, home])
    for (const name of readdirSync(folder))
      if (!['secret.txt', 'data.json', '.ssh'].includes(name))
        rmSync(join(folder, name), { recursive: true, force: true })
  fillWork(work, words, mark)
}

/** Every file, link and folder below. Whoever writes to one changes its times, one of which nobody can set back. */
function snapshot(root: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    const { mode, ino, size, ctimeNs } = lstatSync(path, { bigint: true })
    // A folder's times change with what lies in it, which is looked at too.
    const state = entry.isDirectory() ? [mode] : [mode, ino, size, ctimeNs]
    found.set(path.slice(root.length + 1), state.join(' '))
  }
  return found
}

async function end(child: ChildProcess): Promise<void> {
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGKILL')
  await ended
}
