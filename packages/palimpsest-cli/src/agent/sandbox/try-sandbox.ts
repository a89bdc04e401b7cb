import { mkdir, mkdtemp, realpath, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { ChildEnvironment } from '../process/child-environment.ts'
import { runProcess, type ProcessEnd, type ProcessStart } from '../process/start-process.ts'
import { bubblewrapArguments, type BubblewrapFeatures, type InsidePlan } from './bubblewrap-arguments.ts'
import { findProgram } from './find-program.ts'
import type { Mount } from './mount.ts'
import { seatbeltArguments } from './seatbelt-profile.ts'
import { seccompFilter } from './seccomp-filter.ts'
import { systemMounts } from './system-places.ts'

// Does the sandbox work here? What is installed does not tell: kernels, containers and profiles forbid it in many ways. So we run a
// command in it that tries what it must not be able to do.

export interface Machine {
  /** `linux`, `darwin`, … */
  readonly platform: string
  /** Name as in `process.arch`. */
  readonly architecture: string
}

export type TriedSandbox =
  | {
      readonly works: true
      readonly by: 'bubblewrap' | 'sandbox-exec'
      readonly start: (plan: InsidePlan) => Pick<ProcessStart, 'program' | 'args' | 'inputs'>
    }
  | { readonly works: false; readonly why: string; readonly cure: string }

export type Launcher = Extract<TriedSandbox, { works: true }>

/** Only paths where an administrator installs: anyone may control a search path. */
const BUBBLEWRAP = [
  '/usr/bin/bwrap',
  '/bin/bwrap',
  '/usr/local/bin/bwrap',
  '/run/current-system/sw/bin/bwrap',
]
const SEATBELT = '/usr/bin/sandbox-exec'
const WRITABLE_BY_OTHERS = 0o022

const INSTALL = 'install bubblewrap (apt install bubblewrap, dnf install bubblewrap, …)'
const ALLOW =
  'let unprivileged users make namespaces (sysctl kernel.unprivileged_userns_clone, kernel.apparmor_restrict_unprivileged_userns; in a container its seccomp profile)'

/**
 * A success counts for the whole process: agents have their own sandboxes, and each trial starts two programs. A failure may be temporary,
 * so the next call tries again.
 */
export async function trySandbox(env: ChildEnvironment, machine: Machine): Promise<TriedSandbox> {
  const ground = [machine.platform, machine.architecture, env['PATH'] ?? ''].join('\0')
  const known = WORKING.get(ground)
  if (known) return known
  const tried = await tryOn(env, machine)
  if (tried.works) WORKING.set(ground, tried)
  return tried
}

/** Keyed by what a trial depends on. */
const WORKING = new Map<string, Launcher>()

async function tryOn(env: ChildEnvironment, machine: Machine): Promise<TriedSandbox> {
  switch (machine.platform) {
    case 'linux':
      return await tryBubblewrap(env, machine.architecture)
    case 'darwin':
      return await trySeatbelt(env)
    default:
      return { works: false, why: `there is none for ${machine.platform}`, cure: 'use Linux or macOS' }
  }
}

async function tryBubblewrap(env: ChildEnvironment, architecture: string): Promise<TriedSandbox> {
  const filters = { reading: seccompFilter(architecture), writing: seccompFilter(architecture, 'writing') }
  const { reading, writing } = filters
  if (reading === undefined || writing === undefined)
    return { works: false, why: `there is none for ${architecture}`, cure: 'use x64 or arm64' }
  const program = await firstTrusted(BUBBLEWRAP)
  if (program === undefined)
    return { works: false, why: 'bubblewrap (bwrap) is not installed', cure: INSTALL }
  let features: BubblewrapFeatures = { forbidsUserNamespaces: true, limitsScratch: true }
  for (;;) {
    const known = features
    const launcher: Launcher = {
      works: true,
      by: 'bubblewrap',
      start: (plan) => ({
        program,
        ...bubblewrapArguments(plan, plan.kind === 'writing' ? writing : reading, known),
      }),
    }
    const problem = await problemOf(launcher, env, LINUX_TRIAL)
    if (problem === undefined) return launcher
    const older = withoutUnknown(features, problem)
    if (older === undefined) return { works: false, why: problem, cure: cureOf(problem) }
    features = older
  }
}

async function firstTrusted(paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths) {
    const found = await stat(path).catch(() => undefined)
    if (found?.isFile() === true && found.uid === 0 && (found.mode & WRITABLE_BY_OTHERS) === 0) return path
  }
  return undefined
}

/** Undefined if there is no feature left to do without. */
function withoutUnknown(features: BubblewrapFeatures, problem: string): BubblewrapFeatures | undefined {
  if (features.forbidsUserNamespaces && /--disable-userns/.test(problem))
    return { ...features, forbidsUserNamespaces: false }
  if (features.limitsScratch && /--size/.test(problem)) return { ...features, limitsScratch: false }
  return undefined
}

function cureOf(problem: string): string {
  return /Unknown option/i.test(problem) ? 'install bubblewrap 0.5 or later' : ALLOW
}

