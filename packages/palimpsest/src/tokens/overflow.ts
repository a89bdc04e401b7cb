import type { ProviderFailure } from '../errors.ts'
import { isJsonObject, parseJson } from '../wire/json.ts'

// "The prompt is too long" has no code of its own at most providers, so it is recognized by its wording. One row per wording; the sizes
// that it names are used, because a limit learned here beats any table.

export interface Overflow {
  /** Which bound was hit: input alone, input plus requested output, or the bytes of the request. */
  readonly kind: 'input' | 'input-and-output' | 'request-bytes'
  /** The window in tokens, as stated by the error. */
  readonly limit?: number | undefined
  /** Tokens of the input. */
  readonly used?: number | undefined
  /** How many tokens must go for this request to fit. */
  readonly excess?: number | undefined
}

/** Reads an error text, an error body, or an error event; undefined if it is about something else. */
export function parseOverflow(error: unknown): Overflow | undefined {
  const found = gather(error)
  if (found.texts.some(isThrottling)) return undefined
  const numbers = findFieldNumbers(found) ?? findTextNumbers(found.texts)
  if (numbers !== undefined) return toOverflow(numbers)
  if (found.texts.some((text) => TOO_MANY_BYTES.test(text))) return { kind: 'request-bytes' }
  return found.texts.some((text) => BARE_WORDINGS.some((wording) => wording.test(text)))
    ? { kind: 'input' }
    : undefined
}

/** In the form of a provider error. */
export function overflowFailure({ kind, limit, used, excess }: Overflow): ProviderFailure {
  return {
    kind: 'context-overflow',
    outputDecides: kind === 'input-and-output' ? true : undefined,
    limit,
    used,
    excess,
  }
}

interface Numbers {
  readonly limit?: number
  readonly used?: number
  /** Requested output, if the error includes it. */
  readonly output?: number
  readonly excess?: number
}

const N = String.raw`(\d[\d,_]*)`

/** At one provider, `Too many tokens` means a rate limit, so these are checked first. */
const THROTTLING = [
  /^(?:throttling error|service unavailable):/i,
  /rate.?limit/i,
  /too many requests/i,
  /throttling/i,
  /tokens per (?:minute|day|hour)/i,
  /overloaded/i,
]

type Group = keyof Numbers | 'total'

/** A wording with numbers, and the meaning of each group. Earlier rows are more precise. */
const WORDINGS: readonly { readonly wording: RegExp; readonly groups: readonly Group[] }[] = [
  row(`too long: ${N} tokens > ${N} maximum`, ['used', 'limit']),
  row(`exceed context limit: ${N} \\+ ${N} > ${N}`, ['used', 'output', 'limit']),
  row(`token count \\(?${N}\\)? exceeds the maximum number of tokens allowed \\(?${N}`, ['used', 'limit']),
  row(`exceeds the maximum number of tokens allowed \\(?${N}`, ['limit']),
  row(
    `length is ${N} tokens. .* requested about ${N} tokens \\(${N} of text input, ${N} of tool input, ${N} in the output`,
    ['limit', 'total', 'used', 'used', 'output'],
  ),
  row(`length is ${N} tokens. .* requested about ${N} tokens \\(${N} of text input, ${N} in the output`, [
    'limit',
    'total',
    'used',
    'output',
  ]),
  row(
    `length is ${N} tokens. .* requested ${N} tokens \\(${N} in the messages, ${N} in the functions, ${N} in the completion`,
    ['limit', 'total', 'used', 'used', 'output'],
  ),
  row(`length is ${N} tokens. .* requested ${N} tokens \\(${N} in the messages, ${N} in the completion`, [
    'limit',
    'total',
    'used',
    'output',
  ]),
  row(
    `length is ${N} tokens. .* requested ${N} output tokens and your prompt contains at least ${N} input tokens`,
    ['limit', 'output', 'used'],
  ),
  row(`length is ${N} tokens. However, your (?:messages|prompt) resulted in ${N} tokens`, ['limit', 'used']),
  row(`is too large: ${N}. .* maximum context length is ${N} tokens and your request has ${N} input tokens`, [
    'output',
    'limit',
    'used',
  ]),
  row(`passed ${N} input tokens and requested ${N} output tokens. .* context length is only ${N}`, [
    'used',
    'output',
    'limit',
  ]),
  row(`passed ${N} input characters and requested ${N} output tokens. .* context length is only ${N}`, [
    'total',
    'output',
    'limit',
  ]),
  row(`prompt \\(length ${N}\\) is longer than the maximum model length of ${N}`, ['used', 'limit']),
  row(`request \\(${N} tokens\\) exceeds the available context size \\(${N}`, ['used', 'limit']),
  row(`keep the first ${N} tokens when .* context length of only ${N}`, ['used', 'limit']),
  row(`exceeded max context length by ${N}`, ['excess']),
  row(`maximum prompt length is ${N} but the request contains ${N}`, ['limit', 'used']),
  row(`input \\(${N} tokens\\) is longer than the model's context length \\(${N}`, ['used', 'limit']),
  row(`Prompt contains ${N} tokens .* too large for model with ${N} maximum context length`, [
    'used',
    'limit',
  ]),
  row(`prompt token count of ${N} exceeds the limit of ${N}`, ['used', 'limit']),
  row(`exceeded model token limit: ${N} \\(requested: ${N}`, ['limit', 'used']),
  row(`Input length \\(?${N}\\)? exceeds .*maximum (?:allowed input|context) length (?:of )?\\(?${N}`, [
    'used',
    'limit',
  ]),
  row(`Range of input length should be \\[\\d+, ?${N}`, ['limit']),
  row(`maximum context length (?:is|of) ${N}`, ['limit']),
]

