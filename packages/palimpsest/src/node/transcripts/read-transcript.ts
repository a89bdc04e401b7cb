import { StorageError } from '../../errors.ts'
import type { Entry } from '../../transcript/entry.ts'
import type { Header } from '../../transcript/lines/header.ts'
import { decodeWholeLine, isBlank, openToRead, readLines, type RawLine } from './file-lines.ts'
import { readHeader } from './read-header.ts'
import {
  badLine,
  EMPTY,
  joinedLine,
  NO_HEADER,
  tornLine,
  type TranscriptWarning,
} from './transcript-warning.ts'

export type TranscriptItem =
  | { readonly kind: 'header'; readonly header: Header }
  | { readonly kind: 'entry'; readonly entry: Entry; readonly offset: number; readonly line: number }
  | { readonly kind: 'warning'; readonly warning: TranscriptWarning }

/** This many bad lines and no good one: a file of another kind. */
export const BAD_LINES_MAX = 100

/** Reads a whole file in its order, line by line, whatever its size. The file never changes. */
export async function* readTranscript(path: string): AsyncGenerator<TranscriptItem> {
  const handle = await openToRead(path)
  try {
    const { size } = await handle.stat()
    const header = size === 0 ? undefined : await readHeader(handle, path)
    if (header) yield { kind: 'header', header: header.header }
    else yield { kind: 'warning', warning: size === 0 ? EMPTY : NO_HEADER }
    let line = 0
    let good = header ? 1 : 0
    let bad = 0
    for await (const raw of readLines(handle, size)) {
      line++
      if ((line === 1 && header) || isBlank(raw.bytes)) continue
      const items = toItems(raw, line)
      if (items.some(({ kind }) => kind === 'entry')) good++
      else bad++
      if (good === 0 && bad >= BAD_LINES_MAX) break
      yield* items
    }
    if (good === 0 && bad > 0) throw notATranscript(path)
  } finally {
    await handle.close()
  }
}

export function notATranscript(path: string): StorageError {
  const text = `${path} is not a transcript: none of its lines is JSON of the expected form. Name another file`
  return new StorageError('not-a-transcript', text)
}

function toItems(raw: RawLine, line: number): readonly TranscriptItem[] {
  const { offset } = raw
  const { entries, problem, remark } = decodeWholeLine(raw.bytes)
  if (problem !== undefined) {
    const warning = raw.ended ? badLine(offset, line, problem) : tornLine(offset, raw.length)
    return [{ kind: 'warning', warning }]
  }
  return [
    ...(remark === undefined
      ? []
      : [{ kind: 'warning' as const, warning: joinedLine(offset, line, remark) }]),
    ...entries.map(({ entry, start }) => ({ kind: 'entry' as const, entry, offset: offset + start, line })),
  ]
}
