import type { FileHandle } from 'node:fs/promises'
import { basename } from 'node:path'
import { StorageError } from '../../errors.ts'
import { parentOf } from '../../transcript/chain-of.ts'
import { selectChain, startLinkOf, type SelectedChain, type StartLink } from '../../transcript/chain-start.ts'
import { isLoose } from '../../transcript/lines/codec.ts'
import type { Entry, EntryId } from '../../transcript/entry.ts'
import type { Header } from '../../transcript/lines/header.ts'
import { linkSummaries } from '../../transcript/link-summaries.ts'
import { decodeBytes, decodeWholeLine, NEWLINE, openToRead, readBytes } from './file-lines.ts'
import { findEnd } from './find-end.ts'
import { linesFromEnd, type FoundLine, type LineSpan } from './lines-from-end.ts'
import { readHeader } from './read-header.ts'
import { BAD_LINES_MAX, notATranscript } from './read-transcript.ts'
import {
  badLine,
  chainWarning,
  EMPTY,
  joinedLine,
  lineNumbers,
  NO_HEADER,
  tornLine,
} from './transcript-warning.ts'
import type { TranscriptWarning } from './transcript-warning.ts'

// Loading reads backward to where the newest boundary in force begins, and to the prefix in force there. All older lines stay unread on
// disk.

export interface LoadedTranscript {
  readonly header: Header | undefined
  /** The chain of the newest leaf, oldest first. If it starts at a boundary, the prefix in force comes first. */
  readonly entries: readonly Entry[]
  /** The boundary where it begins; null: at the beginning of the conversation. */
  readonly from: EntryId | null
  /** Byte offset of each entry's line. */
  readonly offsets: ReadonlyMap<EntryId, number>
  readonly warnings: readonly TranscriptWarning[]
}

/**
 * For reading only: the file never changes. `assumed`: entries that are treated as if they were at its end, to see what an undo would show.
 */
export async function loadTranscript(
  path: string,
  assumed: readonly Entry[] = [],
): Promise<LoadedTranscript> {
  const handle = await openToRead(path)
  try {
    return await loadFrom(handle, path, assumed)
  } finally {
    await handle.close()
  }
}

export async function loadFrom(
  handle: FileHandle,
  path: string,
  assumed: readonly Entry[] = [],
): Promise<LoadedTranscript> {
  const { size } = await handle.stat()
  const found = size === 0 ? undefined : await readHeader(handle, path)
  const end = await findEnd(handle, size)
  const scan = { handle, path, lastEnd: end.lastEnd, mayBeStranger: !found }
  const { selected, problems: passedOver } = await scanBack(scan, assumed)
  requireLoadable(selected.lines, path)
  const decoded = await decodeLines(handle, selected.lines)
  const isBad = passedOver.length > 0 || end.torn !== undefined
  if (!found && isBad && selected.lines.length === 0) throw notATranscript(path)
  const problems = [...passedOver, ...decoded.problems].toSorted((a, b) => a.offset - b.offset)
  const numbers = await lineNumbers(
    handle,
    problems.map((problem) => problem.offset),
  )
  return {
    header: found?.header,
    entries: linkSummaries(decoded.entries),
    from: selected.from,
    offsets: decoded.offsets,
    warnings: [
      ...(size === 0 ? [EMPTY] : found ? [] : [NO_HEADER]),
      ...(end.torn === undefined ? [] : [tornLine(end.torn, size - end.torn)]),
      ...problems.map((problem, i) => oddLineWarning(problem, numbers[i] ?? 0)),
      // Only the heads of our own lines were examined, so a parent may be a later entry on such a line.
      ...selected.warnings
        .filter(({ kind, parent }) => kind === 'cycle' || !decoded.offsets.has(parent))
        .map(chainWarning),
    ],
  }
}

type Selection = Omit<SelectedChain, 'places'> & { readonly lines: readonly LinkedLine[] }

/** `assumed`: the entry of a line that is in no file. */
type LinkedLine = LineSpan & { readonly link: StartLink; readonly assumed?: Entry }
/** A line that could not be read, or one that is odd but readable. */
type BadSpan = { readonly offset: number } & ({ readonly reason: string } | { readonly remark: string })

