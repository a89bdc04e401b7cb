import { stat } from 'node:fs/promises'
import { join } from 'node:path'

import { NOTES_TEMPLATE, type NotesPolicy } from 'palimpsest/engine'
import { readPlainText } from 'palimpsest/node'

import { systemCode } from '../../agent/files/system-code.ts'

// Users may have their own template and request for notes, as files in the home. A project may not: its request would speak in the user's
// name.

const FOLDER = 'session-memory'
/** The size limit of these files: their text goes into a request. */
const OWN_BYTES_MAX = 1 << 16

export interface ReadPolicy {
  readonly policy: NotesPolicy
  readonly warnings: readonly string[]
}

export async function readNotesPolicy(home: string, scale: number): Promise<ReadPolicy> {
  const warnings: string[] = []
  const own = async (name: string, problemOf: (text: string) => string | undefined) => {
    const path = join(home, FOLDER, name)
    const text = await readOwn(path, warnings)
    if (text === undefined) return undefined
    const problem = problemOf(text)
    if (problem === undefined) return text
    warnings.push(`${path}: ${problem}. It is ignored`)
    return undefined
  }
  const template = await own('template.md', templateProblem)
  const prompt = await own('prompt.md', (text) => (text.trim() === '' ? 'it is empty' : undefined))
  return {
    policy: {
      template: template ?? NOTES_TEMPLATE,
      prompt,
      eager: false,
      scale,
    },
    warnings,
  }
}

async function readOwn(path: string, warnings: string[]): Promise<string | undefined> {
  try {
    const found = await stat(path)
    if (found.isFile() && found.size <= OWN_BYTES_MAX) return await readPlainText(path)
    warnings.push(`${path} is not a file of at most ${OWN_BYTES_MAX} bytes. It is ignored`)
    return undefined
  } catch (error) {
    if (systemCode(error) !== 'ENOENT')
      warnings.push(`${path} cannot be read (${systemCode(error) ?? String(error)}). It is ignored`)
    return undefined
  }
}

/** Notes are read and cut by their headings. */
function templateProblem(text: string): string | undefined {
  return text.trimStart().startsWith('# ') ? undefined : 'a template begins with a heading, "# Title"'
}
