import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'

import { runCli } from '../../packages/palimpsest-cli/src/commands/run-cli.ts'
import type { World } from '../../packages/palimpsest-cli/src/world.ts'
import { tempFolder } from './temp-home.ts'

// The command in this process: no start-up to wait for, on the offline model unless the environment names another. It sees a home, a
// folder and an environment made for the test, and nothing of ours.

export interface InProcess {
  readonly root: string
  /** PALIMPSEST_HOME. */
  readonly home: string
  /** The working folder. */
  readonly folder: string
  /** The user's own folder. */
  readonly userHome: string
  readonly run: (args: readonly string[], options?: InProcessOptions) => Promise<InProcessRan>
}

export interface InProcessOptions extends Partial<Pick<World, 'cwd' | 'userHome' | 'terminal' | 'signal'>> {
  /** What is piped in; nothing unless given. */
  readonly stdin?: string
  /** Added to the environment; undefined takes a variable out. */
  readonly env?: { readonly [name: string]: string | undefined }
}

export interface InProcessRan {
  readonly exit: number
  readonly out: string
  readonly err: string
}

/** In a folder of the test's own, or in one that the caller removes. */
export async function createInProcess(given?: string): Promise<InProcess> {
  const root = given ?? (await tempFolder())
  const [home, folder, userHome] = [join(root, 'home'), join(root, 'work'), join(root, 'user')]
  await mkdir(folder)
  await mkdir(userHome)
  return {
    root,
    home,
    folder,
    userHome,
    async run(args, { stdin, env, ...more } = {}) {
      const texts = { out: '', err: '' }
      const stop = new AbortController()
      const exit = await runCli(args, {
        version: '0.0.0',
        nodeVersion: process.version,
        env: {
          PATH: process.env['PATH'],
          HOME: userHome,
          PALIMPSEST_HOME: home,
          PALIMPSEST_MEMORY_EXTRACT: '0',
          ...env,
        },
        cwd: folder,
        userHome,
        now: () => Date.now(),
        platform: process.platform,
        readInput: async () => (stdin === undefined ? { kind: 'none' } : { kind: 'text', text: stdin }),
        print: (text) => (texts.out += text),
        printError: (text) => (texts.err += text),
        signal: stop.signal,
        ...more,
      })
      stop.abort()
      return { exit, ...texts }
    },
  }
}
