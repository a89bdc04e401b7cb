import { describe, expect, test } from 'vitest'
import { GATE_CASES } from '../../../../../test/kit/refusals/gate-cases.ts'
import { HTTP_CASES } from '../../../../../test/kit/refusals/http-cases.ts'
import { ACCEPTED_MESSAGES, MESSAGE_CASES } from '../../../../../test/kit/refusals/message-cases.ts'
import { BASE, HEADERS, type RefusalCase } from '../../../../../test/kit/refusals/refusal-case.ts'
import { REQUEST_CASES } from '../../../../../test/kit/refusals/request-cases.ts'
import {
  CACHING_CASES,
  EDIT_CASES,
  THINKING_CASES,
  TOOL_CASES,
} from '../../../../../test/kit/refusals/setting-cases.ts'
import { createSimulator, type SimulatorOptions } from './create-simulator.ts'
import { RULES } from './refusal.ts'
import type { RuleSet } from './rules/rule.ts'

const CASES: readonly RefusalCase[] = [
  ...HTTP_CASES,
  ...REQUEST_CASES,
  ...GATE_CASES,
  ...MESSAGE_CASES,
  ...TOOL_CASES,
  ...THINKING_CASES,
  ...CACHING_CASES,
  ...EDIT_CASES,
]

/** Rules that need more than one request, or no request at all; each has a test of its own. */
const ELSEWHERE: readonly (keyof typeof RULES)[] = [
  'http.route',
  'http.method',
  'request.prompt-too-long',
  'thinking.modified',
  'thinking.other-conversation',
  'thinking.other-account',
  'compaction.content',
  'compaction.tool-changes',
]

async function send(refusal: RefusalCase, switches: SimulatorOptions['switches']): Promise<Response> {
  const { options = {}, headers, body, text } = refusal
  const simulator = createSimulator({ clock: 'virtual', ...options, ...(switches ? { switches } : {}) })
  const sent = Object.entries({ ...HEADERS, ...headers }).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as [string, string]],
  )
  const path = refusal.counting ? '/v1/messages/count_tokens' : '/v1/messages'
  return simulator.fetch(
    new Request(`http://simulator${path}`, {
      method: 'POST',
      headers: sent,
      body: text ?? JSON.stringify({ ...BASE, ...body }),
    }),
  )
}

describe('refusals', () => {
  test.each(CASES.map((refusal) => [refusal.rule, refusal.message.slice(0, 90), refusal] as const))(
    '%s: %s',
    async (rule, _start, refusal) => {
      const { status = 400, type = 'invalid_request_error', message, code } = refusal
      const response = await send(refusal, refusal.options?.switches)
      expect(await response.json()).toEqual({
        type: 'error',
        error: { type, message, ...(code === undefined ? {} : { details: { error_code: code } }) },
        request_id: expect.stringMatching(/^req_/),
      })
      expect(response.status).toBe(status)
      expect(RULES[rule]).toMatchObject({ status, type })
    },
  )

  const switched = CASES.filter(({ acceptedUnder }) => acceptedUnder)
  test.each(
    switched.map((refusal) => [refusal.rule, JSON.stringify(refusal.acceptedUnder), refusal] as const),
  )('%s: the same request is accepted under %s', async (_rule, _under, refusal) => {
    const response = await send(refusal, refusal.acceptedUnder)
    expect(await response.json()).toMatchObject({ type: 'message' })
  })

  test('every rule has a case here or a separate test', () => {
    const covered = new Set([...CASES.map(({ rule }) => rule), ...ELSEWHERE])
    expect(Object.keys(RULES).toSorted()).toEqual([...covered].toSorted())
  })

  test('every rule that depends on a switch is tested both ways', () => {
    const known: RuleSet = RULES
    const hanging = Object.keys(RULES).filter((id) => known[id]?.switch !== undefined)
    const both = new Set(switched.map(({ rule }): string => rule))
    const elsewhere: readonly string[] = [...ELSEWHERE, 'cache-edits.reference', 'cache-edits.twice']
    expect(hanging.filter((id) => !both.has(id) && !elsewhere.includes(id))).toEqual([])
  })

  test.each(Object.entries(ACCEPTED_MESSAGES))('%s is accepted', (_what, messages) => {
    const { status, body } = createSimulator({ clock: 'virtual' }).answer({
      ...BASE,
      messages,
    })
    expect(body).toMatchObject({ type: 'message' })
    expect(status).toBe(200)
  })
})
