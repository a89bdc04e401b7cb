import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import {
  runProcess,
  type ProcessStart,
} from '../../packages/palimpsest-cli/src/agent/process/start-process.ts'

// What a command really asked of the kernel: which programs it started, which files it opened and how. Where there is no strace, marks and secrets must do.

export interface Traced {
  readonly started: readonly string[]
  /** Opened for reading, by where they really are. */
  readonly read: readonly string[]
  /** Opened for writing, made, moved, removed or changed. */
  readonly written: readonly string[]
  readonly connected: readonly string[]
}

export const hasStrace = works()

function works(): boolean {
  try {
    execFileSync('strace', ['-f', '-o', '/dev/null', 'true'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

const CALLS =
  'execve,execveat,open,openat,openat2,creat,unlink,unlinkat,rename,renameat,renameat2,mkdir,mkdirat,rmdir,link,linkat,symlink,symlinkat,chmod,fchmod,fchmodat,chown,fchown,fchownat,truncate,ftruncate,connect,bind,sendto'

export async function traced(start: ProcessStart): Promise<Traced> {
  const folder = mkdtempSync(join(tmpdir(), 'palimpsest-trace-'))
  const log = join(folder, 'log')
  try {
    const args = [
      '-f',
      '-qq',
      '-y',
      '-s',
      '4096',
      '-e',
      `trace=${CALLS}`,
      '-o',
      log,
      start.program,
      ...start.args,
    ]
    await runProcess({ ...start, program: 'strace', args }, { msMax: 30_000, bytesMax: 64 * 1024 * 1024 })
    return readTrace(readFileSync(log, 'utf8'))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Lines that ended in a failure did nothing. */
function readTrace(text: string): Traced {
  const found = {
    started: [] as string[],
    read: [] as string[],
    written: [] as string[],
    connected: [] as string[],
  }
  for (const line of text.split('\n')) {
    const [, call = '', rest = ''] = /^\d+\s+(\w+)\((.*)$/.exec(line) ?? []
    const result = /\) = (-?\d+)(?:<([^>]*)>)?/.exec(rest)
    if (call === '' || result === null || Number(result[1]) < 0) continue
    const named = /"((?:[^"\\]|\\.)*)"/.exec(rest)?.[1] ?? ''
    if (call.startsWith('exec')) found.started.push(named)
    else if (/^open|^creat/.test(call)) {
      const isWrite = call === 'creat' || /O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|O_APPEND/.test(rest)
      found[isWrite ? 'written' : 'read'].push(result[2] ?? named)
    } else if (call === 'connect' || call === 'bind' || call === 'sendto') found.connected.push(rest)
    else found.written.push(`${call} ${named}`)
  }
  return found
}
