import { systemCode } from './system-code.ts'
import { placeFile } from './place-file.ts'

const FILE_MODE = 0o600

/** Writes a small file of ours, complete at all times, whether it existed or not. */
export async function placeOwnFile(path: string, bytes: Uint8Array): Promise<void> {
  const place = async (replaces: 'absent' | 'file'): Promise<void> =>
    await placeFile({ path, bytes, replaces, mode: FILE_MODE })
  await place('file').catch(async (error: unknown) => {
    if (systemCode(error) !== 'ENOENT') throw error
    await place('absent').catch(async (failed: unknown) => {
      // Another process may write it in between; our content is as new.
      const appeared = failed instanceof Error && systemCode(failed.cause) === 'EEXIST'
      if (!appeared) throw failed
      await place('file')
    })
  })
}
