import type { FileHandle } from 'node:fs/promises'
import { HEAD_BYTES, linkOfHead } from '../../transcript/chain-link.ts'
import { startLinkOf, type StartLink } from '../../transcript/chain-start.ts'
import type { Entry } from '../../transcript/entry.ts'
import {
  decodeWholeLine,
  isBlank,
  LINE_BYTES_MAX,
  LINE_TOO_LONG,
  NEWLINE,
  readBytes,
  readInto,
} from './file-lines.ts'

// Reads a file backward. Of our own lines, only the first bytes are examined, so skipping 200 MB costs little more than reading them. Lines
// of another form are decoded.

/** What is needed is usually near the end. Further away, a few large chunks are read. */
const CHUNK_BYTES_MIN = 1 << 18
const CHUNK_BYTES_MAX = 1 << 22

export interface LineSpan {
  readonly offset: number
  /** Without the line end. */
  readonly length: number
}

/** A remark is about a line whose entries are each found separately. */
export type FoundLine = LineSpan &
  ({ readonly link: StartLink } | { readonly problem: string } | { readonly remark: string })

/** Lines from the one that ends at `lastEnd` (excluding its line end) back to the first of the file. */
export async function* linesFromEnd(handle: FileHandle, lastEnd: number): AsyncGenerator<FoundLine> {
  let buffer: Buffer = Buffer.alloc(0)
  let lineEnd = lastEnd
  let size = CHUNK_BYTES_MIN
  for (let to = lastEnd; to > 0;) {
    const from = Math.max(0, to - size)
    // The head of a line that begins near the end of a chunk continues after it.
    const end = Math.min(lastEnd, to + HEAD_BYTES)
    if (buffer.length < end - from) buffer = Buffer.allocUnsafe(end - from)
    const bytes = await readInto(buffer, handle, { start: from, end })
    let limit = Math.min(lineEnd, to) - from
    for (;;) {
      const newline = limit > 0 ? bytes.lastIndexOf(NEWLINE, limit - 1) : -1
      if (newline === -1 && from > 0) break
      const start = newline + 1
      const span = { offset: from + start, length: lineEnd - from - start }
      const found = await lookAt(handle, span, bytes.subarray(start))
      if (Array.isArray(found)) yield* found
      else if (found) yield found
      if (newline === -1) return
      lineEnd = from + newline
      limit = newline
    }
    to = from
    size = Math.min(size * 2, CHUNK_BYTES_MAX)
  }
}

/** They determine where reading may begin. They are few and small. */
const WHOLE_KINDS: ReadonlySet<Entry['kind']> = new Set(['boundary', 'void', 'edit'])

/** The last entry of a line comes first. */
type Found = FoundLine | FoundLine[] | undefined

/** `bytes` start with the line and may end before it does. In the common case there is no promise, because there are many lines. */
function lookAt(handle: FileHandle, span: LineSpan, bytes: Buffer): Found | Promise<Found> {
  if (span.length > LINE_BYTES_MAX) return { ...span, problem: LINE_TOO_LONG }
  const head = bytes.subarray(0, Math.min(span.length, HEAD_BYTES))
  const link = linkOfHead(head.toString('utf8'))
  if (link && !WHOLE_KINDS.has(link.kind)) return { ...span, link }
  if (span.length <= bytes.length) return decodeWhole(span, bytes.subarray(0, span.length))
  return readBytes(handle, span.offset, span.offset + span.length).then((whole) => decodeWhole(span, whole))
}

function decodeWhole(span: LineSpan, whole: Buffer): Found {
  if (isBlank(whole)) return undefined
  const { entries, problem, remark } = decodeWholeLine(whole)
  if (problem !== undefined) return { ...span, problem }
  const found = entries.toReversed().map(({ entry, start, length }): FoundLine => ({
    offset: span.offset + start,
    length,
    link: startLinkOf(entry),
  }))
  return remark === undefined ? found : [...found, { ...span, remark }]
}
