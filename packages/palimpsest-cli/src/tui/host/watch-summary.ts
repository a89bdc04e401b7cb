import type { ModelEvent, Ports } from 'palimpsest'

/** The same ports; while a summary is written, how many characters of it there are is told. */
export function watchSummary(ports: Ports, told: (chars: number) => void): Ports {
  return {
    ...ports,
    streamModel: (request, signal) => {
      const events = ports.streamModel(request, signal)
      return request.source === 'compact' ? counting(events, told) : events
    },
  }
}

async function* counting(
  events: AsyncIterable<ModelEvent>,
  told: (chars: number) => void,
): AsyncGenerator<ModelEvent> {
  let chars = 0
  for await (const event of events) {
    if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') {
      chars += event.delta.text.length
      told(chars)
    }
    yield event
  }
}