/** Written but never run: the trial decides at every start whether it does what it must. */
async function trySeatbelt(env: ChildEnvironment): Promise<TriedSandbox> {
  const program = await firstTrusted([SEATBELT])
  const cure = 'run it outside other sandboxes'
  if (program === undefined) return { works: false, why: `${SEATBELT} is not there`, cure }
  const launcher: Launcher = {
    works: true,
    by: 'sandbox-exec',
    start: (plan) => ({ program, args: seatbeltArguments(plan) }),
  }
  const problem = await problemOf(launcher, env, TRIAL)
  return problem === undefined ? launcher : { works: false, why: problem, cure }
}

/** In its own folder: what is shown can be read and not written, what is not shown is not there; on Linux also, no host can be reached. */
const TRIAL = `
read -r word < "$1/word" && [ "$word" = shown ] || { echo 'it does not show what it should'; exit; }
{ : > "$1/made"; } 2>/dev/null && { echo 'files can be written in it'; exit; }
{ : > /made; } 2>/dev/null && { echo 'the root can be written in it'; exit; }
{ read -r word < "$2/word"; } 2>/dev/null && { echo 'it shows what it should not'; exit; }
`
const LINUX_TRIAL = `${TRIAL}
[ "$$" = 1 ] || { echo 'it has no process tree of its own'; exit; }
{ : >> /proc/sys/kernel/core_pattern; } 2>/dev/null && { echo 'the system can be changed in it'; exit; }
while read -r line; do case $line in *lo:*|Inter*|face*) ;; *) echo 'it has a network'; exit;; esac; done < /proc/net/dev
line=$( { : < /dev/tcp/127.0.0.1/9; } 2>&1 )
case $line in *'Network is down'*|*'No such file'*) ;; *) echo 'its filter of system calls does not work'; exit;; esac
`
const END = '\necho works\n'
const TRIAL_BOUNDS = { msMax: 10_000, bytesMax: 64 * 1024 }

/** The same with one writable folder: nothing else can be written. */
const WRITING_TRIAL = `
read -r word < "$1/word" && [ "$word" = shown ] || { echo 'it does not show what it should'; exit; }
{ : > "$1/made"; } 2>/dev/null && { echo 'files can be written in it'; exit; }
{ : > /made; } 2>/dev/null && { echo 'the root can be written in it'; exit; }
{ read -r word < "$2/word"; } 2>/dev/null && { echo 'it shows what it should not'; exit; }
{ : > "$3/made"; } 2>/dev/null || { echo 'the working folder cannot be written in it'; exit; }
`
const LINUX_WRITING_TRIAL = `${WRITING_TRIAL}
[ "$$" = 1 ] || { echo 'it has no process tree of its own'; exit; }
{ : >> /proc/sys/kernel/core_pattern; } 2>/dev/null && { echo 'the system can be changed in it'; exit; }
while read -r line; do case $line in *lo:*|Inter*|face*) ;; *) echo 'it has a network'; exit;; esac; done < /proc/net/dev
chmod 4755 "$3/made" 2>/dev/null && { echo 'its filter of system calls does not work'; exit; }
`

/** Why commands that write cannot run in it. Undefined: they can; this also counts for the whole process. */
export async function tryWriting(launcher: Launcher, env: ChildEnvironment): Promise<string | undefined> {
  if (WRITING.has(launcher)) return undefined
  const script = launcher.by === 'bubblewrap' ? LINUX_WRITING_TRIAL : WRITING_TRIAL
  const problem = await problemOf(launcher, env, script)
  if (problem === undefined) WRITING.add(launcher)
  return problem
}

const WRITING = new WeakSet<Launcher>()

/** Undefined: it works. */
async function problemOf(
  launcher: Launcher,
  env: ChildEnvironment,
  script: string,
): Promise<string | undefined> {
  const writes = script.includes(WRITING_TRIAL)
  const bash = await findProgram('bash', `/usr/bin:/bin:${env['PATH'] ?? ''}`)
  if (bash === undefined) return 'bash was not found'
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'palimpsest-sandbox-')))
  try {
    const [shown, other, open] = [join(folder, 'shown'), join(folder, 'other'), join(folder, 'open')]
    await Promise.all([mkdir(shown), mkdir(other), mkdir(open)])
    await writeFile(join(shown, 'word'), 'shown\n')
    await writeFile(join(other, 'word'), 'other\n')
    const scratch = ['/tmp', '/dev/shm'].map((path): Mount => ({
      kind: 'scratch',
      path,
      bytesMax: TRIAL_BOUNDS.bytesMax,
    }))
    const mounts: readonly Mount[] = [
      ...(await systemMounts('/', launcher.by === 'bubblewrap' ? 'linux' : 'darwin')),
      ...scratch,
      { kind: 'shown', path: shown },
      ...(writes ? [{ kind: 'writable', path: open } as const] : []),
    ]
    const args = ['-c', `${script}${END}`, 'bash', shown, other, open]
    const plan = {
      mounts,
      cwd: shown,
      program: bash.path,
      args,
      kind: writes ? 'writing' : 'reading',
    } as const
    return problemIn(await runProcess({ ...launcher.start(plan), cwd: folder, env }, TRIAL_BOUNDS))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const PROBLEM_CHARS_MAX = 200

function problemIn(end: ProcessEnd): string | undefined {
  if (end.kind === 'failed') return end.message
  const said = end.stdout.trim()
  if (end.code === 0 && said === 'works') return undefined
  const [line = ''] = (said === '' ? end.stderr.trim() : said).split('\n')
  return line === '' ? `it ended with the exit code ${end.code}` : line.slice(0, PROBLEM_CHARS_MAX)
}
