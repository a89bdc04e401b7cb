import { ProviderError } from '../../errors.ts'
import { parseStreamEvent } from '../../wire/parse.ts'
import { problemText } from '../../wire/shape.ts'
import { soundEvent } from '../../wire/sound-event.ts'
import type { StreamEvent } from '../../wire/stream-event.ts'

// Server-sent events from a byte stream: `event:` and `data:` lines; an empty line ends an event. Comments and other fields are skipped.
// The length of lines is bounded below this. Each piece is examined once, however many make up a line.

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
    // The two characters of one line end may arrive separately.
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

/** Undefined for an unknown kind of event. */
export function toStreamEvent({ data }: ServerEvent): StreamEvent | undefined {
  const parsed = parseStreamEvent(soundEvent(parseJson(data)))
  if (!parsed.ok)
    throw new ProviderError(
      { kind: 'bad-output' },
      `The provider sent an event that the Messages API does not have: ${problemText(parsed.problem)}. Check the base URL.`,
    )
  return parsed.value.type === 'other' ? undefined : parsed.value
}

function parseJson(data: string): unknown {
  try {
    return JSON.parse(data)
  } catch (cause) {
    throw new ProviderError(
      { kind: 'bad-output' },
      'The provider sent an event that is not JSON. Check the base URL.',
      { cause },
    )
  }
}
