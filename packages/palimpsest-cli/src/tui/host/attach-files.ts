import { sentenceOf } from '../../report-error.ts'
import { randomUUID } from 'node:crypto'

import type { LoopTool, Permit } from 'palimpsest/loop'
import type { SeenFile } from 'palimpsest/transcript'
import { toBlocks, type Block } from 'palimpsest/wire'

// `@path` in a message: the file comes with it, read as the model would read it, with the same limits and rules.

const MENTION = /(?:^|\s)@(?:"([^"\n]+)"|([^\s@"]+))/g
/** More than anyone names by hand. */
const FILES_MAX = 20

export interface Attached {
  readonly content: string | readonly Block[]
  /** What the content shows of files. */
  readonly files: readonly SeenFile[]
  /** What could not be attached, and why. */
  readonly notices: readonly string[]
}

export async function attachFiles(
  text: string,
  { tools, permit }: { readonly tools: readonly LoopTool[]; readonly permit: Permit },
  signal: AbortSignal,
): Promise<Attached> {
  const paths = mentionedPaths(text)
  const read = tools.find(({ name }) => name === 'Read')
  if (!read || paths.length === 0) return { content: text, files: [], notices: [] }
  const blocks: Block[] = []
  const files: SeenFile[] = []
  const notices: string[] = []
  for (const path of paths.slice(0, FILES_MAX)) {
    const found = await readOne(path, read, permit, signal)
    if (typeof found === 'string') notices.push(`@${path} is not attached: ${found}`)
    else {
      blocks.push({ type: 'text', text: `The file ${path}, named by the user:` }, ...found.blocks)
      files.push(...found.files)
    }
  }
  if (paths.length > FILES_MAX) notices.push(`only the first ${FILES_MAX} files are attached`)
  return { content: blocks.length === 0 ? text : [...blocks, { type: 'text', text }], files, notices }
}

/** Paths without the punctuation that ends a sentence; quoted if a name has spaces. */
export function mentionedPaths(text: string): readonly string[] {
  const found = Array.from(
    text.matchAll(MENTION),
    ([, quoted, path = '']) => quoted ?? path.replace(/(?<![.,;:!?)\]}"'])[.,;:!?)\]}"']+$/, ''),
  )
  return [...new Set(found)].filter((path) => path !== '')
}

/** The content, or why there is none. */
async function readOne(
  path: string,
  read: LoopTool,
  permit: Permit,
  signal: AbortSignal,
): Promise<{ readonly blocks: readonly Block[]; readonly files: readonly SeenFile[] } | string> {
  const input = { file_path: path }
  const context = { toolUseId: `mention-${randomUUID()}`, signal }
  const verdict = await permit(read, input, context)
  if (!verdict.allow) return verdict.reason
  try {
    const { content, isError, files = [] } = await read.run(input, context)
    if (!isError) return { blocks: toBlocks(content), files }
    return typeof content === 'string' ? content : 'it cannot be read'
  } catch (error) {
    return sentenceOf(error)
  }
}
