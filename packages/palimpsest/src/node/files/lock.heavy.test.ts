import { spawn, type ChildProcess } from 'node:child_process'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, expect, it, onTestFinished } from 'vitest'
import { cases } from '../../../../../test/kit/cases.ts'
import { childFile } from '../../../../../test/kit/child.ts'
import { tempProject } from '../../../../../test/kit/temp-home.ts'
import { takeLock } from './lock.ts'
import { ownIdentity } from './process-identity.ts'
import type { ProjectFolder } from './paths.ts'

const CHILD = childFile('writer')

/** Each is a process: a few in CI. */
const RACERS = cases(3, 8).numRuns
/** Where it is about what the one before them left. */
const FOLLOWERS = cases(2, 8).numRuns

interface Racer {
  readonly child: ChildProcess
  readonly nextLine: () => Promise<string>
}

function startRacer(project: ProjectFolder, lock: string): Racer {
  const args = [CHILD, 'lock', project.home, project.project, lock]
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return { child, nextLine: async () => String((await lines.next()).value) }
}

/** All are up before any may try. */
async function race(project: ProjectFolder, lock: string, count: number) {
  const racers = Array.from({ length: count }, () => startRacer(project, lock))
  await Promise.all(racers.map((racer) => racer.nextLine()))
  for (const { child } of racers) child.stdin?.write('go\n')
  const results = await Promise.all(racers.map(async (racer) => ({ racer, line: await racer.nextLine() })))
  return {
    winners: results.filter(({ line }) => line.startsWith('won')),
    losers: results.filter(({ line }) => line.startsWith('lost')).map(({ line }) => line),
  }
}

async function kill({ child }: Racer): Promise<void> {
  const gone = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGKILL')
  await gone
}

describe('one writer', () => {
  it('exactly one of many processes gets a free lock, and the others learn who holds it', async () => {
    const project = await tempProject()
    const { winners, losers } = await race(project, 'free.lock', RACERS)
    expect(winners).toHaveLength(1)
    const pid = winners[0]?.racer.child.pid
    expect(losers).toEqual(
      Array.from({ length: RACERS - 1 }, () =>
        expect.stringContaining(`open for writing in process ${pid}. Close it there, or continue in a fork`),
      ),
    )
  })

  it('exactly one of many processes gets the lock of a killed process, again and again', async () => {
    const project = await tempProject()
    for (let round = 0; round < cases(2, 30).numRuns; round++) {
      const { winners, losers } = await race(project, 'stale.lock', FOLLOWERS)
      expect(winners).toHaveLength(1)
      expect(losers).toHaveLength(FOLLOWERS - 1)
      for (const { racer } of winners) await kill(racer)
    }
    expect(await readdir(project.folder)).toEqual(['project.json', 'stale.lock'])
  })

  it('a process killed while taking over a stale lock blocks nobody', async () => {
    const project = await tempProject()
    const path = join(project.folder, 'x.lock')
    const dead = { ...(await ownIdentity()), startTicks: '1' }
    await writeFile(path, JSON.stringify({ ...dead, token: 'aaa' }))
    await writeFile(`${path}.aaa`, JSON.stringify({ ...dead, token: 'bbb' }))
    const { winners } = await race(project, 'x.lock', FOLLOWERS)
    expect(winners).toHaveLength(1)
    expect(await readdir(project.folder)).toEqual(['project.json', 'x.lock'])
  })
})

describe('many in parallel in one process', () => {
  it('of those that find a stale lock exactly one wins, whatever the order of their steps', async () => {
    const project = await tempProject()
    const path = join(project.folder, 'x.lock')
    const dead = { ...(await ownIdentity()), boot: 'earlier' }
    for (let round = 0; round < cases(5, 2000).numRuns; round++) {
      await writeFile(path, JSON.stringify({ ...dead, token: `stale-${round}` }))
      const tries = Array.from({ length: 12 }, () => takeLock(project.home, path))
      const results = await Promise.allSettled(tries)
      const won = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []))
      expect(won).toHaveLength(1)
      await won[0]?.release()
    }
    expect(await readdir(project.folder)).toEqual(['project.json'])
  })
})

describe('stale or not', () => {
  const write = async (content: string) => {
    const project = await tempProject()
    const path = join(project.folder, 'x.lock')
    await writeFile(path, content)
    return { home: project.home, path }
  }

  it.runIf(process.platform === 'linux')('a lock of a reused process id is stale', async () => {
    const { home, path } = await write(
      JSON.stringify({ ...(await ownIdentity()), startTicks: '1', token: 't' }),
    )
    const lock = await takeLock(home, path)
    expect(JSON.parse(await readFile(path, 'utf8'))).toEqual({
      ...(await ownIdentity()),
      token: expect.not.stringMatching(/^t$/),
    })
    await lock.release()
  })

  it('a lock from before the last boot is stale', async () => {
    const { home, path } = await write(
      JSON.stringify({ ...(await ownIdentity()), boot: 'earlier', token: 't' }),
    )
    const lock = await takeLock(home, path)
    expect(JSON.parse(await readFile(path, 'utf8'))).toMatchObject({ pid: process.pid, host: hostname() })
    await lock.release()
  })

  it('a lock of a live process is not stale', async () => {
    const { home, path } = await write(JSON.stringify({ ...(await ownIdentity()), token: 't' }))
    await expect(takeLock(home, path)).rejects.toMatchObject({ failure: 'locked' })
  })

  it('a lock of another machine is left alone, and the error says what to do', async () => {
    const { home, path } = await write(JSON.stringify({ pid: 77, host: 'elsewhere', token: 't' }))
    await expect(takeLock(home, path)).rejects.toThrow(
      `process 77 on elsewhere. Close it there, continue in a fork, or`,
    )
  })

  it('(S1) a token that would lead out of the folder is not used', async () => {
    const holder = { ...(await ownIdentity()), startTicks: '1', token: '../../../x' }
    const { home, path } = await write(JSON.stringify(holder))
    await expect(takeLock(home, path)).rejects.toMatchObject({ failure: 'locked' })
  })

  it('a released lock is free, and releasing it twice does not affect the next holder', async () => {
    const project = await tempProject()
    const path = join(project.folder, 'x.lock')
    const first = await takeLock(project.home, path)
    await first.release()
    const second = await takeLock(project.home, path)
    await first.release()
    await expect(takeLock(project.home, path)).rejects.toMatchObject({ failure: 'locked' })
    await second.release()
    expect(await readdir(project.folder)).toEqual(['project.json'])
  })
})
