import { estimateText, factorOf, startCalibration, type Models } from 'palimpsest/tokens'

import type { WindowReading } from '../window-settings.ts'
import { hasRoom } from './limit-keeper.ts'

/**
 * What is known of models, without a limit in which this conversation could not even begin: one that was learned with fewer tools, or by a version
 * that believed any. The provider is then asked, and says itself what is too much.
 */
export function withoutUnfit(
  models: Models,
  given: {
    readonly readingOf: (models: Models) => WindowReading
    /** What stands before the messages: of a new conversation, and of the one that is stored. */
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
  const problem = `a refusal said that ${facts.id} takes ${tokens} tokens here, and the system prompt and tools alone take about ${Math.ceil(prefixTokens).toLocaleString('en')}: that limit is ignored. \`palimpsest doctor --forget-limits\` forgets it`
  return { models: { ...models, learned: {} }, problems: [problem] }
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0)
}