const BARE_WORDINGS = [
  /prompt(?: is)? too long/i,
  /prompt_too_long/i,
  /input is too long for requested model/i,
  /exceeds the context window/i,
  /context window exceeds limit/i,
  /exceeds the available context size/i,
  /greater than the context length/i,
  /context_length_exceeded/i,
  /context_window_exceeded/i,
  /exceed_context_size/i,
  /ContextWindowExceeded/,
  /reduce the length of the (?:messages|prompt|input)/i,
  /too large for model with/i,
  // One provider answers an overflow with no body at all.
  /^4(?:00|13) status code \(no body\)/i,
]

const TOO_MANY_BYTES = /request_too_large|request exceeds the maximum size/i

function row(wording: string, groups: readonly Group[]) {
  return { wording: new RegExp(wording, 'is'), groups }
}

function isThrottling(text: string): boolean {
  return THROTTLING.some((wording) => wording.test(text))
}

function toOverflow({ limit, used, output, excess }: Numbers): Overflow {
  const tooMuch = limit === undefined || used === undefined ? excess : used + (output ?? 0) - limit
  const outputDecides = output !== undefined && used !== undefined && limit !== undefined && used <= limit
  return {
    kind: outputDecides ? 'input-and-output' : 'input',
    limit,
    used,
    excess: tooMuch === undefined || tooMuch <= 0 ? undefined : tooMuch,
  }
}

function findTextNumbers(texts: readonly string[]): Numbers | undefined {
  for (const { wording, groups } of WORDINGS) {
    for (const text of texts) {
      const match = wording.exec(text)
      if (match !== null) return readGroups(match.slice(1), groups)
    }
  }
  return undefined
}

/** The input may be named in several parts, which add up. */
function readGroups(values: readonly (string | undefined)[], groups: readonly Group[]): Numbers {
  const numbers: { -readonly [name in keyof Numbers]: Numbers[name] } = {}
  for (const [index, name] of groups.entries()) {
    const value = values[index]
    if (value === undefined || name === 'total') continue
    const number = Number(value.replaceAll(/[,_]/g, ''))
    if (isSound(number)) numbers[name] = (numbers[name] ?? 0) + number
  }
  return numbers
}

/** One server states both numbers in fields of their own. */
function findFieldNumbers(found: Gathered): Numbers | undefined {
  const used = found.numbers.get('n_prompt_tokens')
  const limit = found.numbers.get('n_ctx')
  return used === undefined || limit === undefined ? undefined : { used, limit }
}

function isSound(tokens: number): boolean {
  return Number.isSafeInteger(tokens) && tokens > 0
}

interface Gathered {
  readonly texts: string[]
  readonly numbers: Map<string, number>
}

/** Bodies nest a few levels, and wrappers of wrappers a few more. */
const DEPTH_MAX = 8
const TEXTS_MAX = 64

/** A sentence is shorter; a longer text is a page, and trying every word as the beginning of a wording would be slow. */
const WORDING_CHARS_MAX = 4_000

/** All texts and numbers of an error, whatever its shape: bodies are objects, arrays, or JSON inside a text inside a body. */
function gather(error: unknown): Gathered {
  const found: Gathered = { texts: [], numbers: new Map() }
  visit(error, '', 0)
  return found

  function visit(value: unknown, name: string, depth: number): void {
    if (depth > DEPTH_MAX || found.texts.length >= TEXTS_MAX) return
    if (typeof value === 'number') {
      if (isSound(value)) found.numbers.set(name, value)
    } else if (typeof value === 'string') visitText(value, depth)
    else if (Array.isArray(value)) for (const element of value) visit(element, name, depth + 1)
    else if (value instanceof Error) visitText(value.message, depth)
    else if (isJsonObject(value))
      for (const [key, member] of Object.entries(value)) visit(member, key, depth + 1)
  }

  function visitText(text: string, depth: number): void {
    found.texts.push(text.slice(0, WORDING_CHARS_MAX))
    const start = text.search(/[[{]/)
    if (start !== -1) visit(parseJson(text.slice(start)), '', depth + 1)
  }
}
