import { execFileSync, spawnSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { linkSync, readdirSync, writeFileSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect, onTestFinished, test } from 'vitest'

import { openFileMailbox, WAITING_MAX } from '../../packages/palimpsest/src/node/mailbox/file-mailbox.ts'
import { cases } from '../kit/cases.ts'
import { createBench, onlyTranscript, sentBody, text } from '../kit/headless.ts'
import { tempProject } from '../kit/temp-home.ts'

// A mailbox on a full disk, one in which many wait, and a full one: told, bounded, nothing lost.

const SOME = { id: 'a-1', from: 'ann', to: 'bob', at: 1, summary: 'one', message: 'text' }

/** A disk of 64 KiB, of root's making. */
function smallDisk(folder: string): boolean {
  if (process.getuid?.() !== 0) return false
  return spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', folder]).status === 0
}

test('on a full disk the sender is told, nothing half-written is left, and what was sent before is still there', async ({
  skip,
}) => {
  const folder = await mkdtemp(join(tmpdir(), 'palimpsest-full-'))
  onTestFinished(async () => await rm(folder, { recursive: true, force: true }))
  if (!smallDisk(folder)) skip('only root can make a small disk, and where it may mount one')
  onTestFinished(() => void execFileSync('umount', ['-l', folder]))
  const home = join(folder, 'home')
  await mkdir(home, { mode: 0o700 })
  const open = (self: string) => openFileMailbox({ home, team: 'team', self })
  const [ann, bob] = [await open('ann'), await open('bob')]
  await ann.send(SOME)
  await writeFile(join(folder, 'filler'), Buffer.alloc(1 << 20)).catch(() => undefined)
  await expect(ann.send({ ...SOME, id: 'a-2', message: 'x'.repeat(50_000) })).rejects.toThrow(/full|space/)
  expect(await bob.waiting(10)).toMatchObject({ letters: [{ id: 'a-1' }], more: 0, refused: [] })
  await bob.settle('a-1')
  await rm(join(folder, 'filler'))
  await ann.send({ ...SOME, id: 'a-2' })
  expect((await bob.waiting(10)).letters.map(({ id }) => id)).toEqual(['a-2'])
})

/** Waiting letters of Ann and Cyd in turns, signed as they sign them. To send so many takes long: each waits for the disk. */
async function fillBox(home: string, count: number): Promise<string> {
  const folder = join(home, 'teams/red')
  const keys = new Map<string, string>()
  for (const self of ['ann', 'bob', 'cyd']) {
    await openFileMailbox({ home, team: 'red', self })
    keys.set(self, await readFile(join(folder, 'keys', self), 'utf8'))
  }
  const box = join(folder, 'mail/bob')
  for (let n = 0; n < count; n++) {
    const from = n % 2 === 0 ? 'ann' : 'cyd'
    const letter = { ...SOME, id: `n-${n}`, from, message: `number ${n}.` }
    const signed = JSON.stringify([letter.id, from, 'bob', letter.at, letter.summary, letter.message])
    const signature = createHmac('sha256', keys.get(from) ?? '')
      .update(signed)
      .digest('hex')
    writeFileSync(join(box, fileName(n + 1, from)), JSON.stringify({ ...letter, signature }))
  }
  return box
}

function fileName(number: number, from: string): string {
  return `${String(number).padStart(12, '0')}~${from}.json`
}

test('of many messages waiting at the start, twenty join a request and no other is read before it, the user is told how many more wait, and all join once and in order', async () => {
  const count = cases(50, WAITING_MAX).numRuns
  const look: { box: string; atFirst: readonly string[] } = { box: '', atFirst: [] }
  const bench = await createBench({
    instead: (request) => {
      if (request.url.endsWith('/messages') && look.atFirst.length === 0) look.atFirst = readdirSync(look.box)
      return undefined
    },
  })
  await mkdir(bench.home, { mode: 0o700 })
  look.box = await fillBox(bench.home, count - 1)
  const forged = fileName(count, 'leader')
  await writeFile(join(look.box, forged), '{}')
  bench.simulator.addSteps([{ content: [text('Seen.')], times: count }])
  const { err, exit } = await bench.run(['-p', 'Go', '--team', 'red', '--as', 'bob'])
  expect(exit).toBe(0)
  // Whatever is read is taken or put aside: the last one, which is forged, still lies there.
  expect(look.atFirst).toHaveLength(count - 20)
  expect(look.atFirst).toContain(forged)
  expect(err).toContain(`${count - 20} more messages wait`)
  const numbersIn = (index: number): readonly string[] =>
    JSON.stringify(sentBody(bench, index)).match(/number [0-9]{1,5}\./g) ?? []
  const numbers = Array.from({ length: count - 1 }, (_, n) => `number ${n}.`)
  expect([0, 1].map(numbersIn)).toEqual([numbers.slice(0, 20), numbers.slice(0, 40)])
  const lines = (await onlyTranscript(bench)).map((line) => JSON.stringify(line))
  const ids = lines.flatMap((line) => /"messageId":"(n-[0-9]{1,5})"/.exec(line)?.[1] ?? [])
  expect(ids).toEqual(numbers.map((_, n) => `n-${n}`))
  expect(lines.flatMap((line) => /number [0-9]{1,5}\./.exec(line)?.[0] ?? [])).toEqual(numbers)
  expect(await readdir(look.box)).toEqual(['refused'])
  expect(err).toContain(forged)
})

test('a full mailbox accepts no more messages, and says so', async () => {
  const { home } = await tempProject()
  const open = (self: string) => openFileMailbox({ home, team: 'team', self })
  const [ann] = [await open('ann'), await open('bob')]
  const box = join(home, 'teams/team/mail/bob')
  // One file by all these names: it is names that are counted.
  const first = join(box, fileName(1, 'cyd'))
  writeFileSync(first, '')
  for (let n = 2; n <= WAITING_MAX; n++) linkSync(first, join(box, fileName(n, 'cyd')))
  await expect(ann.send(SOME)).rejects.toThrow(
    `the mailbox of bob is full: ${WAITING_MAX} messages wait in it`,
  )
})
