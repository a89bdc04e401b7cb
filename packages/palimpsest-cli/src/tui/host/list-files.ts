import { findRipgrep, runRipgrep } from '../../agent/tools/ripgrep.ts'
import { readingEnvironment } from '../../agent/process/child-environment.ts'
import type { World } from '../../world.ts'

/** A list that is longer helps nobody to find a file. */
const FILES_MAX = 50_000

/** What `@` offers: files of the folder that nobody chose to ignore. Nothing where they cannot be listed. */
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
