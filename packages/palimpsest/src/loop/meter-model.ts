import type { EntryBody } from '../engine/session.ts'
import type { ModelEvent, ModelRequest, StreamModel } from '../ports.ts'
import { factorOf, startCalibration } from '../tokens/calibrate.ts'
import { estimateText } from '../tokens/estimate.ts'
import type { SpentEntry } from '../transcript/entry.ts'
import { findModelFacts } from '../wire/model-facts.ts'
import type { Delta } from '../wire/stream-event.ts'
import { promptTokens, type Usage } from '../wire/usage.ts'

// A request that was answered in part costs what its prompt costs, and what was written of the answer. Whoever asked may have gone
// away, may ask again, may throw the answer away: what it cost is noted here, where every request passes.

export interface MeteredModel {
  readonly streamModel: StreamModel
  /** What was spent on answers that nobody took whole, to be appended now. */
  readonly take: () => readonly EntryBody<SpentEntry>[]
}

export function meterModel(streamModel: StreamModel): MeteredModel {
  let spent: readonly EntryBody<SpentEntry>[] = []
  return {
    streamModel: async function* metered(request, signal) {
      const written = startWritten()
      let isTaken = false
      try {
        for await (const event of streamModel(request, signal)) {
          written.take(event)
          yield event
          // Who finds fault with the whole answer does not come back for more.
          isTaken ||= event.type === 'message_stop'
        }
      } finally {
        const bill = isTaken ? undefined : written.bill(request, signal.aborted)
        if (bill) spent = [...spent, { kind: 'spent', source: request.source, model: request.model, ...bill }]
      }
    },
    take: () => {
      const taken = spent
      spent = []
      return taken
    },
  }
}

type Bill = Pick<SpentEntry, 'usage' | 'estimated'>

interface Written {
  readonly take: (event: ModelEvent) => void
  /** What it comes to by now; undefined where nothing was begun. */
  readonly bill: (request: ModelRequest, isAborted: boolean) => Bill | undefined
}

function startWritten(): Written {
  const texts: string[] = []
  let usage: Usage | undefined
  let isTold = false
  return {
    take: (event) => {
      if (event.type === 'message_start') usage = event.message.usage
      else if (event.type === 'content_block_delta') texts.push(textIn(event.delta))
      else if (event.type === 'message_delta' && usage) {
        const told = Object.entries(event.usage).filter(([, value]) => value !== null && value !== undefined)
        usage = { ...usage, ...Object.fromEntries(told) }
        isTold = true
      }
    },
    bill: ({ model, expected }, isAborted) => {
      if (usage && isTold) return { usage }
      // A request that failed before its answer began costs nothing; one that we called off was under way.
      if (!usage && !isAborted) return undefined
      const prompt = usage && promptTokens(usage) > 0 ? usage : expected
      if (!prompt) return undefined
      const output = Math.max(usage?.output_tokens ?? 0, writtenTokens(texts.join(''), model))
      return { usage: { ...prompt, output_tokens: output }, estimated: true }
    },
  }
}

/** What a piece of an answer comes to, as far as the model is known by its name. */
export function writtenTokens(text: string, model: string): number {
  const tokenizer = findModelFacts(model)?.tokenizer
  const factor = tokenizer === undefined ? 1 : factorOf(startCalibration(tokenizer))
  return Math.ceil(factor * estimateText(text))
}

function textIn(delta: Delta): string {
  switch (delta.type) {
    case 'text_delta':
      return delta.text
    case 'thinking_delta':
      return delta.thinking
    case 'input_json_delta':
      return delta.partial_json
    case 'compaction_delta':
      return delta.content ?? ''
    default:
      return ''
  }
}
