import type { JsonText } from '../wire/json.ts'
import type { ModelFacts } from '../wire/model-facts.ts'
import { promptTokens, type Usage } from '../wire/usage.ts'
import { factorOf, startCalibration } from './calibrate.ts'
import { estimateText } from './estimate-text.ts'

// Whether a figure that a provider reports can be true of what was sent. Everything that decides by size begins from such figures: one that is
// twenty times too large compacts a conversation that is almost empty and then refuses it for ever, one that is too small never compacts at all.

/** No vocabulary is further from what is known of its family, the same as calibration takes it. */
const MORE_MAX = 2
/** What a provider may add unseen: instructions for tools, reminders, a gateway's own words. */
const HIDDEN_TOKENS_MAX = 10_000
/** Of all but thinking, which some providers leave out. Fewer cannot be. */
const LEAST_SHARE = 1 / 8
/** By so much an estimate may be too small. */
const WINDOW_ERROR_MAX = 1.5
/** Below it a prompt is mostly frame, and says nothing. */
const LEAST_TOKENS = 1_000
/** Beyond what is estimated of them: the largest image that any model takes whole; a document of a hundred full pages. */
const IMAGE_TOKENS_MAX = 5_000
const DOCUMENT_TOKENS_MAX = 300_000

/** Characters per token of almost everything: what lies between needs no closer look. */
const CHARS_USUAL = { least: 2.5, most: 6 } as const

/** What a usage says of the prompt, each of its samplings included; `facts` where the model is known. */
export function isPlausiblePrompt(usage: Usage, body: JsonText, facts: ModelFacts | undefined): boolean {
  const all = [usage, ...(usage.iterations ?? [])].map((one) => promptTokens({ ...one, iterations: null }))
  // A summary that the provider made is in its samplings alone.
  const tokens = promptTokens(usage) || Math.max(...all)
  const isUsual = (one: number): boolean =>
    one * CHARS_USUAL.least <= body.length && one * CHARS_USUAL.most >= body.length
  if (!(tokens > 0)) return false
  // Pictures are long texts and few tokens.
  if (!body.includes('"data":"') && all.every((one) => one === 0 || isUsual(one))) return true
  const estimated = estimatePrompt(body, facts)
  if (isMore(Math.max(...all), { body, facts, estimated })) return false
  // Without its thinking a prompt is no larger: that is looked at only where it can matter.
  return tokens >= LEAST_SHARE * estimated || tokens >= leastTokens(body, facts)
}

function leastTokens(body: JsonText, facts: ModelFacts | undefined): number {
  const estimated = estimatePrompt(body.replaceAll(THINKING, '').replaceAll(ESCAPES, ' '), facts)
  return estimated > LEAST_TOKENS ? LEAST_SHARE * estimated : 0
}

interface Sent {
  readonly body: JsonText
  readonly facts: ModelFacts | undefined
  readonly estimated: number
}

/** Than can have been sent. */
function isMore(tokens: number, { body, facts, estimated }: Sent): boolean {
  const windowMax = Math.max(facts?.contextWindow ?? Infinity, facts?.capabilities.extendedWindow ?? 0)
  // What was sent and answered may show that the window is larger than the table says.
  if (tokens > Math.max(windowMax, WINDOW_ERROR_MAX * estimated)) return true
  const media =
    count(body, '"type":"image"') * IMAGE_TOKENS_MAX + count(body, '"type":"document"') * DOCUMENT_TOKENS_MAX
  const most = MORE_MAX * estimated + HIDDEN_TOKENS_MAX + media
  // Runs are looked for only where they can matter.
  return tokens > most && tokens > most + charsInRuns(body)
}

/**
 * Marks, capitals or blanks in a row. The estimate takes them for borders and names, a few tokens however long; a vocabulary that has no such
 * piece needs up to one token for each.
 */
const RUNS = /[!-/:-@[-`{-~]{4,}|[A-Z]{8,}|([^\w\s])\1{15,}| {16,}/g

function charsInRuns(body: JsonText): number {
  let chars = 0
  for (const [run] of body.replaceAll(MEDIA_DATA, '').matchAll(RUNS)) chars += run.length
  return chars
}

/** The answer to a request. A thought that is not shown is in it, so its text bounds nothing; what was asked for and what the model can write do. */
export function isPlausibleOutput(
  { output_tokens: tokens, iterations }: Pick<Usage, 'output_tokens' | 'iterations'>,
  { maxTokens, facts }: { readonly maxTokens: number | undefined; readonly facts: ModelFacts | undefined },
): boolean {
  const most = Math.max(maxTokens ?? 0, facts?.maxOutput ?? 0, OUTPUT_TOKENS_LEAST)
  return tokens <= most && (iterations ?? []).every((one) => one.output_tokens <= most)
}

/** What any model may write. */
const OUTPUT_TOKENS_LEAST = 128_000

/** Of a whole request, by its text alone. */
export function estimatePrompt(body: JsonText, facts: ModelFacts | undefined): number {
  const factor = facts ? factorOf(startCalibration(facts.tokenizer)) : 1
  return Math.ceil(factor * estimateText(body.replaceAll(MEDIA_DATA, '')))
}

/** Pictures, documents and seals in letters. Their size says nothing of how many tokens they are. */
const MEDIA_DATA = /"(?:data|signature|encrypted_content)":"[A-Za-z0-9+/=]{512,}"/g
const THINKING = /"thinking":"(?:[^"\\]|\\.)*"/g

/** One character each to whoever counts, and two to six here. */
const ESCAPES = /\\(?:u[\dA-Fa-f]{4}|.)/g

/** In a string of JSON no quote stands by itself, so these are never words of a message. */
function count(text: string, part: string): number {
  let found = 0
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) found++
  return found
}
