import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

// Repositories that make git run a program of theirs, or show what lies outside: as they come out of an archive that somebody unpacked. Each is built with the real git, and a
// control shows that it does run the program when git is called without care.

export interface EvilRepository {
  readonly name: string
  /** `folder` exists and is empty; `script` leaves a mark, whatever it is called with. */
  readonly build: (folder: string, script: string) => void
  /** Lines by which git runs it; others are tried as well. */
  readonly lines?: readonly string[]
}

/** In a file beside the folder; it must never be read. */
export const OUTSIDE_SECRET = 'SECRET-OUTSIDE-7f3a'

/** Tried in every one of them. */
export const GIT_LINES: readonly string[] = [
  'git status',
  'git status --short',
  'git diff',
  'git diff HEAD',
  'git log -p -1',
  'git log --show-signature -1',
  'git log --format=%G?%h -1',
  'git log --format=%+GG -1',
  "git log --pretty='% G?' -1",
  'git log --format=%-GS -1',
  'git show HEAD',
  'git blame a.txt',
  'git grep alpha',
  'git ls-files -m',
  'git stash list',
  'git branch -a',
  'git describe --always --dirty',
  'git cat-file -p HEAD:a.txt',
  'cd sub && git status',
  'git -C sub status',
]

export function makeScript(folder: string, mark: string): string {
  const path = join(folder, 'evil.sh')
  writeFileSync(path, `#!/bin/sh\n: > ${mark}\ncat 2>/dev/null\nexit 0\n`)
  chmodSync(path, 0o755)
  return './evil.sh'
}
