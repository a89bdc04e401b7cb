import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import { afterAll, expect, test } from 'vitest'

import type { World } from '../world.ts'
import { findOwnSessions } from './find-own-sessions.ts'

const home = mkdtempSync(join(tmpdir(), 'own-sessions-'))
afterAll(() => rmSync(home, { recursive: true, force: true }))

test('sessions of every tool, newest first; sub-agents and empty files do not count', async () => {
  put('a/.claude/projects/p/one.jsonl', 3)
  put('a/.claude/projects/p/agent-x.jsonl', 9)
  put('a/.claude/projects/p/one/subagents/y.jsonl', 9)
  put('a/.claude/projects/p/empty.jsonl', 9, 0)
  put('a/.codex/sessions/2026/01/02/rollout-two.jsonl', 5)
  put('a/.pi/agent/sessions/q/three.jsonl', 1)
  put('a/.palimpsest/projects/p/four.jsonl', 4)
  put('a/.local/share/opencode/storage/session/p/five.json', 2, undefined, '{"id":"five"}')
  const { files, left } = await findOwnSessions(worldAt('a'))
  expect(files.map(({ name }) => name)).toEqual([
    'codex/2026/01/02/rollout-two.jsonl',
    'palimpsest/p/four.jsonl',
    'claude-code/p/one.jsonl',
    'opencode/five',
    'pi/q/three.jsonl',
  ])
  expect(left).toBe(0)
})

test('folders that the tools were told to use are searched instead', async () => {
  put('b/cc/projects/p/one.jsonl', 1)
  put('b/cx/sessions/two.jsonl', 2)
  put('b/.claude/projects/p/other.jsonl', 3)
  const env = { CLAUDE_CONFIG_DIR: join(home, 'b/cc'), CODEX_HOME: join(home, 'b/cx') }
  const { files } = await findOwnSessions({ ...worldAt('b'), env })
  expect(files.map(({ name }) => name)).toEqual(['codex/two.jsonl', 'claude-code/p/one.jsonl'])
})

test('two hundred are taken, and the others counted', async () => {
  for (let i = 0; i < 203; i++) put(`d/.claude/projects/p/${i}.jsonl`, i)
  const { files, left } = await findOwnSessions(worldAt('d'))
  expect({ taken: files.length, left }).toEqual({ taken: 200, left: 3 })
  expect(files.map(({ name }) => name)).not.toContain('claude-code/p/2.jsonl')
})

/** A file that was changed so many seconds after the beginning. */
function put(name: string, seconds: number, bytes = 10, text = 'x'.repeat(bytes)): void {
  const path = join(home, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  utimesSync(path, seconds, seconds)
}

function worldAt(folder: string): World {
  return {
    version: '0',
    env: {},
    cwd: join(home, folder),
    userHome: join(home, folder),
    now: () => 0,
    nodeVersion: 'v24.0.0',
    platform: 'linux',
    readInput: async () => ({ kind: 'none' }),
    print: () => {},
    printError: () => {},
    signal: new AbortController().signal,
  }
}
