import { ageInWords, storedMemories } from 'palimpsest/memory'
import type { ProjectFolder } from 'palimpsest/node'

import { toPrintable } from '../agent/printable.ts'
import type { World } from '../world.ts'
import { memoriesOf } from './memory-scopes.ts'

/** What `/memory` shows: one line per memory, and how many proposals wait. */
export async function memoryRows(
  project: Pick<ProjectFolder, 'home' | 'folder'>,
  world: Pick<World, 'now' | 'newId'>,
): Promise<readonly string[]> {
  const rows = await Promise.all(
    memoriesOf(project, world).map(async ({ scope, folder }) => {
      const [files, waiting] = [await folder.read(), await folder.pending()]
      const lines = storedMemories(files)
        .filter(({ ended }) => ended === undefined)
        .map(({ name, description, verified }) =>
          toPrintable(`  ${name} (${scope}, ${ageInWords(verified, world.now())}): ${description}`),
        )
      const pending = `  ${waiting.length} proposals are waiting (${scope}): \`palimpsest memory pending\` lists them`
      return waiting.length === 0 ? lines : [...lines, pending]
    }),
  )
  const all = rows.flat()
  return all.length === 0 ? ['No memories yet. To add one, type # and a text'] : all
}
