import type { LoopTool, Permit } from 'palimpsest/loop'
import type { RestoreWish } from 'palimpsest'
import type { SeenFile } from 'palimpsest/transcript'

import { toAbsolutePath } from '../../agent/paths/absolute-path.ts'
import { isInside, realPathOf } from '../../agent/paths/real-path.ts'

// Reads files again that the conversation has read: a summary flattens their content, and they may have changed. Uses the same tool and
// permit as the model's own calls, so it cannot read more than the model could.

export interface ReadAgainSetup {
  readonly read: LoopTool
  readonly permit: Permit
  readonly cwd: string
  readonly userHome: string
  /** Folders not to read from: the home, because plans and memories come into view another way. */
  readonly leftOut: readonly string[]
  readonly newId: () => string
}

export interface AgainFile {
  readonly path: string
  readonly text: string
  /** What the tool reports as seen: whole files, or the parts it showed. */
  readonly seen: readonly SeenFile[]
}

/** With less room than this, a file's first lines say less than its path, which the summary has. */
const AGAIN_CHARS_MIN = 1_500
/** Attempts per wanted file. If that many fail, the other files are probably gone too. */
const ATTEMPTS_PER_FILE = 4

/** The most recently read files that are not in view, at most `filesMax`. Skips files that are in view, gone, forbidden, or not text. */
export async function readAgain(
  wish: RestoreWish,
  setup: ReadAgainSetup,
  shown: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<readonly AgainFile[]> {
  const real = async (path: string): Promise<string | undefined> => await realOf(path, setup)
  const seen = new Set([...(await Promise.all([...wish.visible].map(real))), ...shown])
  const files: AgainFile[] = []
  let room = wish.charsMax
  let attempts = wish.filesMax * ATTEMPTS_PER_FILE
  for (const path of wish.files) {
    if (files.length >= wish.filesMax || signal.aborted) break
    const place = await real(path)
    if (place !== undefined && seen.has(place)) continue
    if (attempts-- <= 0) break
    if (place === undefined) continue
    if (setup.leftOut.some((folder) => isInside(folder, place))) continue
    seen.add(place)
    if (room < AGAIN_CHARS_MIN) break
    const again = await readOnce(place, Math.min(room, wish.charsPerFile), setup, signal)
    if (again === undefined) continue
    files.push({ path: place, ...again })
    room -= again.text.length
  }
  return files
}

/** Undefined for anything that is not a path on this machine. */
async function realOf(
  path: string,
  { cwd, userHome }: Pick<ReadAgainSetup, 'cwd' | 'userHome'>,
): Promise<string | undefined> {
  try {
    return await realPathOf(toAbsolutePath(path, { cwd, home: userHome }))
  } catch {
    return undefined
  }
}

async function readOnce(
  path: string,
  charsMax: number,
  { read, permit, newId }: ReadAgainSetup,
  signal: AbortSignal,
): Promise<Omit<AgainFile, 'path'> | undefined> {
  const input = { file_path: path }
  const context = { toolUseId: `restore-${newId()}`, signal }
  try {
    const verdict = await permit(read, input, context)
    if (!verdict.allow) return undefined
    const { content, isError, files = [] } = await read.run(input, context)
    if (isError || typeof content !== 'string') return undefined
    const text = content.length <= charsMax ? content : cutAtLine(content, charsMax)
    return text === undefined ? undefined : { text, seen: files }
  } catch {
    // A file that cannot be read is not shown again; its path is in the summary.
    return undefined
  }
}

/** Whole lines, with a note how to read on. Undefined if not even one line fits. */
function cutAtLine(text: string, charsMax: number): string | undefined {
  const kept = text.slice(0, Math.max(0, text.lastIndexOf('\n', charsMax)))
  if (kept === '') return undefined
  const last = /(?:^|\n) *(\d+)\t[^\n]*$/.exec(kept)?.[1]
  const how = last === undefined ? '' : ` Read it with offset=${Number(last) + 1} for more.`
  return `${kept}\n[The file continues.${how}]`
}
