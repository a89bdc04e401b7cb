import { execFileSync, spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect, onTestFinished, test } from 'vitest'

import { openFileMailbox, WAITING_MAX } from '../../packages/palimpsest/src/node/mailbox/file-mailbox.ts'
import { cases } from '../kit/cases.ts'
import { createBench, sentBody, text } from '../kit/headless.ts'
import { tempProject } from '../kit/temp-home.ts'

// A mailbox on a full disk, one in which many wait, and a full one: told, bounded, nothing lost.

const SOME = { id: 'a-1', from: 'ann', to: 'bob', at: 1, summary: 'one', message: 'text' }

/** A disk of 64 KiB, of root's making. */
function smallDisk(folder: string): boolean {
  if (process.getuid?.() !== 0) return false
  return spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', folder]).status === 0
}

test('on a full disk the sender is told, nothing half is left, and what was sent before is there', async ({
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

test('of many that wait at the start twenty join a request, the user is told how many more wait, and all join in order', async () => {
  const count = cases(60, 200).numRuns
  const bench = await createBench()
  await mkdir(bench.home, { mode: 0o700 })
  const open = (self: string) => openFileMailbox({ home: bench.home, team: 'red', self })
  const [ann] = [await open('ann'), await open('bob')]
  for (let n = 0; n < count; n++) await ann.send({ ...SOME, id: `n-${n}`, message: `number ${n}.` })
  bench.simulator.addSteps([{ content: [text('Seen.')], times: count }])
  const { err, exit } = await bench.run(['-p', 'Go', '--team', 'red', '--as', 'bob'])
  expect(exit).toBe(0)
  expect(err).toContain(`${count - 20} more messages wait`)
  const numbersIn = (index: number): readonly string[] =>
    JSON.stringify(sentBody(bench, index)).match(/number [0-9]{1,3}\./g) ?? []
  const numbers = Array.from({ length: count }, (_, n) => `number ${n}.`)
  expect(numbersIn(0)).toEqual(numbers.slice(0, 20))
  expect(numbersIn(-1)).toEqual(numbers)
  expect(await readdir(join(bench.home, 'teams/red/mail/bob'))).toEqual([])
})

test('a full mailbox takes no more, and says so', async () => {
  const { home } = await tempProject()
  const open = (self: string) => openFileMailbox({ home, team: 'team', self })
  const [ann] = [await open('ann'), await open('bob')]
  const box = join(home, 'teams/team/mail/bob')
  for (let n = 1; n <= WAITING_MAX; n++)
    await writeFile(join(box, `${String(n).padStart(12, '0')}~cyd.json`), '')
  await expect(ann.send(SOME)).rejects.toThrow(
    `the mailbox of bob is full: ${WAITING_MAX} messages wait in it`,
  )
})
