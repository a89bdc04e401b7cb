import type { CacheRequest } from '../../ledger/cache.ts'
import { layPrompt } from '../../ledger/prompt.ts'
import { partsOf, promptKey, type RequestParts } from '../../ledger/request-prompt.ts'
import { isJsonObject, type JsonObject } from '../../wire/json.ts'
import type { ModelFacts } from '../../wire/model-facts.ts'
import type { MessagesRequest } from '../../wire/request.ts'
import type { AppliedEdit } from '../../wire/response.ts'
import { checkBinding, type Binding } from './context/bind.ts'
import { applyEdits } from './context/context-management.ts'
import type { Counter } from './context/count.ts'
import { effectiveRequest } from './context/effective-request.ts'
import { hasBeta, readCaller, type Caller, type HeaderRecord } from './headers.ts'
import { refuse, type Refusal } from './refusal.ts'
import { counterFor, factsFor, type State } from './state.ts'
import { shapeRequest } from './validate/request-shape.ts'
import { validateRequest } from './validate/validate.ts'

// From a call to a verdict: refused by a rule, or accepted with everything that answering needs. Changes nothing.

const REQUEST_BYTES_MAX = 32 * 1024 * 1024
const UTF8_BYTES_PER_UNIT_MAX = 3
/** JSON parsers on servers stop at about this depth; no tool input we saw comes near it. */
const NESTING_MAX = 200
const EXTENDED_WINDOW = ['context-1m-']

export interface Call {
  readonly headers: HeaderRecord
  /** The text as received, or the parsed object if the caller is in this process. */
  readonly body: string | object
  readonly counting: boolean
}

export interface Accepted {
  readonly caller: Caller
  readonly request: MessagesRequest
  /** What the model sees of it. */
  readonly effective: MessagesRequest
  readonly facts: ModelFacts
  readonly counter: Counter
  readonly cacheRequest: CacheRequest
  readonly binding: Binding
  readonly applied: readonly AppliedEdit[]
  /** Input tokens before server-side clearing. */
  readonly originalTokens: number
  readonly window: number
}

export function judge(state: State, call: Call): Accepted | Refusal {
  const { settings } = state
  const caller = readCaller(call.headers, {
    switches: settings.switches,
    keys: settings.keys,
  })
  if ('rule' in caller) return caller
  const body = readBody(call.body)
  if ('refusal' in body) return body.refusal
  const judged = {
    version: caller.version,
    betas: caller.betas,
    switches: settings.switches,
    counting: call.counting,
    cacheEdits: settings.cacheEdits,
  }
  const shaped = shapeRequest(body.object, judged)
  if ('refusal' in shaped) return shaped.refusal
  const { request } = shaped
  const facts = factsFor(state, request.model)
  if (!facts) return refuse('http.model-unknown', { model: request.model })
  const broken = validateRequest(request, { ...judged, facts })
  if (broken) return broken
  const accepted = lay(state, caller, request, facts)
  return 'rule' in accepted ? accepted : (checkWindow(accepted, call.counting) ?? accepted)
}

function readBody(body: string | object): { readonly object: JsonObject } | { readonly refusal: Refusal } {
  if (typeof body !== 'string') return objectOf(body)
  if (isTooLarge(body)) return { refusal: refuse('http.too-large') }
  let parsed: unknown
  try {
    parsed = JSON.parse(body)
  } catch (error) {
    return { refusal: refuse('http.json', { reason: error instanceof Error ? error.message : 'unreadable' }) }
  }
  if (nestsDeeper(parsed, NESTING_MAX)) return { refusal: refuse('http.json', { reason: NESTED_TOO_DEEP }) }
  return objectOf(parsed)
}

const NESTED_TOO_DEEP = 'recursion limit exceeded'

function nestsDeeper(value: unknown, most: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return most === 0 || Object.values(value).some((inner) => nestsDeeper(inner, most - 1))
}

function objectOf(value: unknown): { readonly object: JsonObject } | { readonly refusal: Refusal } {
  return isJsonObject(value) ? { object: value } : { refusal: refuse('http.body-object') }
}

/** Counts bytes only if the number of characters does not decide. */
function isTooLarge(text: string): boolean {
  if (text.length > REQUEST_BYTES_MAX) return true
  if (text.length * UTF8_BYTES_PER_UNIT_MAX <= REQUEST_BYTES_MAX) return false
  return new TextEncoder().encode(text).length > REQUEST_BYTES_MAX
}

/** Binds thinking, applies server-side edits and lays out the prompt. */
function lay(state: State, caller: Caller, request: MessagesRequest, facts: ModelFacts): Accepted | Refusal {
  const { settings, clock } = state
  const counter = counterFor(state, facts)
  const sent = partsOf(request, counter.sizeOf)
  const asEdited = settings.switches.serverEdits === 'as-edited'
  const early = asEdited ? applyEdits(request, facts, counter, sumOf(sent)) : undefined
  const bound = early?.request ?? request
  const binding = checkBinding({
    request: bound,
    parts: bound === request ? sent.parts : partsOf(bound, counter.sizeOf).parts,
    facts,
    account: caller.account,
    key: settings.key,
    switches: settings.switches,
  })
  if ('rule' in binding) return binding
  const seen = effectiveRequest(bound, binding.dropped, facts)
  const seenParts = seen === request ? sent : partsOf(seen, counter.sizeOf)
  const originalTokens = sumOf(asEdited ? sent : seenParts)
  const { request: effective, applied } = early
    ? { request: seen, applied: early.applied }
    : applyEdits(seen, facts, counter, originalTokens)
  const { parts, breakpoints } = effective === seen ? seenParts : partsOf(effective, counter.sizeOf)
  const cacheRequest = {
    at: clock.now(),
    prompt: layPrompt(promptKey(effective, caller.betas), parts),
    breakpoints,
    minimumTokens: facts.cacheMinimumTokens,
  }
  const window = windowOf(facts, caller.betas)
  return {
    caller,
    request,
    effective,
    facts,
    counter,
    cacheRequest,
    binding,
    applied,
    originalTokens,
    window,
  }
}

function sumOf({ parts }: RequestParts): number {
  return parts.reduce((sum, part) => sum + part.tokens, 0)
}

function windowOf(facts: ModelFacts, betas: readonly string[]): number {
  const extended = facts.capabilities.extendedWindow
  return extended !== undefined && hasBeta(betas, EXTENDED_WINDOW) ? extended : facts.contextWindow
}

function checkWindow(
  { request, facts, cacheRequest, window }: Accepted,
  counting: boolean,
): Refusal | undefined {
  if (counting) return undefined
  const { tokens } = cacheRequest.prompt
  const most = Math.min(window, facts.maxInput ?? window)
  if (tokens > most) return refuse('request.prompt-too-long', { tokens, most })
  const asked = request.max_tokens
  return tokens + asked > window && !facts.capabilities.overlongOutputAccepted
    ? refuse('request.input-and-output-over', { tokens, asked, most: window })
    : undefined
}
