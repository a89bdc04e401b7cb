import type { ModelEvent, ModelRequest } from '../ports.ts'
import { estimatePrompt, isPlausibleOutput, isPlausiblePrompt } from '../tokens/plausible-usage.ts'
import { findModelFacts, type ModelFacts } from '../wire/model-facts.ts'
import type { DeltaUsage } from '../wire/stream-event.ts'
import { promptTokens, type Usage } from '../wire/usage.ts'

// Judges the figures of a stream as they pass. What cannot be true of the request is removed, so that no size is counted from it and no
// bill has it. The bill then uses an estimate.

export interface UsageJudge {
  /** The event without what cannot be true. */
  readonly hear: (event: ModelEvent) => ModelEvent
  /** What was reported and not believed, once the answer has ended; undefined if everything was believed. */
  readonly doubt: () => UsageDoubt | undefined
}

export interface UsageDoubt {
  /** Which figures are missing or impossible. */
  readonly of: 'prompt' | 'output'
  readonly reportedTokens: number
  readonly estimatedTokens: number
}

export function createUsageJudge(request: ModelRequest): UsageJudge {
  const facts = findModelFacts(request.model)
  const maxTokens = maxTokensIn(request.body)
  let begun: Usage | undefined
  /** Whether the figures for the prompt are plausible. */
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
      // The end of an answer usually repeats what its beginning said about the prompt: that is not judged twice.
      const isGood = saysSame(whole, begun) ? isPromptGood : isPlausiblePrompt(whole, request.body, facts)
      reported = {
        prompt: isPromptGood ? reported.prompt : promptTokens(whole),
        output: event.usage.output_tokens,
      }
      isOutputGood = isPlausibleOutput(isGood ? whole : event.usage, { maxTokens, facts })
      const told = isGood ? withoutIterations(event.usage, isOutputGood) : onlyOutput(event.usage)
      isPromptGood ||= isGood
      // Without figures for the prompt, an estimate covers everything.
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

/** What the answer began with stays: no other figures for the prompt are believed. */
function onlyOutput({ output_tokens, output_tokens_details }: DeltaUsage): DeltaUsage {
  return { output_tokens, ...(output_tokens_details ? { output_tokens_details } : {}) }
}

const MAX_TOKENS = /^\{"model":"[^"]*","max_tokens":(\d+)/

/** Of the longest answer; our own requests have it at the beginning of the body. */
export function maxTokensIn(body: string): number | undefined {
  const found = MAX_TOKENS.exec(body)?.[1]
  return found === undefined ? undefined : Number(found)
}
