import { createClaudeCodeReader } from './claude-code.ts'
import { createCodexReader } from './codex.ts'
import { DETECT_LINES_MAX, detectFormat } from './detect.ts'
import type { LineReader } from './line-reader.ts'
import { createLineSplitter, LINE_CHARS_MAX } from './lines.ts'
import { createOpencodeReader } from './opencode.ts'
import { createPiReader } from './pi.ts'
import type { ReadProblem, RecordedFormat, RecordedSession } from './recorded-session.ts'

// Entry point for recorded sessions: text in chunks, split anywhere; the format is detected. It never throws because of its input.

export type TextChunks = Iterable<string> | AsyncIterable<string>

export async function readSession(chunks: TextChunks): Promise<RecordedSession> {
  const reader = createSessionReader()
  for await (const chunk of chunks) {
    reader.push(chunk)
    if (reader.isHopeless()) break
  }
  return reader.end()
}

/** The whole text at once. */
export function readSessionText(text: string): RecordedSession {
  const reader = createSessionReader()
  reader.push(text)
  return reader.end()
}

export interface SessionReader {
  readonly push: (chunk: string) => void
  /** Whether we have seen enough to know that no format will match: the rest need not be read. */
  readonly isHopeless: () => boolean
  readonly end: () => RecordedSession
}

export function createSessionReader(): SessionReader {
  const head: { text: string; number: number }[] = []
  const tooLong: number[] = []
  let reader: LineReader | undefined
  let blank = 0
  let isHopeless = false

  const splitter = createLineSplitter({
    line(text, number) {
      if (text.trim() === '') blank++
      else if (reader) reader.line(text, number)
      else if (!isHopeless) {
        head.push({ text, number })
        const format = detectFormat([text])
        if (format) reader = startReader(format, head)
        else isHopeless = head.length >= DETECT_LINES_MAX
      }
    },
    tooLong: (number) => tooLong.push(number),
  })
  return {
    push: splitter.push,
    isHopeless: () => isHopeless,
    end() {
      splitter.end()
      const session = reader ? reader.end() : unknownSession(head.length)
      return withLines(session, blank, tooLong)
    },
  }
}

function startReader(
  format: RecordedFormat,
  head: readonly { readonly text: string; readonly number: number }[],
): LineReader {
  const reader = createReader(format)
  for (const { text, number } of head) reader.line(text, number)
  return reader
}

function createReader(format: RecordedFormat): LineReader {
  switch (format) {
    case 'claude-code':
      return createClaudeCodeReader()
    case 'codex':
      return createCodexReader()
    case 'pi':
      return createPiReader()
    case 'opencode':
      return createOpencodeReader()
    default:
      return format satisfies never
  }
}

function unknownSession(lines: number): RecordedSession {
  const what =
    lines === 0
      ? 'the file is empty'
      : 'not a recorded session: none of its first lines is one of Claude Code, Codex, pi or an opencode export'
  return {
    format: 'unknown',
    sessionId: '',
    models: [],
    entries: [],
    branches: [],
    sidechains: [],
    responses: [],
    unanswered: [],
    clearings: [],
    account: { total: lines, blank: 0, used: 0, repeated: {}, ignored: {}, reported: lines },
    problems: [{ line: 0, what }],
  }
}

function withLines(session: RecordedSession, blank: number, tooLong: readonly number[]): RecordedSession {
  const { account } = session
  const what = `longer than ${LINE_CHARS_MAX} characters; left out`
  const problems: ReadProblem[] = tooLong.map((line) => ({ line, what }))
  return {
    ...session,
    account: {
      ...account,
      total: account.total + blank + tooLong.length,
      blank: account.blank + blank,
      reported: account.reported + tooLong.length,
    },
    problems: [...problems, ...session.problems],
  }
}
