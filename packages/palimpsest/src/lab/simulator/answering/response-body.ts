import type { ErrorBody } from '../../../wire/response.ts'
import type { StreamEvent } from '../../../wire/stream-event.ts'
import type { PreparedAnswer } from './answer.ts'
import type { Clock } from '../clock.ts'
import { errorMessageOf, errorTypeOf, type Fault } from '../faults.ts'
import { eventsOf, eventText } from './stream.ts'

// The bytes of an answer, with whatever a fault does to them.

const CHARS_PER_TOKEN = 4
const GARBAGE_JSON = '<html><body>502 Bad Gateway</body></html>'
const GARBAGE_EVENT = 'event: content_block_delta\ndata: {"type":"content_block_delta","ind\n\n'
/** Events before a stall or garbage: the start, and part of the first block. */
const EVENTS_BEFORE_FAULT = 3

export function jsonBody(prepared: PreparedAnswer, clock: Clock): ReadableStream<Uint8Array> | string {
  const text = JSON.stringify(prepared.body)
  const { fault } = prepared
  if (!fault || fault.type === 'status' || fault.type === 'prompt_too_long') return text
  if (fault.type === 'garbage') return GARBAGE_JSON
  return toByteStream(jsonChunks(text, fault, clock), fault)
}

export function eventBody(prepared: PreparedAnswer, clock: Clock): ReadableStream<Uint8Array> {
  return toByteStream(eventChunks(prepared, clock), prepared.fault)
}

async function* jsonChunks(text: string, fault: Fault, clock: Clock): AsyncGenerator<string, void> {
  if (fault.type === 'stall') await clock.sleep(fault.ms)
  if (fault.type === 'slow') await clock.sleep(fault.ms_per_token * Math.ceil(text.length / CHARS_PER_TOKEN))
  yield text
}

async function* eventChunks(prepared: PreparedAnswer, clock: Clock): AsyncGenerator<string, void> {
  const { sampled, fault } = prepared
  if (!sampled) return
  let count = 0
  for (const event of eventsOf(sampled)) {
    if (fault?.type === 'status' && count === fault.after_events) {
      yield eventText(errorEvent(errorTypeOf(fault), errorMessageOf(fault)))
      return
    }
    if (count === EVENTS_BEFORE_FAULT && fault?.type === 'stall') await clock.sleep(fault.ms)
    if (count === EVENTS_BEFORE_FAULT && fault?.type === 'garbage') {
      yield GARBAGE_EVENT
      return
    }
    if (fault?.type === 'slow') await clock.sleep(fault.ms_per_token * tokensIn(event))
    yield eventText(event)
    count++
  }
}

function errorEvent(type: string, message: string): ErrorBody {
  return { type: 'error', error: { type, message } }
}

function tokensIn(event: StreamEvent): number {
  if (event.type !== 'content_block_delta') return 0
  const { delta } = event
  const text =
    delta.type === 'text_delta'
      ? delta.text
      : delta.type === 'thinking_delta'
        ? delta.thinking
        : delta.type === 'input_json_delta'
          ? delta.partial_json
          : ''
  return Math.ceil(text.length / CHARS_PER_TOKEN)
}

/** Pulls piece by piece, so the work stops when the reader leaves. */
function toByteStream(
  chunks: AsyncGenerator<string, void>,
  fault: Fault | undefined,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let room = fault?.type === 'disconnect' ? fault.after_bytes : Infinity
  return new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      const next = await chunks.next()
      if (next.done) {
        controller.close()
        return
      }
      const bytes = encoder.encode(next.value)
      if (bytes.length <= room) {
        room -= bytes.length
        controller.enqueue(bytes)
        return
      }
      if (room > 0) controller.enqueue(bytes.subarray(0, room))
      controller.error(new TypeError('The simulator closed the connection'))
    },
    cancel: async () => {
      await chunks.return(undefined)
    },
  })
}
