import { stat } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'

import { checkMemories, pollutionOf, type CheckFacts } from 'palimpsest/memory'
import { isSessionId, transcriptPath, type ProjectFolder } from 'palimpsest/node'

import { toPrintable, toPrintableJson } from '../agent/printable.ts'
import { DONE, FAILED, type ExitCode } from '../world.ts'
import type { MemoryCall } from './memory-call.ts'

export async function runCheck({ opened, isJson, world }: MemoryCall): Promise<ExitCode> {
  const { project, memories } = opened
  const checked = await Promise.all(
    memories.map(async ({ scope, folder }) => {
      const files = await folder.read()
      // The user's memories are about all projects: paths and sessions of this one say nothing about them.
      const found = await checkMemories(files, scope === 'project' ? factsOf(project) : NO_FACTS)
      const uses = await folder.uses()
      const pollution = pollutionOf(files, await folder.history(), { uses, problems: found })
      return { problems: found.map((one) => ({ ...one, scope })), ...pollution }
    }),
  )
  const problems = checked.flatMap((one) => one.problems)
  const sumOf = (of: (one: (typeof checked)[number]) => number): number =>
    checked.reduce((sum, one) => sum + of(one), 0)
  const [written, wrong] = [sumOf((one) => one.written), sumOf((one) => one.wrong)]
  const [loaded, loadedWrong] = [sumOf((one) => one.loaded), sumOf((one) => one.loadedWrong)]
  const pollution = { written, wrong, loaded, loaded_wrong: loadedWrong }
  if (isJson) world.print(`${toPrintableJson({ problems, pollution })}\n`)
  else {
    for (const { scope, file, line, kind, text } of problems) {
      const at = line === undefined ? file : `${file}:${line}`
      world.print(`${toPrintable(`${scope} ${at}: ${text} (${kind})`)}\n`)
    }
    const share = `${wrong} of ${written} memories were later undone, ended or removed; of the ${loaded} that conversations were shown, ${loadedWrong} did not last`
    world.printError(`${problems.length === 0 ? 'No problems. ' : ''}${share}\n`)
  }
  return problems.length === 0 ? DONE : FAILED
}

const NO_FACTS: CheckFacts = {
  missingPaths: async () => new Set(),
  goneSessions: async () => new Set(),
}

function factsOf(project: ProjectFolder): CheckFacts {
  return {
    missingPaths: async (paths) =>
      await missingOf(paths, (path) => (isAbsolute(path) ? path : join(project.project, path))),
    goneSessions: async (ids) =>
      await missingOf(ids.filter(isSessionId), (id) => transcriptPath(project, id)),
  }
}

async function missingOf(
  names: readonly string[],
  pathOf: (name: string) => string,
): Promise<ReadonlySet<string>> {
  const found = await Promise.all(
    names.map(async (name) => ({
      name,
      isThere: await stat(pathOf(name)).then(
        () => true,
        () => false,
      ),
    })),
  )
  return new Set(found.filter(({ isThere }) => !isThere).map(({ name }) => name))
}
