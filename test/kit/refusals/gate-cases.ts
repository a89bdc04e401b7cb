import { answered, result, use, user, type RefusalCase } from './refusal-case.ts'

const CLOSED = {
  messageOutputConfig: 'refuse',
  displayUpdates: 'refuse',
  hourLifetime: 'refuse',
  toolReference: 'refuse',
  toolChanges: 'refuse',
} as const

const OPEN = {
  contextManagement: 'accept',
  thresholdCompaction: 'accept',
  onDemandCompaction: 'accept',
  blockBinding: 'accept',
  clearAt: 'accept',
} as const

const rule = 'request.beta-gate'
const closed = { switches: { betaGates: CLOSED } }
const open = { betaGates: OPEN }

function system(more: object): object[] {
  return [user('hi'), { role: 'system', content: 'x', ...more }]
}

function extra(path: string): string {
  return `${path}: Extra inputs are not permitted`
}

/** Each gated field without its header; what is open by default is closed for the test. */
export const GATE_CASES: readonly RefusalCase[] = [
  {
    rule,
    body: { context_management: { edits: [] } },
    message: extra('context_management'),
    acceptedUnder: open,
  },
  {
    rule,
    headers: { 'anthropic-beta': 'context-management-2025-06-27' },
    body: { context_management: { edits: [{ type: 'compact_20260112' }] } },
    message: extra('context_management.edits'),
    acceptedUnder: open,
  },
  { rule, body: { compaction: { type: 'summarize' } }, message: extra('compaction'), acceptedUnder: open },
  {
    rule,
    body: { thinking: { type: 'adaptive', block_binding: { prefix_mismatch_behavior: 'drop_block' } } },
    message: extra('thinking.adaptive.block_binding'),
    acceptedUnder: open,
  },
  {
    rule,
    body: { messages: system({ clear_at: 'never' }) },
    message: extra('messages.1.clear_at'),
    acceptedUnder: open,
  },
  {
    rule,
    options: closed,
    body: { messages: system({ output_config: { effort: 'low' } }) },
    message: extra('messages.1.output_config'),
    acceptedUnder: {},
  },
  {
    rule,
    options: closed,
    body: { thinking: { type: 'adaptive', display: 'updates' } },
    message: extra('thinking.adaptive.display'),
    acceptedUnder: {},
  },
  {
    rule,
    options: closed,
    body: { cache_control: { type: 'ephemeral', ttl: '1h' } },
    message: extra('cache_control.ttl'),
    acceptedUnder: {},
  },
  {
    rule,
    options: closed,
    body: {
      messages: answered(use('a'), result('a', { content: [{ type: 'tool_reference', tool_name: 'x' }] })),
    },
    message: extra('messages.2.content.0'),
    acceptedUnder: {},
  },
  {
    rule,
    options: closed,
    body: {
      messages: system({
        content: [{ type: 'tool_removal', tool: { type: 'tool_reference', name: 'Read' } }],
      }),
    },
    message: extra('messages.1.content.0'),
    acceptedUnder: {},
  },
]
