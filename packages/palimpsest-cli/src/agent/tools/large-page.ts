import type { FileHandle } from 'node:fs/promises'

import { lineCharsMax, takeLines, toLine, type Line, type Page, type PageRequest } from './page.ts'

// A page of a file that is too large for memory: reads from the start, line by line, and keeps only the page.

const CHUNK_BYTES = 256 * 1024
const LINE_END = 10
/** The byte order mark does not belong to the first line. */
const MARK = '\uFEFF'
/** Longest UTF-8 character, so that a cut line still has all characters that a page may show of it. */
const CHAR_BYTES_MAX = 4

export async function readLargePage(
  handle: FileHandle,
  request: PageRequest,
  signal: AbortSignal,
): Promise<Page> {
  const charsMax = lineCharsMax(request)
  const lines: Line[] = []
  const skipped = { lines: 0 }
  for await (const line of rawLines(
    handle,
    { skip: request.offset - 1, bytesMax: charsMax * CHAR_BYTES_MAX, skipped },
    signal,
  )) {
    if (lines.length === request.limit) return { shown: takeLines(lines), hasMore: true }
    const text = line.bytes.toString('utf8')
    const isFirst = request.offset === 1 && lines.length === 0
    const whole = toLine(isFirst && text.startsWith(MARK) ? text.slice(1) : text, charsMax)
    lines.push({ text: whole.text, cut: whole.cut + line.cut })
    const shown = takeLines(lines)
    if (shown.length < lines.length) return { shown, hasMore: true }
  }
  return { shown: lines, totalLines: skipped.lines + lines.length, hasMore: false }
}

interface RawLine {
  readonly bytes: Buffer
  /** Bytes that were not kept. */
  readonly cut: number
}

interface RawRequest {
  readonly skip: number
  /** Bytes to keep of each line. */
  readonly bytesMax: number
  /** Counts the lines before the first one returned. */
  readonly skipped: { lines: number }
}

async function* rawLines(
  handle: FileHandle,
  { skip, bytesMax, skipped }: RawRequest,
  signal: AbortSignal,
): AsyncGenerator<RawLine> {
  let hasRest = false
  const chunk = Buffer.alloc(CHUNK_BYTES)
  let kept: Buffer[] = []
  let length = 0
  let cut = 0
  const add = (bytes: Buffer): void => {
    const room = bytesMax - length
    if (room > 0) kept.push(Buffer.from(bytes.subarray(0, room)))
    cut += Math.max(0, bytes.length - room)
    length += Math.min(bytes.length, Math.max(0, room))
  }
  const take = (): RawLine => {
    const line = { bytes: Buffer.concat(kept), cut }
    kept = []
    length = 0
    cut = 0
    return line
  }
  for (;;) {
    signal.throwIfAborted()
    const { bytesRead } = await handle.read(chunk, 0, CHUNK_BYTES, null)
    if (bytesRead === 0) break
    const bytes = chunk.subarray(0, bytesRead)
    let from = 0
    while (skipped.lines < skip) {
      const end = bytes.indexOf(LINE_END, from)
      if (end === -1) break
      skipped.lines++
      from = end + 1
    }
    hasRest = skipped.lines < skip && from < bytes.length
    if (skipped.lines < skip) continue
    for (let at = bytes.indexOf(LINE_END, from); at !== -1; at = bytes.indexOf(LINE_END, from)) {
      add(bytes.subarray(from, at))
      yield take()
      from = at + 1
    }
    add(bytes.subarray(from))
  }
  if (length > 0) yield take()
  // A last line without a line end is a line too.
  if (hasRest) skipped.lines++
}
