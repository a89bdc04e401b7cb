import { renderPersisted, withElse, withoutRest } from '../../transcript/persisted-output.ts'
import type { JsonText } from '../../wire/json.ts'
import type { ToolResultBlock } from '../../wire/message.ts'
import { gistOf, type Gist } from './gist.ts'
import { previewOf } from './preview.ts'

const HINT =
  '\nRead that file with offset and limit to page through it, or search it with Grep. A narrower call would return less.'
const PREVIEW = '\n\nIts beginning:\n'
const CUT = '\n…'
const GIST = {
  failure: '\n\nWhere it tells of a failure:\n',
  end: '\n\nIts end:\n',
} as const satisfies Record<Gist['what'], string>

export interface StoredText {
  readonly path: string
  readonly text: string
  readonly previewBytes: number
  /** What it came to. Absent: only its beginning is shown. */
  readonly gist?: Gist | undefined
}

/** The block that replaces a stored result permanently. */
export function storedStandIn(
  result: Pick<ToolResultBlock, 'tool_use_id' | 'is_error'>,
  stored: StoredText,
): JsonText {
  return JSON.stringify({
    type: 'tool_result',
    tool_use_id: result.tool_use_id,
    content: persistedText(stored),
    is_error: result.is_error,
  })
}

/** The same block with what the result came to and without its beginning; undefined if it shows no beginning. */
export function withoutPreview({ content, ...result }: ToolResultBlock): JsonText | undefined {
  if (typeof content !== 'string') return undefined
  const short = withElse(content, `${HINT}${PREVIEW}`, ({ before, after }) => {
    if (Object.values(GIST).some((heading) => before.includes(heading))) return ''
    const end = after.lastIndexOf(GIST.end)
    if (end >= 0) return after.slice(end)
    const preview = after.endsWith(CUT) ? after.slice(0, -CUT.length) : after
    return gistText(gistOf(result, preview))
  })
  return short === undefined ? undefined : JSON.stringify({ ...result, content: short })
}

/** The same block with only its size and path; undefined if that is all it has. */
export function withoutGist({ content, ...result }: ToolResultBlock): JsonText | undefined {
  const bare = typeof content === 'string' ? withoutRest(content) : undefined
  return bare === undefined ? undefined : JSON.stringify({ ...result, content: bare })
}

/** Disk full: as much as a preview would have shown, and the truth about the rest. */
export function truncatedStandIn(
  result: Pick<ToolResultBlock, 'tool_use_id' | 'is_error'>,
  lost: { readonly text: string; readonly previewBytes: number; readonly reason: string },
): JsonText {
  const preview = previewOf(lost.text, lost.previewBytes)
  return JSON.stringify({
    type: 'tool_result',
    tool_use_id: result.tool_use_id,
    content: [
      `This result has ${lost.text.length} characters and could not be stored (${lost.reason}). Only its beginning is shown. Ask for less, or run it again once there is room.`,
      preview,
    ].join('\n'),
    is_error: result.is_error,
  })
}

function persistedText({ path, text, previewBytes, gist }: StoredText): string {
  const preview = previewOf(text, previewBytes)
  const size = `This result has ${text.length} characters in ${lineCount(text)} lines.`
  const cut = preview.length < text.length ? CUT : ''
  const cameTo = gist === undefined || preview.includes(gist.text) ? '' : gistText(gist)
  // A failure comes first; an end comes last.
  const [first, last] = gist?.what === 'end' ? ['', cameTo] : [cameTo, '']
  return renderPersisted({ size, path, rest: `${first}${HINT}${PREVIEW}${preview}${cut}${last}` })
}

function gistText({ what, text }: Gist): string {
  return `${GIST[what]}${text}`
}

function lineCount(text: string): number {
  let count = 1
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count++
  return count
}
