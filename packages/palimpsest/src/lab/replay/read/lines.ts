// Cuts text that arrives in chunks into lines. Chunks may end anywhere; a line over the limit is reported and skipped, never held.

/** A line contains one message (a request is at most 32 MB) and often a copy of it for a screen. */
export const LINE_CHARS_MAX = 64 * 1024 * 1024

export interface LineSink {
  readonly line: (text: string, number: number) => void
  readonly tooLong: (number: number) => void
}

export interface LineSplitter {
  readonly push: (chunk: string) => void
  readonly end: () => void
}

export function createLineSplitter(sink: LineSink, charsMax = LINE_CHARS_MAX): LineSplitter {
  let pieces: string[] = []
  let held = 0
  let skipping = false
  let number = 0

  const hold = (piece: string): void => {
    if (piece === '' || skipping) return
    pieces.push(piece)
    held += piece.length
    if (held <= charsMax) return
    pieces = []
    skipping = true
  }
  const emit = (): void => {
    number++
    if (skipping) sink.tooLong(number)
    else sink.line(clean(pieces.length === 1 ? (pieces[0] ?? '') : pieces.join(''), number), number)
    pieces = []
    held = 0
    skipping = false
  }
  return {
    push(chunk) {
      let from = 0
      for (let to = chunk.indexOf('\n'); to !== -1; to = chunk.indexOf('\n', from)) {
        hold(chunk.slice(from, to))
        emit()
        from = to + 1
      }
      hold(chunk.slice(from))
    },
    end() {
      if (held > 0 || skipping) emit()
    },
  }
}

function clean(line: string, number: number): string {
  const text = number === 1 && line.startsWith('\uFEFF') ? line.slice(1) : line
  return text.endsWith('\r') ? text.slice(0, -1) : text
}
