import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { claudeCodeSession } from '../kit/claude-code-session.ts'
import { createBench, jsonObject, put } from '../kit/headless.ts'

test('one of our own sessions is found and replayed', async () => {
  const bench = await createBench({ script: [{ content: [{ type: 'text', text: 'Good day.' }] }] })
  expect((await bench.run(['-p', 'Say something.'])).exit).toBe(0)
  // Its threads are ready sooner when they come from the bundle.
  const { exit, out, err } = await bench.start(['replay', '--strategy', 'batch', '--json']).ended
  expect(err).toContain('your own sessions, newest first: 1\n')
  expect(exit).toBe(0)
  expect(jsonObject(out)['sessions']).toMatchObject([
    { session: expect.stringMatching(/^palimpsest\/.+\.jsonl$/), steps: 1 },
  ])
})

test('with 200 sessions of Claude Code in a folder, Ctrl-C still gives a complete report on what was done so far, with its page', async () => {
  const bench = await createBench()
  const projects = join(bench.userHome, '.claude/projects')
  const session = claudeCodeSession(12)
  await Promise.all(
    Array.from({ length: 200 }, (_, index) => put(join(projects, `p${index % 7}/s${index}.jsonl`), session)),
  )
  const { child, ended } = bench.start([
    'replay',
    '--strategy',
    'palimpsest',
    '--window',
    '20000',
    '--html',
    'page.html',
  ])
  let heard = ''
  child.stderr?.on('data', (chunk: string) => {
    heard += chunk
    if (!child.killed && heard.includes('2/200 ')) child.kill('SIGINT')
  })
  const { exit, out, err } = await ended
  expect(err).toContain('your own sessions, newest first: 200\n')
  expect(err).toMatch(/^1\/200 claude-code\/p\d\/s\d+\.jsonl: 13 steps$/m)
  const done = Number(/this report covers (\d+) of 200 files/.exec(err)?.[1])
  expect(done).toBeGreaterThanOrEqual(2)
  expect(done).toBeLessThan(200)
  expect(exit).toBe(1)
  expect(out).toMatch(new RegExp(`^${done} sessions, window 20k: palimpsest `))
  expect(out).toMatch(new RegExp(`^${done} sessions, ${done * 13} steps`, 'm'))
  expect(out).toContain('Size of each request: claude-code/')
  expect(out).toContain('What the columns mean')
  expect(readFileSync(join(bench.folder, 'page.html'), 'utf8')).toContain(`${done} recorded sessions`)
})
