import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import type { ScriptBlock, ScriptStep } from '../../packages/palimpsest/src/lab/simulator/index.ts'
import type { ScriptedCall, ScriptedSession } from './scripted-session.ts'

// A scripted session for the real tools: their results are made to be what the script says by what lies in the folder.

export interface ScriptedFolder {
  readonly steps: readonly ScriptStep[]
  readonly files: ReadonlyMap<string, string>
}

export function folderFor({ turns }: ScriptedSession): ScriptedFolder {
  const files = new Map<string, string>()
  const steps = turns.flatMap(({ rounds }) =>
    rounds.map(({ thinking, text, calls }) => ({
      content: [
        ...(thinking ? [{ type: 'thinking', thinking }] : []),
        ...(text ? [{ type: 'text', text }] : []),
        ...calls.map((call) => realCall(call, files)),
      ],
    })),
  )
  return { steps, files }
}

/** Puts the folder into the state that the script begins with. */
export async function layFolder(folder: string, files: ReadonlyMap<string, string>): Promise<void> {
  await rm(folder, { recursive: true, force: true })
  await mkdir(join(folder, 'results'), { recursive: true })
  for (const [name, text] of files) await writeFile(join(folder, name), text)
}

function realCall({ tool, input, result }: ScriptedCall, files: Map<string, string>): ScriptBlock {
  const name = `results/${files.size}.txt`
  const use = (as: string, given: ScriptBlock['input']): ScriptBlock => ({
    type: 'tool_use',
    name: as,
    input: given ?? {},
  })
  switch (tool) {
    case 'Read':
      files.set(name, result)
      return use('Read', { file_path: name })
    case 'Bash':
    case 'Grep':
    case 'Glob':
      files.set(name, result)
      return use('Bash', { command: `cat ${name}`, description: input['description'] ?? 'Show it' })
    case 'Edit':
    case 'Write':
      return use('Write', { ...input, content: input['content'] ?? input['new_string'] ?? '' })
    case 'TodoWrite':
      return use('TodoWrite', {
        todos: [{ content: input['todos'] ?? '', status: 'pending', activeForm: 'Working' }],
      })
    default:
      return tool satisfies never
  }
}
