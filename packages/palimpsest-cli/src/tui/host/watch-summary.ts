import type { ModelEvent, Ports } from 'palimpsest'
import type { Delta } from 'palimpsest/wire'

/** The same ports; while a summary is being written, `told` gets the number of characters so far. */
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
    const added = event.type === 'content_block_delta' ? writtenChars(event.delta) : 0
    chars += added
    if (added > 0) told(chars)
    yield event
  }
}

function writtenChars(delta: Delta): number {
  if (delta.type === 'text_delta') return delta.text.length
  return delta.type === 'compaction_delta' ? (delta.content?.length ?? 0) : 0
}
