import type { JsonText } from '../wire/json.ts'
import type { ModelFacts } from '../wire/model-facts.ts'
import { promptTokens, type Usage } from '../wire/usage.ts'
import { factorOf, startCalibration } from './calibrate.ts'
import { estimateText } from './estimate-text.ts'

// Whether a figure that a provider reports can be true for what was sent. Everything that decides by size starts from such figures: one
// that is twenty times too large compacts an almost empty conversation and then refuses it permanently, and one that is too small never
// compacts.

/** No vocabulary deviates further from its family's; the same as in calibration. */
const MORE_MAX = 2
/** What a provider may add invisibly: instructions for tools, reminders, a gateway's own text. */
const HIDDEN_TOKENS_MAX = 10_000
/** Share of everything except thinking, which some providers omit. Fewer tokens are impossible. */
const LEAST_SHARE = 1 / 8
/** How much larger than the estimate the true size may be. */
const WINDOW_ERROR_MAX = 1.5
/** A smaller prompt is mostly frame, and says nothing. */
const LEAST_TOKENS = 1_000
/** Tokens beyond the estimate: the largest image that any model accepts unscaled; a document of a hundred full pages. */
const IMAGE_TOKENS_MAX = 5_000
const DOCUMENT_TOKENS_MAX = 300_000

/** Characters per token of almost every text: figures in this range need no closer check. */
const CHARS_USUAL = { least: 2.5, most: 6 } as const

/** Checks what a usage says about the prompt, including each of its samplings; `facts` if the model is known. */
export function isPlausiblePrompt(usage: Usage, body: JsonText, facts: ModelFacts | undefined): boolean {
  const all = [usage, ...(usage.iterations ?? [])].map((one) => promptTokens({ ...one, iterations: null }))
  // A summary that the provider made is only in its samplings.
  const tokens = promptTokens(usage) || Math.max(...all)
  const isUsual = (one: number): boolean =>
    one * CHARS_USUAL.least <= body.length && one * CHARS_USUAL.most >= body.length
  if (!(tokens > 0)) return false
  // Images are long texts but few tokens.
  if (!body.includes('"data":"') && all.every((one) => one === 0 || isUsual(one))) return true
  const estimated = estimatePrompt(body, facts)
  if (isMore(Math.max(...all), { body, facts, estimated })) return false
  // Without its thinking a prompt is smaller; that is only computed if it can matter.
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

/** More tokens than can have been sent. */
function isMore(tokens: number, { body, facts, estimated }: Sent): boolean {
  const windowMax = Math.max(facts?.contextWindow ?? Infinity, facts?.capabilities.extendedWindow ?? 0)
  // What was sent and answered may show that the window is larger than the table says.
  if (tokens > Math.max(windowMax, WINDOW_ERROR_MAX * estimated)) return true
  const media =
    count(body, '"type":"image"') * IMAGE_TOKENS_MAX + count(body, '"type":"document"') * DOCUMENT_TOKENS_MAX
  const most = MORE_MAX * estimated + HIDDEN_TOKENS_MAX + media
  // Runs are only searched if they can matter.
  return tokens > most && tokens > most + charsInRuns(body)
}

/**
 * Runs of marks, capitals or blanks. The estimate treats them as borders and names, a few tokens however long; a vocabulary without such a
 * piece needs up to one token per character.
 */
const RUNS = /[!-/:-@[-`{-~]{4,}|[A-Z]{8,}|([^\w\s])\1{15,}| {16,}/g

function charsInRuns(body: JsonText): number {
  let chars = 0
  for (const [run] of body.replaceAll(MEDIA_DATA, '').matchAll(RUNS)) chars += run.length
  return chars
}

/**
 * Checks the output of an answer. It includes thinking that is not shown, so its text sets no bound; the requested length and the model's
 * maximum do.
 */
export function isPlausibleOutput(
  { output_tokens: tokens, iterations }: Pick<Usage, 'output_tokens' | 'iterations'>,
  { maxTokens, facts }: { readonly maxTokens: number | undefined; readonly facts: ModelFacts | undefined },
): boolean {
  const most = Math.max(maxTokens ?? 0, facts?.maxOutput ?? 0, OUTPUT_TOKENS_LEAST)
  return tokens <= most && (iterations ?? []).every((one) => one.output_tokens <= most)
}

/** The output that any model may have. */
const OUTPUT_TOKENS_LEAST = 128_000

/** Estimates a whole request from its text alone. */
export function estimatePrompt(body: JsonText, facts: ModelFacts | undefined): number {
  const factor = facts ? factorOf(startCalibration(facts.tokenizer)) : 1
  return Math.ceil(factor * estimateText(body.replaceAll(MEDIA_DATA, '')))
}

/** Images, documents and seals as letters. Their length says nothing about their tokens. */
const MEDIA_DATA = /"(?:data|signature|encrypted_content)":"[A-Za-z0-9+/=]{512,}"/g
const THINKING = /"thinking":"(?:[^"\\]|\\.)*"/g

/** One character each for a tokenizer, but two to six here. */
const ESCAPES = /\\(?:u[\dA-Fa-f]{4}|.)/g

/** Inside a JSON string every quote is escaped, so this never counts words of a message. */
function count(text: string, part: string): number {
  let found = 0
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) found++
  return found
}
