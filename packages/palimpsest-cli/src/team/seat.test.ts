import { copyFileSync, renameSync } from 'node:fs'
import { mkdir, readdir, rename, symlink } from 'node:fs/promises'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { openFileMailbox } from 'palimpsest/node'
import {
  call,
  createBench,
  jsonLines,
  onlyTranscript,
  put,
  sentBody,
  startsWithAll,
  text,
  type Bench,
} from '../../../../test/kit/headless.ts'
import { askForSummaries, longAnswers, summaryStep } from '../../../../test/kit/compacting.ts'

// A run that is one of a team: what others write joins its conversation, at the end, once.

const SEAT = ['--team', 'red', '--as', 'bob']
const STREAM = ['--output-format', 'stream-json']

function boxOf({ home }: Pick<Bench, 'home'>): string {
  return join(home, 'teams/red/mail/bob')
}

async function letters(bench: Pick<Bench, 'home'>): Promise<readonly string[]> {
  return (await readdir(boxOf(bench))).filter((name) => name.endsWith('.json'))
}

/** What is in the mailbox, as Ann wrote it. */
async function write({ home }: Pick<Bench, 'home'>, summary: string, message = summary): Promise<string> {
  await mkdir(home, { recursive: true, mode: 0o700 })
  await openFileMailbox({ home, team: 'red', self: 'bob' })
  const ann = await openFileMailbox({ home, team: 'red', self: 'ann' })
  const id = `id-${summary.replaceAll(' ', '-')}`
  await ann.send({ id, from: 'ann', to: 'bob', at: 1, summary, message })
  const [name = ''] = (await letters({ home })).toSorted().slice(-1)
  return join(boxOf({ home }), name)
}

/** Texts of the user's side of a request, in order. */
function said(bench: Bench, index: number): string {
  return JSON.stringify(sentBody(bench, index)['messages'])
}

