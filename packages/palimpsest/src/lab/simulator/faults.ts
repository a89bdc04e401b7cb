import { isJsonObject, type JsonObject } from '../../wire/json.ts'
import { isIntegerFrom, matchesBody, type BodyText } from './match-body.ts'
import { findOverflowFormat } from './overflow-formats.ts'

// Faults on demand: what a network, a gateway or an overloaded provider does to a request.

export type Fault =
  | StatusFault
  | { readonly type: 'prompt_too_long'; readonly format?: string | number }
  | { readonly type: 'disconnect'; readonly after_bytes: number }
  | { readonly type: 'stall'; readonly ms: number }
  | { readonly type: 'garbage' }
  | { readonly type: 'slow'; readonly ms_per_token: number }

export interface StatusFault {
  readonly type: 'status'
  readonly status: number
  readonly error_type?: string
  readonly message?: string
  /** `error.details.error_code` */
  readonly error_code?: string
  /** Seconds, sent as `retry-after`. */
  readonly retry_after?: number
  readonly headers?: { readonly [name: string]: string }
  /** The answer begins, and after this many events an `error` event ends the stream. */
  readonly after_events?: number
}

export interface FaultRule {
  readonly match?: { readonly path?: string; readonly nth?: number; readonly bodyContains?: string }
  /** How many matching requests it strikes, from the nth on. Default: 1. */
  readonly times?: number
  readonly fault: Fault
}

export interface Faults {
  rules: { readonly rule: FaultRule; seen: number; left: number }[]
}

export function createFaults(): Faults {
  return { rules: [] }
}

export function addFaults(faults: Faults, rules: readonly FaultRule[]): void {
  for (const rule of rules) faults.rules.push({ rule, seen: 0, left: rule.times ?? 1 })
}

const ANSWERED = '/v1/messages'

/** The fault for this request. Every matching rule counts the request; the first one that is due strikes. */
export function takeFault(
  faults: Faults,
  asked: { readonly path: string; readonly body: BodyText },
): Fault | undefined {
  let struck: Fault | undefined
  for (const held of faults.rules) {
    const { path, bodyContains, nth = 1 } = held.rule.match ?? {}
    // A rule without a path is for answers only: clients list models in parallel, and that would use it up.
    if (path === undefined ? !asked.path.startsWith(ANSWERED) : path !== asked.path) continue
    if (bodyContains !== undefined && !matchesBody(asked.body, bodyContains)) continue
    held.seen++
    if (struck || held.seen < nth || held.left <= 0) continue
    held.left--
    struck = held.rule.fault
  }
  faults.rules = faults.rules.filter(({ left }) => left > 0)
  return struck
}

const ERROR_TYPES: { readonly [status: number]: string } = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  409: 'conflict_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
}

export function errorTypeOf(fault: StatusFault): string {
  return fault.error_type ?? ERROR_TYPES[fault.status] ?? 'api_error'
}

export function errorMessageOf(fault: StatusFault): string {
  return fault.message ?? (fault.status === 529 ? 'Overloaded' : `Simulated fault ${fault.status}`)
}

/** Faults from outside; a string says what is wrong with them. */
export function parseFaults(value: unknown): readonly FaultRule[] | string {
  const rules: unknown = isJsonObject(value) ? value['faults'] : undefined
  if (!Array.isArray(rules)) return 'faults: expected a list'
  for (const [i, rule] of rules.entries()) {
    const wrong = wrongRule(rule)
    if (wrong !== undefined) return `faults.${i}.${wrong}`
  }
  return rules.filter(isRule)
}

function isRule(rule: unknown): rule is FaultRule {
  return wrongRule(rule) === undefined
}

function wrongRule(rule: unknown): string | undefined {
  if (!isJsonObject(rule)) return ' expected an object'
  const { match, times, fault } = rule
  if (match !== undefined && !isJsonObject(match)) return 'match: expected an object'
  if (isJsonObject(match) && match['nth'] !== undefined && !isIntegerFrom(match['nth'], 1))
    return 'match.nth: expected an integer from 1'
  if (times !== undefined && !isIntegerFrom(times, 1)) return 'times: expected an integer from 1'
  return isJsonObject(fault) ? wrongFault(fault) : 'fault: expected an object'
}

const STATUS_LEAST = 400
const STATUS_MOST = 599
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/
const HEADER_VALUE = /^[\t\u0020-\u007e\u0080-\u00ff]*$/

/** Finds what no response can carry now, not when the fault strikes. */
function wrongStatusFault({ status, headers }: JsonObject): string | undefined {
  if (!isIntegerFrom(status, STATUS_LEAST) || status > STATUS_MOST)
    return 'fault.status: expected an HTTP error status'
  if (headers === undefined) return undefined
  const areHeaders =
    isJsonObject(headers) &&
    Object.entries(headers).every(
      ([name, value]) => HEADER_NAME.test(name) && typeof value === 'string' && HEADER_VALUE.test(value),
    )
  return areHeaders ? undefined : 'fault.headers: expected names and texts of HTTP headers'
}

function wrongFault(fault: JsonObject): string | undefined {
  switch (fault['type']) {
    case 'status':
      return wrongStatusFault(fault)
    case 'prompt_too_long':
      return findOverflowFormat(fault['format'])
        ? undefined
        : 'fault.format: expected a name or number of docs/simulator.md'
    case 'disconnect':
      return isIntegerFrom(fault['after_bytes'], 0)
        ? undefined
        : 'fault.after_bytes: expected an integer from 0'
    case 'stall':
      return isIntegerFrom(fault['ms'], 0) ? undefined : 'fault.ms: expected an integer from 0'
    case 'garbage':
      return undefined
    case 'slow':
      return isIntegerFrom(fault['ms_per_token'], 0)
        ? undefined
        : 'fault.ms_per_token: expected an integer from 0'
    default:
      return 'fault.type: expected status, prompt_too_long, disconnect, stall, garbage or slow'
  }
}
