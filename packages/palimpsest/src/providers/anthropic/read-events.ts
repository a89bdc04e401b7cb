// Server-sent events from a byte stream: `event:` and `data:` lines, an empty line ends one. Comments and other fields are skipped. How long a
// line may be is bounded below. Each piece is looked at once, however many a line is made of.

export interface ServerEvent {
  readonly event: string
  readonly data: string
}

const LINE_END = /\r\n|\n|\r/g

export async function* readEvents(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder()
  /** Pieces of the line that has not ended yet. */
  let pieces: string[] = []
  let endedInReturn = false
  let event = ''
  let data: string[] = []
  for await (const chunk of chunks) {
    const decoded = decoder.decode(chunk, { stream: true })
    if (decoded === '') continue
    // The two characters of one line end may come apart.
    const text = endedInReturn && decoded.startsWith('\n') ? decoded.slice(1) : decoded
    endedInReturn = decoded.endsWith('\r')
    let from = 0
    for (const { 0: end, index } of text.matchAll(LINE_END)) {
      const line = pieces.join('') + text.slice(from, index)
      pieces = []
      from = index + end.length
      if (line.startsWith('data:')) data.push(line.slice(line[5] === ' ' ? 6 : 5))
      else if (line.startsWith('event:')) event = line.slice(6).trim()
      else if (line === '') {
        if (data.length > 0) yield { event, data: data.join('\n') }
        event = ''
        data = []
      }
    }
    if (from < text.length) pieces.push(text.slice(from))
  }
  if (data.length > 0 && pieces.length === 0) yield { event, data: data.join('\n') }
}
