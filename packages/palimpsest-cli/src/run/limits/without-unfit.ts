import { estimateText, factorOf, startCalibration, type Models } from 'palimpsest/tokens'

import type { WindowReading } from '../window-settings.ts'
import { hasRoom } from './limit-keeper.ts'

/**
 * What we know about models, without a learned limit that would not even let this conversation begin: it was learned with fewer tools, or
 * by a version that believed any limit. The provider is then asked, and refuses what is too much.
 */
export function withoutUnfit(
  models: Models,
  given: {
    readonly readingOf: (models: Models) => WindowReading
    /** What comes before the messages, in a new conversation and in the stored one. */
    readonly texts: readonly (string | undefined)[]
  },
): { readonly models: Models; readonly problems: readonly string[] } {
  const reading = given.readingOf(models)
  const { learnedLimit, facts } = reading.model
  if (learnedLimit === undefined) return { models, problems: [] }
  const factor = factorOf(startCalibration(facts.tokenizer))
  const [system, tools, ...stored] = given.texts.map((text) => estimateText(text ?? ''))
  const prefixTokens = factor * Math.max((system ?? 0) + (tools ?? 0), sum(stored))
  if (hasRoom(reading, prefixTokens)) return { models, problems: [] }
  const tokens = learnedLimit.toLocaleString('en')
  const problem = `the provider once said that ${facts.id} accepts ${tokens} tokens here, but the system prompt and tools alone take about ${Math.ceil(prefixTokens).toLocaleString('en')}, so that limit is ignored. \`palimpsest doctor --forget-limits\` forgets it`
  return { models: { ...models, learned: {} }, problems: [problem] }
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0)
}