describe('a run with a seat', () => {
  test('takes waiting messages before its first request, says so in a line, and removes them once the transcript has them', async () => {
    const bench = await createBench()
    await write(bench, 'the build is red', 'Test 7 fails on main.')
    bench.simulator.addSteps([{ content: [text('Seen.')] }])
    const { out, err, exit } = await bench.run(['-p', 'Wait for news', ...SEAT, ...STREAM])
    expect(exit).toBe(0)
    expect(said(bench, 0)).toContain('Test 7 fails on main.')
    expect(err).toContain('ann: the build is red')
    expect(jsonLines(out)).toContainEqual(
      expect.objectContaining({ subtype: 'agent_message', from: 'ann', summary: 'the build is red' }),
    )
    expect(await letters(bench)).toEqual([])
    const kinds = (await onlyTranscript(bench)).map((line) => JSON.stringify(line))
    const id = kinds.findIndex((line) => line.includes('id-the-build-is-red'))
    expect(id).toBeGreaterThan(0)
    expect(kinds[id + 1]).toContain('Test 7 fails on main.')
  })

  test('takes messages that arrive during its work at the next tool boundary, and those that arrive with its answer in another turn; no byte before them changes', async () => {
    const state = { first: '', second: '', box: '', count: 0 }
    const bench = await createBench({
      instead: (request) => {
        if (!request.url.endsWith('/messages')) return undefined
        state.count++
        if (state.count === 1) renameSync(state.first, join(state.box, '000000000001~ann.json'))
        if (state.count === 2) renameSync(state.second, join(state.box, '000000000002~ann.json'))
        return undefined
      },
    })
    await put(join(bench.folder, 'a.txt'), 'the egret')
    state.box = boxOf(bench)
    for (const [name, at] of [
      ['first', 'first'],
      ['second', 'second'],
    ] as const) {
      state[at] = join(bench.home, `${name}.json`)
      await rename(await write(bench, `the ${name} one`), state[at])
    }
    // Their names say who sent them; the numbers are theirs again.
    bench.simulator.addSteps([
      { content: [call('Read', { file_path: 'a.txt' })] },
      { content: [text('An egret.')] },
      { content: [text('And two messages.')] },
    ])
    const { exit, out } = await bench.run(['-p', 'What is in a.txt?', ...SEAT])
    expect([exit, out]).toEqual([0, 'And two messages.\n'])
    expect(said(bench, 0)).not.toContain('the first one')
    expect(said(bench, 1)).toContain('the first one')
    expect(said(bench, 1)).not.toContain('the second one')
    expect(said(bench, 2)).toContain('the second one')
    const [one, two, three] = [0, 1, 2].map((index) => sentBody(bench, index))
    expect([startsWithAll(two ?? '', one ?? ''), startsWithAll(three ?? '', two ?? '')]).toEqual([true, true])
    const read = bench.simulator.requests().map(({ usage }) => usage?.cache_read_input_tokens ?? 0)
    expect(read[2]).toBeGreaterThan(read[1] ?? 0)
  })

  test('takes nothing twice, even where a kill left it in the mailbox and a compaction removed it from the window', async () => {
    const bench = await createBench()
    const path = await write(bench, 'once only')
    const copy = join(bench.home, 'copy.json')
    copyFileSync(path, copy)
    bench.simulator.addSteps([
      ...longAnswers('old', 3),
      { content: [text('One.')] },
      summaryStep('All is said.'),
      { content: [text('Two.')] },
    ])
    await askForSummaries(bench)
    await bench.run(['-p', 'Begin', ...SEAT])
    renameSync(copy, path)
    expect(await bench.run(['compact'])).toMatchObject({ exit: 0 })
    const { err, exit } = await bench.run(['-p', 'Go on', '--continue', ...SEAT])
    expect([exit, err.includes('ann: once only')]).toEqual([0, false])
    expect(await letters(bench)).toEqual([])
  })

  test('is one run at a time, and must give both names', async () => {
    const bench = await createBench()
    expect(await bench.run(['-p', 'x', '--team', 'red'])).toMatchObject({
      exit: 2,
      err: expect.stringContaining('--as'),
    })
    expect(await bench.run(['-p', 'x', '--team', 'red-desk', '--as', 'leader'])).toMatchObject({
      exit: 2,
      err: expect.stringContaining('names that end in "-desk" are reserved'),
    })
    expect(await bench.run(['-p', 'x', '--team', '../red', '--as', 'bob'])).toMatchObject({
      exit: 2,
      err: expect.stringContaining('letters, digits'),
    })
    for (const words of [
      ['-p', 'x', '--team', 'Sessions', '--as', 'bob'],
      ['team', 'x', '-p', '--name', 'red-Desk'],
    ])
      expect(await bench.run(words)).toMatchObject({ exit: 2, err: expect.stringContaining('reserved') })
    expect(await bench.run(['-p', 'x', '--stay'])).toMatchObject({
      exit: 2,
      err: expect.stringContaining('--team'),
    })
  })

  test('reports what it refuses, and puts it aside', async () => {
    const bench = await createBench()
    const path = await write(bench, 'true')
    await put(join(boxOf(bench), '000000000009~leader.json'), '{"from":"leader"}')
    bench.simulator.addSteps([{ content: [text('Seen.')] }])
    const { err } = await bench.run(['-p', 'Go', ...SEAT])
    expect(err).toContain('000000000009~leader.json')
    expect(await readdir(join(boxOf(bench), 'refused'))).toEqual(['000000000009~leader.json'])
    expect(await letters(bench)).toEqual([])
    expect(path).toContain('~ann.json')
  })

  test.each(['outside the home', 'to the mailbox of another one'])(
    'is refused where its mailbox is a link %s, and nothing there is touched',
    async (where) => {
      const bench = await createBench()
      await write(bench, 'for bob')
      const target = where.startsWith('outside') ? join(bench.folder, 'elsewhere') : `${boxOf(bench)}-2`
      await rename(boxOf(bench), target)
      await put(join(target, 'note.json'), '{}')
      await symlink(target, boxOf(bench))
      const before = (await readdir(target)).toSorted()
      bench.simulator.addSteps([{ content: [text('Seen.')] }])
      const { exit, err } = await bench.run(['-p', 'Go', ...SEAT])
      expect(exit).not.toBe(0)
      expect(err).toContain(where.startsWith('outside') ? `${target} leads out of` : boxOf(bench))
      expect(err).toContain('symbolic link')
      expect((await readdir(target)).toSorted()).toEqual(before)
      expect(bench.simulator.requests()).toEqual([])
    },
  )
})
