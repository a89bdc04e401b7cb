import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { removeSession } from './remove-session.ts'

test('removing a session leaves nothing of it, not even torn lines, and removes nothing of other sessions', async () => {
  const home = await mkdtemp(join(tmpdir(), 'palimpsest-remove-'))
  try {
    const folder = join(home, 'projects', 'p')
    await mkdir(join(folder, 'a', 'tool-results'), { recursive: true })
    await mkdir(join(folder, 'session-memory'))
    const files = [
      'a.jsonl',
      'a.jsonl.torn-1',
      'a.jsonl.torn-2',
      'a/tool-results/t.txt',
      'session-memory/a.md',
    ]
    const kept = ['ab.jsonl', 'ab.jsonl.torn-1', 'session-memory/ab.md']
    for (const name of [...files, ...kept]) await writeFile(join(folder, name), 'x')
    await removeSession(home, join(folder, 'a.jsonl'))
    const left = await readdir(folder, { recursive: true })
    expect(left.toSorted()).toEqual(['ab.jsonl', 'ab.jsonl.torn-1', 'session-memory', 'session-memory/ab.md'])
  } finally {
    await rm(home, { recursive: true, force: true })
  }
})
