import { access as checkAccess, constants, open, realpath, stat } from 'node:fs/promises'
import { delimiter, join } from 'node:path'

/** Where a name on the search path leads. */
export interface FoundProgram {
  /** As found along the search path. */
  readonly path: string
  readonly real: string
}

export async function findProgram(name: string, searchPath: string): Promise<FoundProgram | undefined> {
  if (!/^[\w.+[-][\w.+-]*$/.test(name)) return undefined
  for (const folder of searchPath.split(delimiter)) {
    const path = join(folder, name)
    if (!(await isProgram(path))) continue
    const real = await realpath(path).catch(() => undefined)
    if (real !== undefined) return { path, real }
  }
  return undefined
}

async function isProgram(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined)
  if (found?.isFile() !== true) return false
  return checkAccess(path, constants.X_OK).then(
    () => true,
    () => false,
  )
}

const ELF = Buffer.from([0x7f, 0x45, 0x4c, 0x46])

/** Machine code, not a script: it works without the files beside it, and contains no text of the user. */
export async function isMachineCode(path: string): Promise<boolean> {
  const handle = await open(path, 'r').catch(() => undefined)
  if (handle === undefined) return false
  try {
    const start = Buffer.alloc(ELF.length)
    const { bytesRead } = await handle.read(start, 0, ELF.length, 0)
    return bytesRead === ELF.length && start.equals(ELF)
  } finally {
    await handle.close()
  }
}
