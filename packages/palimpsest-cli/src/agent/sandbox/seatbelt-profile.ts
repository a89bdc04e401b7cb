import { dirname } from 'node:path'

import type { InsidePlan } from './bubblewrap-arguments.ts'
import { inOrder, type Mount } from './mount.ts'

// The same plan as a profile for the macOS sandbox. It was written from the documentation and never run: `trySandbox` tests at every
// start whether it protects what it must. The macOS sandbox mounts nothing, so made-up files and scratch folders are left out.

/** What programs look up about the machine. Nothing about other processes: such names include their arguments and environment. */
const KNOWN_NAMES = [
  ...['hw.activecpu', 'hw.byteorder', 'hw.cputype', 'hw.logicalcpu', 'hw.machine', 'hw.memsize', 'hw.ncpu'],
  ...['hw.pagesize', 'hw.physicalcpu', 'kern.argmax', 'kern.hostname', 'kern.osrelease', 'kern.ostype'],
  ...['kern.osversion', 'kern.version', 'kern.usrstack64', 'sysctl.proc_translated'],
]

const HEAD = `(version 1)
(deny default)
(allow process-fork)
(allow process-exec*)
(allow process-info* (target same-sandbox))
(allow signal (target same-sandbox))
(allow sysctl-read ${KNOWN_NAMES.map((name) => `(sysctl-name ${quoted(name)})`).join(' ')})
(allow file-read* file-write-data (literal "/dev/null") (literal "/dev/zero") (literal "/dev/stdout") (literal "/dev/stderr"))
(allow file-read* (literal "/") (literal "/dev/random") (literal "/dev/urandom") (subpath "/dev/fd"))
(allow file-read* (subpath "/private/var/db/dyld") (subpath "/private/var/db/timezone"))`

export function seatbeltArguments(plan: InsidePlan): readonly string[] {
  return ['-p', seatbeltProfile(plan.mounts), plan.program, ...plan.args]
}

/** The last matching rule decides, so rules have the order of mounts. */
export function seatbeltProfile(mounts: readonly Mount[]): string {
  const rules = inOrder(mounts).flatMap((mount): readonly string[] => {
    const path = quoted(mount.path)
    switch (mount.kind) {
      case 'shown':
        return [`(allow file-read* (subpath ${path}))`, `(deny file-write* (subpath ${path}))`]
      case 'writable':
        return [`(allow file-read* file-write* (subpath ${path}))`]
      case 'link':
        return [`(allow file-read* (literal ${path}))`]
      case 'closed':
        return [`(deny file-read* (subpath ${path}))`, `(deny file-write* (subpath ${path}))`]
      case 'text':
      case 'scratch':
        return []
      default:
        mount satisfies never
        return []
    }
  })
  const above = new Set(mounts.flatMap(({ path }) => foldersAbove(path)))
  const passages = [...above].map((path) => `(allow file-read-metadata (literal ${quoted(path)}))`)
  return [HEAD, ...passages, '(deny file-write* (subpath "/"))', ...rules, LAST, ''].join('\n')
}

const LAST = '(allow file-write-data (literal "/dev/null") (literal "/dev/zero"))\n(deny network*)'

function foldersAbove(path: string): readonly string[] {
  const parent = dirname(path)
  return parent === path ? [] : [...foldersAbove(parent), parent]
}

function quoted(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
}
