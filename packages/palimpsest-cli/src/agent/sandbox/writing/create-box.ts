import { chmod, mkdir, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { buildingEnvironment } from '../../process/child-environment.ts'
import { runProcess } from '../../process/start-process.ts'
import type { SandboxKeep } from '../sandbox.ts'

const BOX_MODE = 0o700

/** A folder with the `/tmp` and the home of commands in the sandbox, for as long as the session lasts. */
export function createBox(): SandboxKeep['box'] {
  let made: Promise<string> | undefined
  const make = async (): Promise<string> => {
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'palimpsest-box-')))
    await chmod(folder, BOX_MODE)
    await Promise.all([mkdir(join(folder, 'tmp')), mkdir(join(folder, 'home'))])
    return folder
  }
  return {
    folder: () => (made ??= make()),
    close: async () => {
      const folder = await made?.catch(() => undefined)
      made = undefined
      if (folder === undefined) return
      await rm(folder, { recursive: true, force: true }).catch(async () => {
        // Some tools leave folders that even their owner cannot write to.
        const env = buildingEnvironment({}, '/')
        const args = ['-R', 'u+rwX', folder]
        await runProcess({ program: 'chmod', args, cwd: '/', env }, { msMax: 30_000, bytesMax: 65_536 })
        await rm(folder, { recursive: true, force: true }).catch(() => undefined)
      })
    },
  }
}
