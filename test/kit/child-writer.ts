import { openHome } from '../../packages/palimpsest/src/node/files/inside-home.ts'
import { takeLock } from '../../packages/palimpsest/src/node/files/lock.ts'
import { openProject } from '../../packages/palimpsest/src/node/files/paths.ts'
import {
  createTranscript,
  openTranscript,
} from '../../packages/palimpsest/src/node/transcripts/transcript-file.ts'
import type { Entry } from '../../packages/palimpsest/src/transcript/entry.ts'

// A process of its own for tests of locks and crashes. It does as its arguments say and prints one line per event.

const [command = '', home = '', cwd = '', extra = ''] = process.argv.slice(2)
const project = await openProject(await openHome(home), cwd)
const options = { project, sessionId: 's-1', cwd, version: '0.0.0', now: Date.now } as const

const commands: { readonly [name: string]: () => Promise<void> } = {
  /** Waits for a line of input, so that many start at once; then tries the lock and keeps it until killed. */
  lock: async () => {
    print('ready')
    await new Promise((resolve) => process.stdin.once('data', resolve))
    try {
      await takeLock(project.home, `${project.folder}/${extra}`)
      print(`won ${process.pid}`)
      setInterval(() => undefined, 1000)
    } catch (error) {
      print(`lost ${String(error)}`)
      process.exit(0)
    }
  },
  /** Appends without end, telling of each entry only when it is in the file. */
  append: async () => {
    const file = await createTranscript({ ...options, sync: 'close' })
    for (let i = 0; ; i++) {
      await file.append([message(i), message(i + 0.5)])
      print(`appended ${i}`)
    }
  },
  /** Appends until the disk, or a limit on file sizes, allows no more. */
  fill: async () => {
    const { file, loaded } = await openTranscript({ ...options, sync: 'each' })
    print(`loaded ${loaded.entries.length}`)
    for (let i = 0; ; i++) {
      try {
        await file.append([message(i)])
      } catch (error) {
        const failure = error instanceof Error && 'failure' in error ? error.failure : error
        print(`failed after ${i}: ${String(failure)}: ${String(error)}`)
        break
      }
    }
    await file.close()
  },
}

function message(number: number): Entry {
  const wire = { role: 'user' as const, content: `number ${number} ${'z'.repeat(3000)}` }
  const json = JSON.stringify(wire)
  return { kind: 'message', id: `n${number}`, parent: null, at: 0, origin: 'user', message: wire, json }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

await commands[command]?.()
