import type { ModelUsage } from './model-usage.ts'

// Passes on what a model streams, and gathers it into the parts of one answer.

/** The members of a stream part that we read: its content, and the usage. */
export interface StreamedPart {
  readonly type: string
  readonly id?: string | undefined
  readonly delta?: string | undefined
  readonly usage?: ModelUsage | undefined
}

export interface Gathered {
  readonly parts: readonly object[]
  readonly usage: ModelUsage | undefined
  readonly id: string | undefined
}

/** Calls `onEnd` once: with a complete answer, or with undefined if the answer broke off. */
export function collectParts<Part extends StreamedPart>(
  stream: ReadableStream<Part>,
  onEnd: (gathered: Gathered | undefined) => Promise<void>,
): ReadableStream<Part> {
  const parts: Begun[] = []
  let usage: ModelUsage | undefined
  let id: string | undefined
  const reader = stream.getReader()
  return new ReadableStream<Part>({
    async pull(controller) {
      try {
        const next = await reader.read()
        if (next.done) {
          await onEnd(usage === undefined ? undefined : { parts: parts.map(finished), usage, id })
          return controller.close()
        }
        const part = next.value
        if (part.type === 'finish') usage = part.usage
        else if (part.type === 'response-metadata') id = part.id
        else gather(parts, part)
        controller.enqueue(part)
      } catch (error) {
        await onEnd(undefined)
        controller.error(error)
      }
    },
    async cancel(reason) {
      await onEnd(undefined)
      await reader.cancel(reason)
    },
  })
}

interface Begun {
  readonly type: string
  readonly id: string | undefined
  text: string
  /** Of a part that came in one piece. */
  readonly whole?: object
  metadata: unknown
}

const WHOLE = new Set(['tool-call', 'tool-result', 'file', 'reasoning-file', 'custom'])

function gather(parts: Begun[], part: StreamedPart): void {
  const [, kind = '', step = ''] = /^(text|reasoning)-(start|delta|end)$/.exec(part.type) ?? []
  if (WHOLE.has(part.type))
    parts.push({ type: part.type, id: undefined, text: '', whole: part, metadata: undefined })
  if (step === 'start') parts.push({ type: kind, id: part.id, text: '', metadata: metadataOf(part) })
  const open = parts.findLast(({ type, id }) => type === kind && id === part.id)
  if (!open || step === 'start' || step === '') return
  open.text += part.delta ?? ''
  open.metadata = metadataOf(part) ?? open.metadata
}

function metadataOf(part: object): unknown {
  return 'providerMetadata' in part ? part.providerMetadata : undefined
}

function finished({ type, text, whole, metadata }: Begun): object {
  return whole ?? { type, text, ...(metadata === undefined ? {} : { providerMetadata: metadata }) }
}