/** Looking for the start costs as much as was read so far, so it happens less and less often. */
const FIRST_LOOK_BYTES = 1 << 18
const LOOK_GROWTH = 1.5

interface Scan {
  readonly selected: Selection
  readonly problems: readonly BadSpan[]
}

/** A file of another kind may be large, so it is not read back to its beginning. */
const STRANGER_BYTES = 1 << 22

interface ScanSetup {
  readonly handle: FileHandle
  readonly path: string
  readonly lastEnd: number
  readonly mayBeStranger: boolean
}

async function scanBack(
  { handle, path, lastEnd, mayBeStranger }: ScanSetup,
  assumed: readonly Entry[],
): Promise<Scan> {
  const newestFirst: LinkedLine[] = assumed
    .toReversed()
    .map((entry) => ({ offset: lastEnd, length: 0, link: startLinkOf(entry), assumed: entry }))
  const problems: BadSpan[] = []
  /** First messages that boundaries keep. */
  const heads = new Set<EntryId>()
  const touched = new Set<EntryId>()
  let seeksAnswer = false
  let nextLook = FIRST_LOOK_BYTES
  let needsAll = false
  /** True once the chain may start: at its first entry, or at a boundary. */
  let mayBegin = assumed.length > 0
  for await (const line of linesFromEnd(handle, lastEnd)) {
    if ('problem' in line || 'remark' in line) {
      problems.push(oddLine(line))
      const isStranger =
        mayBeStranger && newestFirst.length === assumed.length && problems.length >= BAD_LINES_MAX
      if (isStranger && lastEnd - line.offset > STRANGER_BYTES) break
      continue
    }
    const { boundary } = line.link
    mayBegin ||= boundary !== undefined || parentOf(line.link) === undefined
    if (boundary?.kept) heads.add(boundary.kept.head)
    for (const id of line.link.touches ?? []) touched.add(id)
    const isHead = heads.has(line.link.id)
    seeksAnswer ||= isHead
    const whole = isHead || (seeksAnswer && line.link.isAnswer) ? await withWholeLink(handle, line) : line
    newestFirst.push(whole)
    if (newestFirst.length > SCANNED_LINES_MAX) throw tooLarge(path)
    const scanned = lastEnd - line.offset
    // What a boundary keeps begins at a known offset: look once that is reached, and not earlier.
    if (boundary) nextLook = Math.max(scanned, lastEnd - (boundary.meta.keptOffset ?? line.offset))
    // Reading starts at an answer that no edit changes (see `findStart`).
    if (seeksAnswer && whole.link.speaks && !touched.has(whole.link.id)) {
      seeksAnswer = false
      nextLook = scanned
    }
    if (needsAll || scanned < nextLook) continue
    nextLook = scanned * LOOK_GROWTH
    if (!mayBegin) continue
    const selected = select(newestFirst.toReversed(), true)
    if (!selected) continue
    const prefix = await findPrefix(handle, line.offset, selected)
    if (prefix !== 'chain-broken') {
      return { selected: { ...selected, lines: [...prefix, ...selected.lines] }, problems }
    }
    needsAll = true
  }
  return { selected: select(newestFirst.toReversed(), false) ?? NOTHING, problems }
}

/** The API accepts no more in one request. Nothing beyond that is loaded, so memory is bounded. */
const LOADED_MESSAGES_MAX = 100_000
/** Bytes of lines in view; decoded messages take five times as much. Requests hold 32 MB. */
const LOADED_BYTES_MAX = 500_000_000
/** Lines examined for the chain; lines on abandoned branches count too. */
const SCANNED_LINES_MAX = 4 * LOADED_MESSAGES_MAX

function requireLoadable(lines: readonly LinkedLine[], path: string): void {
  const messages = lines.reduce((sum, { link }) => sum + (link.kind === 'message' ? 1 : 0), 0)
  const bytes = lines.reduce((sum, { length }) => sum + length, 0)
  if (messages > LOADED_MESSAGES_MAX || bytes > LOADED_BYTES_MAX) throw tooLarge(path)
}

