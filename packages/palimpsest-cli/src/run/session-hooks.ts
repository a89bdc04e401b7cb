import type { BlobStore } from 'palimpsest/node'

import type { Hooks } from '../agent/hooks/create-hooks.ts'
import type { InstructionFile } from '../agent/instructions/load-instructions.ts'
import { isInside } from '../agent/paths/real-path.ts'

// Hooks at the beginning of a conversation, and after a compaction, which is a new beginning.

export type StartSource = 'startup' | 'resume' | 'fork' | 'compact'

export interface StartedHooks {
  /** What hooks add to the conversation, one text each. */
  readonly texts: readonly string[]
  readonly notices: readonly string[]
}

/** Longer texts go to disk; the conversation gets their start. */
export const HOOK_CHARS_MAX = 10_000
const PREVIEW_CHARS = 2_000

export async function runSessionStart(
  about: { readonly source: StartSource; readonly model: string },
  { hooks, blobs, newId }: { readonly hooks: Hooks; readonly blobs: BlobStore; readonly newId: () => string },
  signal: AbortSignal,
): Promise<StartedHooks> {
  const { source, model } = about
  const answers = await hooks.run({ event: 'SessionStart', value: source, input: { source, model } }, signal)
  const texts: string[] = []
  for (const { text } of answers) {
    if (text === undefined) continue
    const bounded = text.length <= HOOK_CHARS_MAX ? text : await spill(text, blobs, newId())
    texts.push(
      `<system-reminder>\nA SessionStart hook (${source}) of the user's settings adds:\n${bounded}\n</system-reminder>`,
    )
  }
  // This hook cannot stop a session: an objection becomes a notice.
  const notices = answers.flatMap(({ notice, objection }) => notice ?? objection ?? [])
  return { texts, notices }
}

async function spill(text: string, blobs: BlobStore, id: string): Promise<string> {
  // On a full disk only the rest of the text is lost.
  const blob = await blobs.save(`hook-${id}`, text).catch(() => undefined)
  if (!blob) return `${text.slice(0, HOOK_CHARS_MAX)}\n[cut: ${text.length} characters in all]`
  return `${text.slice(0, PREVIEW_CHARS)}\n[${text.length} characters in all, in ${blobs.locate(blob)}]`
}

/** Reports each loaded instruction file to the hooks. Nothing waits for an answer. */
export function tellInstructions(
  files: readonly InstructionFile[],
  reason: 'session_start' | 'compact',
  { hooks, home }: { readonly hooks: Hooks; readonly home: string },
): void {
  for (const { path, importedBy } of files) {
    const isImport = importedBy !== undefined && reason === 'session_start'
    const load_reason = isImport ? 'include' : reason
    hooks.tell({
      event: 'InstructionsLoaded',
      value: load_reason,
      input: {
        file_path: path,
        memory_type: memoryType(path, home),
        load_reason,
        parent_file_path: importedBy,
      },
    })
  }
}

function memoryType(path: string, home: string): 'User' | 'Project' | 'Local' {
  if (isInside(home, path)) return 'User'
  return /\.local\.md$/i.test(path) ? 'Local' : 'Project'
}
