import { access as checkAccess, constants } from 'node:fs/promises'
import { delimiter, isAbsolute, join, normalize } from 'node:path'

import { isInside } from '../paths/real-path.ts'
import type { ChildEnvironment } from '../process/child-environment.ts'
import { killGroup, outputOf, startProcess, type ProcessStart } from '../process/start-process.ts'
import { Refusal } from '../refusal.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'

// The ripgrep program: the user's own if there is one, otherwise the one that comes with the package.

/** After this time a search is ended, and the result asks for a narrower one. */
const SEARCH_MS_MAX = 30_000
/** How much of its output is kept; more would not be a useful answer. */
const OUTPUT_BYTES_MAX = 8 * 1024 * 1024
const COMPLAINT_CHARS_MAX = 2000

export interface RipgrepRun {
  readonly program: string
  readonly args: readonly string[]
  readonly folder: string
  readonly env: ChildEnvironment
  /** If the sandbox works, the search runs in it and sees `root`, the folder or file that was permitted. */
  readonly inside?: { readonly sandbox: Sandbox; readonly root: string }
}

export interface RipgrepResult {
  readonly output: string
  /** `too-much`: it printed more than is kept. `too-long`: it took too long. In both cases the output is only a part. */
  readonly cut: 'no' | 'too-much' | 'too-long'
}

/** Where packages of a project put programs; `npx` adds these folders to the search path. */
const PACKAGE_PROGRAMS = join('node_modules', '.bin')

/** Looks along the search path. It runs unasked, so folders that a project may have filled do not count. */
export async function findRipgrep(env: ChildEnvironment, project: string): Promise<string | undefined> {
  const isForeign = (folder: string): boolean =>
    isAbsolute(folder) && !isInside(project, folder) && !normalize(folder).includes(PACKAGE_PROGRAMS)
  for (const folder of (env['PATH'] ?? '').split(delimiter).filter(isForeign)) {
    const path = join(folder, 'rg')
    if (await isRipgrep(path, env)) return path
  }
  try {
    const { rgPath } = await import('@vscode/ripgrep')
    return (await isExecutable(rgPath)) ? rgPath : undefined
  } catch {
    // No build for this platform: the package throws when it loads.
    return undefined
  }
}

const VERSION_BOUNDS = { msMax: 2000, bytesMax: 64 * 1024 }

async function isRipgrep(path: string, env: ChildEnvironment): Promise<boolean> {
  if (!(await isExecutable(path))) return false
  const output = await outputOf({ program: path, args: ['--version'], cwd: '/', env }, VERSION_BOUNDS)
  return output?.startsWith('ripgrep ') === true
}

async function isExecutable(path: string): Promise<boolean> {
  return checkAccess(path, constants.X_OK).then(
    () => true,
    () => false,
  )
}

/** Outside the sandbox it is the same program with the same words, none of which makes it write or run anything. */
async function startOf({ program, args, folder, env, inside }: RipgrepRun): Promise<ProcessStart> {
  const all = ['--no-config', ...args]
  const plain = { program, args: all, cwd: folder, env }
  if (inside === undefined) return plain
  const { sandbox, root } = inside
  const enclosed = await sandbox.enclose({ program, args: all, cwd: folder, shown: [program, root] })
  return enclosed.ok ? enclosed.start : plain
}

export async function runRipgrep(run: RipgrepRun, signal: AbortSignal): Promise<RipgrepResult> {
  const child = startProcess(await startOf(run), { stdio: ['ignore', 'pipe', 'pipe'] })
  const chunks: Buffer[] = []
  let bytes = 0
  let complaint = ''
  let cut: RipgrepResult['cut'] = 'no'
  const stop = (): void => killGroup(child)
  const timer = setTimeout(() => {
    cut = 'too-long'
    stop()
  }, SEARCH_MS_MAX)
  // The abort may have come while the sandbox was being prepared.
  if (signal.aborted) stop()
  else signal.addEventListener('abort', stop, { once: true })
  child.stdout?.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes <= OUTPUT_BYTES_MAX) chunks.push(chunk)
    else if (cut === 'no') {
      cut = 'too-much'
      stop()
    }
  })
  child.stderr?.on('data', (chunk: Buffer) => {
    if (complaint.length < COMPLAINT_CHARS_MAX) complaint += chunk.toString('utf8')
  })
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject)
      child.once('close', resolve)
    })
    signal.throwIfAborted()
    // 0: found, 1: nothing found, 2: an error, perhaps with results.
    if (code === 2 && chunks.length === 0)
      throw new Refusal(`The search failed: ${complaint.trim().slice(0, COMPLAINT_CHARS_MAX)}`)
    return { output: Buffer.concat(chunks).toString('utf8'), cut }
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
  }
}
