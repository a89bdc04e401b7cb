import { execFileSync } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, expect, test } from 'vitest'

import { transcriptsOf } from '../kit/headless.ts'
import { createInProcess } from '../kit/in-process.ts'

// Whatever is named as a session and is none: one sentence says what it is. Nothing is stored, and nobody waits.

const root = realpathSync(mkdtempSync(join(tmpdir(), 'palimpsest-odd-')))
const { run, folder, home } = await createInProcess(root)
afterAll(() => rmSync(root, { recursive: true, force: true }))

const at = (name: string): string => join(folder, name)
const GIGABYTE = 1024 ** 3
/** More than a text can hold; in a soak more than can be read at once, and than 32 bits count. */
const ZEROS_BYTES = process.env['SOAK'] ? 5 * GIGABYTE : GIGABYTE / 2 + 1
mkdirSync(at('folder'))
execFileSync('mkfifo', [at('pipe')])
symlinkSync('loop', at('loop'))
symlinkSync('nowhere', at('dangling'))
writeFileSync(at('empty.jsonl'), '')
writeFileSync(at('blank.jsonl'), '\n\n \n')
writeFileSync(at('text.jsonl'), 'dear diary\nnothing happened\n'.repeat(200))
writeFileSync(at('bytes.jsonl'), Buffer.from(Array.from({ length: 9_000 }, (_, i) => (i * 7919) % 256)))
writeFileSync(at('title.jsonl'), '{"type":"summary","summary":"x","leafUuid":"l"}\n')
writeFileSync(at('zeros.jsonl'), '')
truncateSync(at('zeros.jsonl'), ZEROS_BYTES)
const payload = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hello' }] }
const item = { timestamp: '2026-03-01T10:00:01Z', type: 'response_item', payload }
writeFileSync(at('codex.jsonl'), `${JSON.stringify(item)}\n`)

test.each([
  ['./folder', 'is a folder, not a session file'],
  ['./pipe', 'is a pipe, not a session file'],
  ['/dev/zero', 'is a device, not a session file'],
  ['./loop', 'is a symbolic link that leads to itself'],
  ['./dangling', /^there is no session file \S+dangling/],
  ['./nowhere.jsonl', /^there is no session file \S+nowhere\.jsonl/],
  [`./${'n'.repeat(300)}.jsonl`, 'is too long for a path'],
  ['./empty.jsonl', 'is empty, so there is no session in it'],
  ['./blank.jsonl', 'contains no conversation'],
  ['./text.jsonl', 'is not a session: none of its lines is JSON of a known form'],
  ['./bytes.jsonl', 'is not a session: none of its lines is JSON of a known form'],
  ['./zeros.jsonl', 'is not a session: none of its lines is JSON of a known form'],
  ['./title.jsonl', 'contains no conversation'],
  [
    './codex.jsonl',
    /^(\S+codex\.jsonl) is a session of codex\. It can be replayed \(`palimpsest replay \1`\) but not resumed/,
  ],
  ['/proc/self/mem', /^cannot read \/proc\/self\/mem \(E\w+\); /],
  ['/proc/self/status', 'is not a file on a disk, so there is no session in it'],
  ['a\u0000b.jsonl', /^there is no session file /],
])('--resume %j', async (which, expected) => {
  const { exit, out, err } = await run(['-p', 'hi', '--resume', which])
  expect({ exit, out, stored: await transcriptsOf({ home }) }).toEqual({ exit: 2, out: '', stored: [] })
  expect(err).toMatch(/^palimpsest: [^\n]*; `palimpsest sessions` lists what can be resumed\n$/)
  const said = err.slice('palimpsest: '.length)
  if (typeof expected === 'string') expect(said).toContain(expected)
  else expect(said).toMatch(expected)
})
