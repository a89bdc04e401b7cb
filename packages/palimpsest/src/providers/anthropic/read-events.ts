// Server-sent events from a byte stream: `event:` and `data:` lines, an empty line ends one. Comments and other fields are skipped.

/** One event may hold a whole tool result; beyond this the stream is not what it says. */
const EVENT_CHARS_MAX = 64 * 1024 * 1024

export interface ServerEvent {
  readonly event: string
  readonly data: string
}

export async function* readEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder()
  let rest = ''
  let event = ''
  let data: string[] = []
  for await (const chunk of chunks) {
    rest += decoder.decode(chunk, { stream: true })
    if (rest.length > EVENT_CHARS_MAX) throw new RangeError('an event of the stream is over 64 MB')
    const lines = rest.split(/\r\n|\n|\r(?!$)/)
    rest = lines.pop() ?? ''
    for (const line of lines) {
      if (line === '') {
        if (data.length > 0) yield { event, data: data.join('\n') }
        event = ''
        data = []
      } else if (line.startsWith('event:')) event = line.slice(6).trim()
      else if (line.startsWith('data:')) data.push(line.slice(line[5] === ' ' ? 6 : 5))
    }
  }
  if (data.length > 0 && rest === '') yield { event, data: data.join('\n') }
}