function tooLarge(path: string): StorageError {
  const id = basename(path, '.jsonl')
  return new StorageError(
    'too-large',
    `session ${id} holds more than ${LOADED_MESSAGES_MAX} messages or ${LOADED_BYTES_MAX / 1_000_000} MB since its last compaction: no request can carry that, so it is not opened. Start a new session; \`palimpsest recall WORDS --session ${id}\` finds what this one says`,
  )
}

function oddLine(line: Exclude<FoundLine, { readonly link: StartLink }>): BadSpan {
  const { offset } = line
  return 'problem' in line ? { offset, reason: line.problem } : { offset, remark: line.remark }
}

function oddLineWarning(problem: BadSpan, line: number): TranscriptWarning {
  return 'reason' in problem
    ? badLine(problem.offset, line, problem.reason)
    : joinedLine(problem.offset, line, problem.remark)
}

/** Adds what a line's first bytes do not contain. */
async function withWholeLink(handle: FileHandle, line: LinkedLine): Promise<LinkedLine> {
  const entry = decodeBytes(await readBytes(handle, line.offset, line.offset + line.length))
  return entry.kind === 'problem' ? line : { ...line, link: startLinkOf(entry) }
}

const NOTHING: Selection = { lines: [], from: null, warnings: [] }

/** Undefined if more lines are needed. */
function select(lines: readonly LinkedLine[], partial: boolean): Selection | undefined {
  const selected = selectChain(
    lines.map((line) => line.link),
    partial,
  )
  return selected && { ...selected, lines: selected.places.flatMap((place) => lines[place] ?? []) }
}

/** Follows the chain to the prefix in force, which may be the first line of a large file, and keeps nothing on the way. */
async function findPrefix(
  handle: FileHandle,
  before: number,
  { prefixBehind }: Selection,
): Promise<readonly LinkedLine[] | 'chain-broken'> {
  if (!prefixBehind) return []
  const told = await prefixAt(handle, prefixBehind.offset, before)
  if (told) return [told]
  let wanted: EntryId | null | undefined = prefixBehind.parent
  for await (const line of linesFromEnd(handle, Math.max(0, before - 1))) {
    if (!('link' in line) || line.link.sidechain || isLoose(line.link)) continue
    if (wanted !== null && line.link.id !== wanted) continue
    if (line.link.kind === 'prefix') return [line]
    wanted = parentOf(line.link)
    if (wanted === undefined) return []
  }
  return 'chain-broken'
}

/** Undefined if no prefix begins there: the offset is only a hint. */
async function prefixAt(
  handle: FileHandle,
  offset: number | undefined,
  before: number,
): Promise<LinkedLine | undefined> {
  if (offset === undefined || offset >= before) return undefined
  for (let bytes = PREFIX_BYTES; ; bytes *= 2) {
    const start = await readBytes(handle, offset, Math.min(before, offset + bytes))
    const length = start.indexOf(NEWLINE)
    if (length === -1 && offset + bytes < before) continue
    const entry = decodeBytes(start.subarray(0, Math.max(0, length)))
    return entry.kind === 'prefix' ? { offset, length, link: startLinkOf(entry) } : undefined
  }
}

/** Enough for the system prompt and tools of most sessions. */
const PREFIX_BYTES = 1 << 17

const BLOCK_BYTES = 1 << 22

async function decodeLines(handle: FileHandle, lines: readonly LinkedLine[]) {
  const entries: Entry[] = []
  const offsets = new Map<EntryId, number>()
  const problems: BadSpan[] = []
  let block: Buffer = Buffer.alloc(0)
  let blockStart = 0
  for (const { offset, length, assumed } of lines) {
    if (assumed) {
      entries.push(assumed)
      continue
    }
    if (offset < blockStart || offset + length > blockStart + block.length) {
      block = await readBytes(handle, offset, offset + Math.max(length, BLOCK_BYTES))
      blockStart = offset
    }
    const line = decodeWholeLine(block.subarray(offset - blockStart, offset - blockStart + length))
    if (line.problem !== undefined) problems.push({ offset, reason: line.problem })
    if (line.remark !== undefined) problems.push({ offset, remark: line.remark })
    for (const { entry, start } of line.entries) {
      entries.push(entry)
      offsets.set(entry.id, offset + start)
    }
  }
  return { entries, offsets, problems }
}
