import type { ErrorBody } from '../../wire/response.ts'
import { CACHING_RULES } from './rules/caching.ts'
import { COMPACTION_RULES } from './rules/compaction.ts'
import { HTTP_RULES } from './rules/http.ts'
import { MESSAGE_RULES } from './rules/messages.ts'
import { REQUEST_RULES } from './rules/request.ts'
import type { Rule } from './rules/rule.ts'
import { THINKING_RULES } from './rules/thinking.ts'
import { TOOL_RULES } from './rules/tools.ts'

/** Every rule, in the order of `docs/simulator.md`. */
export const RULES = {
  ...HTTP_RULES,
  ...REQUEST_RULES,
  ...MESSAGE_RULES,
  ...TOOL_RULES,
  ...THINKING_RULES,
  ...CACHING_RULES,
  ...COMPACTION_RULES,
}

export type RuleId = keyof typeof RULES

/** The answer to a request that broke a rule. */
export interface Refusal {
  readonly rule: RuleId
  readonly status: number
  readonly type: string
  readonly message: string
  readonly code?: string | undefined
}

export function refuse(rule: RuleId, values: { readonly [name: string]: string | number } = {}): Refusal {
  const { status, type, message, code }: Rule = RULES[rule]
  const filled = message.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole))
  return { rule, status, type, message: filled, code }
}

export function errorBody(refusal: Omit<Refusal, 'rule' | 'status'>, requestId: string): ErrorBody {
  const details = refusal.code === undefined ? {} : { details: { error_code: refusal.code } }
  return {
    type: 'error',
    error: { type: refusal.type, message: refusal.message, ...details },
    request_id: requestId,
  }
}
