import type { EntryBody } from '../situation/session.ts'
import type { ModelEvent, ModelRequest, StreamModel } from '../ports.ts'
import { factorOf, startCalibration } from '../tokens/calibrate.ts'
import { estimateText } from '../tokens/estimate.ts'
import { estimatePrompt } from '../tokens/plausible-usage.ts'
import type { SpentEntry } from '../transcript/entry.ts'
import { findModelFacts } from '../wire/model-facts.ts'
import type { Delta } from '../wire/stream-event.ts'
import { promptTokens, type Usage } from '../wire/usage.ts'
import { createUsageJudge, type UsageDoubt } from './judge-usage.ts'

// A request that was answered in part costs its prompt, and what was written of the answer. The caller may have gone away, may ask again,
// may discard the answer: the cost is recorded here, where every request passes. So is the cost of an answer whose own figures cannot be
// true.

export interface MeteredModel {
  readonly streamModel: StreamModel
  /** What was spent on answers that nobody took whole, or whose reported cost cannot be true, to be appended now. */
  readonly take: () => readonly EntryBody<SpentEntry>[]
  /** Sentences for the user about figures that we do not believe. Each is returned once. */
  readonly notices: () => readonly string[]
}

export function meterModel(streamModel: StreamModel): MeteredModel {
  let spent: readonly EntryBody<SpentEntry>[] = []
  let notices: readonly string[] = []
  let isDoubted = false
  const note = (request: ModelRequest, bill: Bill | undefined): void => {
    if (bill) spent = [...spent, { kind: 'spent', source: request.source, model: request.model, ...bill }]
  }
  return {
    streamModel: async function* metered(request, signal) {
      const written = startWritten()
      const judge = createUsageJudge(request)
      let isTaken = false
      try {
        for await (const told of streamModel(request, signal)) {
          const event = judge.hear(told)
          written.take(event)
          yield event
          // A caller that rejects the whole answer does not come back for more.
          isTaken ||= event.type === 'message_stop'
        }
      } finally {
        const doubt = isTaken ? judge.doubt() : undefined
        note(
          request,
          isTaken ? doubt && written.estimate(request, doubt.of) : written.bill(request, signal.aborted),
        )
        // A server that reports nothing is not doubted, and a doubt is reported only once.
        if (doubt && doubt.reportedTokens > 0 && !isDoubted) notices = [...notices, doubtText(doubt)]
        isDoubted ||= (doubt?.reportedTokens ?? 0) > 0
      }
    },
    take: () => {
      const taken = spent
      spent = []
      return taken
    },
    notices: () => {
      const told = notices
      notices = []
      return told
    },
  }
}

function doubtText({ of, reportedTokens, estimatedTokens }: UsageDoubt): string {
  const reported = reportedTokens.toLocaleString('en')
  const counts = 'Palimpsest counts its own estimate instead.'
  if (of === 'output')
    return `The provider reports an answer of ${reported} tokens, which cannot be right. ${counts}`
  return `The provider reports ${reported} tokens for a prompt of about ${estimatedTokens.toLocaleString('en')}, which cannot be right. ${counts}`
}

type Bill = Pick<SpentEntry, 'usage' | 'estimated'>

interface Written {
  readonly take: (event: ModelEvent) => void
  /** What it costs so far; undefined if nothing was begun. */
  readonly bill: (request: ModelRequest, isAborted: boolean) => Bill | undefined
  /** Estimates the whole answer, or its words alone if the prompt was reported. */
  readonly estimate: (request: ModelRequest, of: UsageDoubt['of']) => Bill
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
      // A request that failed before its answer began costs nothing; one that we aborted was under way.
      if (!usage && !isAborted) return undefined
      const prompt = usage && promptTokens(usage) > 0 ? usage : expected
      if (!prompt) return undefined
      const output = Math.max(usage?.output_tokens ?? 0, writtenTokens(texts.join(''), model))
      return { usage: { ...prompt, output_tokens: output }, estimated: true }
    },
    estimate: ({ model, body, expected }, of) => {
      const output = writtenTokens(texts.join(''), model)
      const whole = expected ?? {
        input_tokens: estimatePrompt(body, findModelFacts(model)),
        output_tokens: 0,
      }
      const prompt = of === 'prompt' ? whole : { input_tokens: 0, output_tokens: 0 }
      return { usage: { ...prompt, output_tokens: output }, estimated: true }
    },
  }
}

/** Tokens of a piece of an answer, as far as the model is known by its name. */
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
