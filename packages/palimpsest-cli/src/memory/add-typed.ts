import { addMemory, type MemoryOutcome } from 'palimpsest/memory'
import type { ProjectFolder } from 'palimpsest/node'

import type { World } from '../world.ts'
import { memoriesOf } from './memory-scopes.ts'
import { outcomeText } from './outcome-text.ts'

/** `# text`: one line that the user wants remembered. A heading with more text after it is a prompt. */
const TYPED = /^#[ \t]+(\S[^\n]*)$/

export function typedMemory(text: string): string | undefined {
  return TYPED.exec(text.trim())?.[1]?.trim()
}

/** Adds it to the project's memories. `told` is the text for the user. */
export async function addTyped(
  text: string,
  project: Pick<ProjectFolder, 'home' | 'folder'>,
  world: Pick<World, 'now' | 'newId'>,
  session?: string,
): Promise<{ readonly outcome: MemoryOutcome; readonly told: string }> {
  const [memory] = memoriesOf(project, world)
  if (!memory) throw new Error('unreachable: a project has memories')
  const outcome = await addMemory({ text, session }, memory)
  return { outcome, told: outcomeText(outcome) }
}
