import { findRipgrep, runRipgrep } from '../../agent/tools/ripgrep.ts'
import { readingEnvironment } from '../../agent/process/child-environment.ts'
import type { World } from '../../world.ts'

/** A longer list helps no one find a file. */
const FILES_MAX = 50_000

/** What `@` offers: files in the folder that are not ignored. Empty if they cannot be listed. */
export async function listFiles(cwd: string, world: Pick<World, 'env'>): Promise<readonly string[]> {
  const env = readingEnvironment(world.env, [cwd])
  const program = await findRipgrep(env, cwd)
  if (program === undefined) return []
  const args = ['--files', '--hidden', '--glob', '!.git', '--sort', 'path']
  const { output } = await runRipgrep(
    { program, args, folder: cwd, env },
    new AbortController().signal,
  ).catch(() => ({ output: '' }))
  return output.split('\n').filter(Boolean).slice(0, FILES_MAX)
}
