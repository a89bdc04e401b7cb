import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'

import { expect, onTestFinished, test } from 'vitest'

import { transcriptPath, type ProjectFolder } from '../../packages/palimpsest/src/node/files/paths.ts'
import { openFileMailbox } from '../../packages/palimpsest/src/node/mailbox/file-mailbox.ts'
import { loadTranscript } from '../../packages/palimpsest/src/node/transcripts/load-transcript.ts'
import { cases } from '../kit/cases.ts'
import { childFile } from '../kit/child.ts'
import { tempProject } from '../kit/temp-home.ts'

const CHILD = childFile('mailer')
const NAMES = process.env['SOAK'] ? ['ann', 'bob', 'cyd', 'dan'] : ['ann', 'bob', 'cyd']
const EACH = cases(30, 2_500).numRuns
const KILLS = cases(2, 120).numRuns
const KILL_AFTER_MS = 400
const TRIES_MAX = 100

interface Member {
  readonly child: ChildProcess
  /** Since when it has nothing to send, and how many it got. */
  readonly state: { got: number; isUp: boolean }
}

function start({ home }: ProjectFolder, self: string): Member {
  const others = NAMES.filter((name) => name !== self).join(',')
  const args = [CHILD, home, dirname(home), self, others, String(EACH)]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const state = { got: -1, isUp: false }
  createInterface({ input: child.stdout }).on('line', (line) => {
    state.isUp = true
    if (line.startsWith('idle ')) state.got = Number(line.slice('idle '.length))
  })
  return { child, state }
}

/** Who got which, by the transcripts. */
async function gotten(project: ProjectFolder): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = new Map<string, readonly string[]>()
  for (const name of NAMES) {
    const { entries } = await loadTranscript(transcriptPath(project, name))
    found.set(
      name,
      entries.flatMap((entry, i) =>
        entry.kind === 'mail' && entries[i + 1]?.kind === 'message' ? [entry.messageId] : [],
      ),
    )
  }
  return found
}

/** All that waits in a mailbox. A sender that was killed leaves what it had not finished, for an hour. */
async function waitingIn({ home }: ProjectFolder): Promise<readonly string[]> {
  const boxes = NAMES.map(async (name) => await readdir(join(home, 'teams', 'team', 'mail', name)))
  return (await Promise.all(boxes)).flat().filter((file) => !file.startsWith('.'))
}

test(`of ${NAMES.length * EACH} messages between ${NAMES.length} processes, killed ${KILLS} times, each is received once, in the order of its sender`, async () => {
  const project = await tempProject()
  for (const self of NAMES) await openFileMailbox({ home: project.home, team: 'team', self })
  const members = new Map(NAMES.map((name) => [name, start(project, name)]))
  for (let kill = 0; kill < KILLS; kill++) {
    const name = NAMES[kill % NAMES.length] ?? ''
    const { child, state } = members.get(name) ?? start(project, name)
    while (!state.isUp) await sleep(5)
    await sleep((kill * 37) % KILL_AFTER_MS)
    child.kill('SIGKILL')
    await once(child, 'exit')
    members.set(name, start(project, name))
  }
  const all = [...members.values()]
  while (all.reduce((sum, { state }) => sum + Math.max(0, state.got), 0) < NAMES.length * EACH)
    await sleep(50)
  // What was taken in leaves its mailbox a moment later.
  for (let tries = 0; tries < TRIES_MAX && (await waitingIn(project)).length > 0; tries++) await sleep(50)
  for (const { child } of all) {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  const got = await gotten(project)
  const total = [...got.values()].flat()
  expect(total).toHaveLength(NAMES.length * EACH)
  expect(new Set(total).size).toBe(total.length)
  for (const [name, ids] of got)
    for (const sender of NAMES.filter((other) => other !== name)) {
      const numbers = ids.filter((id) => id.startsWith(`${sender}-`)).map((id) => Number(id.slice(4)))
      expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
    }
  expect(await waitingIn(project)).toEqual([])
})
