import type { ModelEvent, ModelRequest } from '../ports.ts'
import { estimatePrompt, isPlausibleOutput, isPlausiblePrompt } from '../tokens/plausible-usage.ts'
import { findModelFacts, type ModelFacts } from '../wire/model-facts.ts'
import type { DeltaUsage } from '../wire/stream-event.ts'
import { promptTokens, type Usage } from '../wire/usage.ts'

// Figures of a stream, judged as they pass. What cannot be true of the request is taken out, so that it is nowhere: no size is counted from it,
// and no bill has it. Whoever keeps the bill then estimates.

export interface UsageJudge {
  /** The event with what cannot be true taken out. */
  readonly hear: (event: ModelEvent) => ModelEvent
  /** What was reported and not believed; undefined where all was, once the answer has ended. */
  readonly doubt: () => UsageDoubt | undefined
}

export interface UsageDoubt {
  /** Which figures are missing or cannot be. */
  readonly of: 'prompt' | 'output'
  readonly reportedTokens: number
  readonly estimatedTokens: number
}

export function createUsageJudge(request: ModelRequest): UsageJudge {
  const facts = findModelFacts(request.model)
  const maxTokens = maxTokensIn(request.body)
  let begun: Usage | undefined
  /** Of the prompt, as the answer began. */
  let isPromptGood = false
  let reported = { prompt: 0, output: 0 }
  let isOutputGood = true
  return {
    hear: (event) => {
      if (event.type === 'message_start') {
        begun = event.message.usage
        reported = { ...reported, prompt: promptTokens(begun) }
        isPromptGood = isPlausiblePrompt(begun, request.body, facts)
        const usage = isPromptGood ? withOutput(begun, { maxTokens, facts }) : NOTHING
        return usage === begun ? event : { ...event, message: { ...event.message, usage } }
      }
      if (event.type !== 'message_delta' || !begun) return event
      const whole = merged(begun, event.usage)
      // The end of an answer mostly says of the prompt what its beginning said: that is not judged twice.
      const isGood = saysSame(whole, begun) ? isPromptGood : isPlausiblePrompt(whole, request.body, facts)
      reported = {
        prompt: isPromptGood ? reported.prompt : promptTokens(whole),
        output: event.usage.output_tokens,
      }
      isOutputGood = isPlausibleOutput(isGood ? whole : event.usage, { maxTokens, facts })
      const told = isGood ? withoutIterations(event.usage, isOutputGood) : onlyOutput(event.usage)
      isPromptGood ||= isGood
      // Without a prompt the whole of it is for an estimate to tell.
      const output = isOutputGood && isPromptGood ? event.usage.output_tokens : 0
      return { ...event, usage: { ...told, output_tokens: output } }
    },
    doubt: () => {
      if (isPromptGood && isOutputGood) return undefined
      const of = isPromptGood ? 'output' : 'prompt'
      return { of, reportedTokens: reported[of], estimatedTokens: estimateOf(request, facts) }
    },
  }
}

const NOTHING: Usage = { input_tokens: 0, output_tokens: 0 }

function estimateOf({ expected, body }: ModelRequest, facts: ModelFacts | undefined): number {
  return expected ? promptTokens(expected) : estimatePrompt(body, facts)
}

function withOutput(usage: Usage, asked: Parameters<typeof isPlausibleOutput>[1]): Usage {
  return isPlausibleOutput(usage, asked) ? usage : { ...usage, iterations: null, output_tokens: 0 }
}

function withoutIterations(usage: DeltaUsage, isGood: boolean): DeltaUsage {
  return isGood ? usage : { ...usage, iterations: null }
}

function saysSame(a: Usage, b: Usage): boolean {
  return !a.iterations && !b.iterations && promptTokens(a) === promptTokens(b)
}

function merged(usage: Usage, more: DeltaUsage): Usage {
  const told = Object.entries(more).filter(([, value]) => value !== null && value !== undefined)
  return { ...usage, ...Object.fromEntries(told) }
}

/** What the answer began with stays: of the prompt nothing else is believed. */
function onlyOutput({ output_tokens, output_tokens_details }: DeltaUsage): DeltaUsage {
  return { output_tokens, ...(output_tokens_details ? { output_tokens_details } : {}) }
}

const MAX_TOKENS = /^\{"model":"[^"]*","max_tokens":(\d+)/

/** Of the longest answer, as our own requests have it at their beginning. */
export function maxTokensIn(body: string): number | undefined {
  const found = MAX_TOKENS.exec(body)?.[1]
  return found === undefined ? undefined : Number(found)
}
