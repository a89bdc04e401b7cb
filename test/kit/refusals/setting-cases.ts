import { answered, assistant, BASE, result, text, TOOL, use, user, type RefusalCase } from './refusal-case.ts'

const EPHEMERAL = { type: 'ephemeral' }
const HOUR = { type: 'ephemeral', ttl: '1h' }
const MANUAL = { model: 'claude-opus-4-5', max_tokens: 4_000 }
const EDITING = { 'anthropic-beta': 'context-management-2025-06-27,compact-2026-01-12' }
const COMPACTING = { 'anthropic-beta': 'compact-2026-09-04' }
const CALLED = answered(use('a'), result('a'))

function marked(control: object = EPHEMERAL): object {
  return { ...text('x'), cache_control: control }
}

function edits(...list: object[]): { readonly [field: string]: unknown } {
  return { context_management: { edits: list } }
}

export const TOOL_CASES: readonly RefusalCase[] = [
  {
    rule: 'tools.name-form',
    body: { tools: [{ ...TOOL, name: 'no spaces' }] },
    message: "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
  },
  { rule: 'tools.names-unique', body: { tools: [TOOL, TOOL] }, message: 'tools: Tool names must be unique.' },
  {
    rule: 'tools.schema-type',
    body: { tools: [{ name: 'x', input_schema: { type: 'string' } }] },
    message: "tools.0.custom.input_schema.type: Input should be 'object'",
  },
  {
    rule: 'messages.tag-unknown',
    body: { tools: [{ type: 'teleport_20260101', name: 'teleport' }] },
    message:
      "tools.0: Input tag 'teleport_20260101' found using 'type' does not match any of the expected tags",
    acceptedUnder: { unknownBlocks: 'accept' },
  },
  {
    rule: 'tools.all-deferred',
    body: { tools: [{ ...TOOL, defer_loading: true }] },
    message: 'At least one tool must have defer_loading=false.',
  },
  {
    rule: 'tools.deferred-breakpoint',
    body: { tools: [TOOL, { ...TOOL, name: 'Later', defer_loading: true, cache_control: EPHEMERAL }] },
    message: "Tool 'Later' cannot have both defer_loading=true and cache_control set.",
  },
  {
    rule: 'tool-choice.no-tools',
    body: { tool_choice: { type: 'auto' } },
    message: 'tool_choice: tool_choice may only be specified while providing tools',
  },
  {
    rule: 'tool-choice.not-found',
    body: { tools: [TOOL], tool_choice: { type: 'tool', name: 'Write' } },
    message: "tool_choice: Tool 'Write' not found in provided tools",
  },
  {
    rule: 'tool-choice.thinking',
    body: { tools: [TOOL], tool_choice: { type: 'any' }, thinking: { type: 'adaptive' } },
    message: 'Thinking may not be enabled when tool_choice forces tool use.',
  },
]

export const THINKING_CASES: readonly RefusalCase[] = [
  {
    rule: 'thinking.mode',
    body: { thinking: { type: 'enabled', budget_tokens: 2_000 } },
    message: `"thinking.type.enabled" is not supported for this model. Supported: 'adaptive'.`,
  },
  {
    rule: 'thinking.mode',
    body: { ...MANUAL, thinking: { type: 'adaptive' } },
    message: `"thinking.type.adaptive" is not supported for this model. Supported: 'enabled' or 'disabled'.`,
  },
  {
    rule: 'thinking.budget-least',
    body: { ...MANUAL, thinking: { type: 'enabled', budget_tokens: 1_023 } },
    message: 'thinking.enabled.budget_tokens: Input should be greater than or equal to 1024',
  },
  {
    rule: 'thinking.budget-over',
    body: { ...MANUAL, thinking: { type: 'enabled', budget_tokens: 4_000 } },
    message: '`max_tokens` must be greater than `thinking.budget_tokens`.',
  },
  {
    rule: 'thinking.temperature',
    body: { ...MANUAL, temperature: 0.5, thinking: { type: 'enabled', budget_tokens: 2_000 } },
    message: '`temperature` may only be set to 1 when thinking is enabled.',
  },
  {
    rule: 'thinking.top-p',
    body: { ...MANUAL, top_p: 0.9, thinking: { type: 'enabled', budget_tokens: 2_000 } },
    message: '`top_p` must be greater than or equal to 0.95 or unset when thinking is enabled.',
  },
  {
    rule: 'thinking.top-k',
    body: { ...MANUAL, top_k: 40, thinking: { type: 'enabled', budget_tokens: 2_000 } },
    message: '`top_k` must be unset when thinking is enabled.',
  },
  {
    rule: 'thinking.first-block',
    body: { ...MANUAL, thinking: { type: 'enabled', budget_tokens: 2_000 }, messages: CALLED },
    options: { switches: { thinkingFirst: 'refuse' } },
    message:
      'messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block.',
    acceptedUnder: { thinkingFirst: 'accept' },
  },
  {
    rule: 'thinking.last-block',
    body: {
      messages: [user('hi'), assistant(text('a'), { type: 'redacted_thinking', data: 'x' }), user('more')],
    },
    message: 'messages.1: The final block in an assistant message cannot be `thinking`.',
    acceptedUnder: { thinkingLast: 'accept', foreignSignatures: 'accept' },
  },
  {
    rule: 'thinking.breakpoint',
    body: {
      messages: [
        user('hi'),
        assistant({ type: 'thinking', thinking: 'x', signature: 's', cache_control: EPHEMERAL }, text('a')),
        user('more'),
      ],
    },
    message: 'messages.1.content.0.thinking.cache_control: Extra inputs are not permitted',
  },
  {
    rule: 'thinking.foreign',
    body: {
      messages: [
        user('hi'),
        assistant({ type: 'thinking', thinking: 'x', signature: 'bm90IG91cnM=' }, text('a')),
        user('more'),
      ],
    },
    message: 'messages.1.content.0: Invalid `signature` in `thinking` block',
    acceptedUnder: { foreignSignatures: 'accept' },
  },
]

export const CACHING_CASES: readonly RefusalCase[] = [
  {
    rule: 'caching.type',
    body: { system: [marked({ type: 'eternal' })] },
    message: "system.0.cache_control.type: Input should be 'ephemeral'",
  },
  {
    rule: 'caching.ttl',
    body: { messages: [user([marked({ type: 'ephemeral', ttl: '1d' })])] },
    message: "messages.0.content.0.cache_control.ttl: Input should be '5m' or '1h'",
  },
  {
    rule: 'caching.breakpoints-over',
    body: {
      tools: [{ ...TOOL, cache_control: EPHEMERAL }],
      system: [marked(), marked()],
      messages: [user([marked(), marked()])],
    },
    message: 'A maximum of 4 blocks with cache_control may be provided. Found 5.',
  },
  {
    rule: 'caching.breakpoints-over',
    // The automatic one takes a slot.
    body: { system: [marked(), marked(), marked(), marked()], cache_control: EPHEMERAL },
    message: 'A maximum of 4 blocks with cache_control may be provided. Found 5.',
  },
  {
    rule: 'caching.empty-text',
    body: { messages: [user([{ type: 'text', text: '', cache_control: EPHEMERAL }])] },
    message: 'messages.0.content.0.text: cache_control cannot be set for empty text blocks',
  },
  {
    rule: 'caching.ttl-order',
    body: { system: [marked()], messages: [user([marked(HOUR)])] },
    message:
      "messages.0.content.0.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: `tools`, `system`, `messages`.",
  },
  {
    rule: 'caching.ttl-order',
    body: { system: [marked()], cache_control: HOUR },
    message:
      "messages.0.content.0.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: `tools`, `system`, `messages`.",
  },
  {
    rule: 'caching.automatic-ttl',
    body: { messages: [user([marked(HOUR)])], cache_control: EPHEMERAL },
    message: 'cache_control.ttl: the last cacheable block already has cache_control with a different ttl',
  },
  {
    rule: 'cache-edits.reference',
    options: { capabilities: ['cache_edits'] },
    body: { messages: [user([{ type: 'cache_edits', edits: [{ type: 'delete', cache_reference: 'a' }] }])] },
    message: 'messages.0.content.0: cache_reference a names no tool result of this conversation',
  },
  {
    rule: 'cache-edits.twice',
    options: { capabilities: ['cache_edits'] },
    body: {
      messages: answered(use('a'), result('a'), {
        type: 'cache_edits',
        edits: [
          { type: 'delete', cache_reference: 'a' },
          { type: 'delete', cache_reference: 'a' },
        ],
      }),
    },
    message: 'messages.2.content.1: cache_reference a is deleted twice',
  },
  {
    rule: 'messages.tag-unknown',
    body: { messages: [user([{ type: 'cache_edits', edits: [] }])] },
    message:
      "messages.0.content.0: Input tag 'cache_edits' found using 'type' does not match any of the expected tags",
  },
]

export const EDIT_CASES: readonly RefusalCase[] = [
  {
    rule: 'request.one-of',
    headers: EDITING,
    body: edits({ type: 'clear_tool_uses_20250919', keep: { type: 'input_tokens', value: 3 } }),
    message: "context_management.edits.0.clear_tool_uses_20250919.keep.type: Input should be 'tool_uses'",
  },
  {
    rule: 'request.one-of',
    headers: EDITING,
    body: edits({ type: 'compact_20260112', trigger: { value: 60_000 } }),
    message: "context_management.edits.0.compact_20260112.trigger.type: Input should be 'input_tokens'",
  },
  {
    rule: 'edits.tag',
    headers: EDITING,
    body: edits({ type: 'clear_all' }),
    message:
      "context_management.edits.0: Input tag 'clear_all' found using 'type' does not match any of the expected tags: 'clear_tool_uses_20250919', 'clear_thinking_20251015', 'compact_20260112'",
  },
  {
    rule: 'edits.order',
    headers: EDITING,
    body: edits({ type: 'clear_tool_uses_20250919' }, { type: 'clear_thinking_20251015' }),
    message: 'context_management.edits: clear_thinking_20251015 must be the first edit',
  },
  {
    rule: 'edits.keep-value',
    headers: EDITING,
    body: edits({ type: 'clear_thinking_20251015', keep: { type: 'thinking_turns', value: 0 } }),
    message:
      'context_management.edits.0.clear_thinking_20251015.keep.thinking_turns.value: Input should be greater than 0',
  },
  {
    rule: 'edits.value',
    headers: EDITING,
    body: edits({ type: 'compact_20260112', trigger: { type: 'input_tokens', value: 49_999 } }),
    message:
      'context_management.edits.0.compact_20260112.trigger.value: Input should be greater than or equal to 50000',
  },
  {
    rule: 'edits.value',
    headers: EDITING,
    body: edits({ type: 'clear_tool_uses_20250919', keep: { type: 'tool_uses', value: -1 } }),
    message:
      'context_management.edits.0.clear_tool_uses_20250919.keep.value: Input should be greater than or equal to 0',
  },
  {
    rule: 'edits.thinking-off',
    headers: EDITING,
    body: { model: 'claude-opus-5', ...edits({ type: 'clear_thinking_20251015' }) },
    options: { switches: { clearThinkingNeedsThinking: 'refuse' } },
    message:
      'context_management.edits.0: `clear_thinking_20251015` strategy requires `thinking` to be enabled or adaptive',
    acceptedUnder: { clearThinkingNeedsThinking: 'accept' },
  },
  {
    rule: 'edits.unsupported',
    headers: EDITING,
    body: { model: 'claude-haiku-4-5', ...edits({ type: 'compact_20260112' }) },
    message: 'context_management.edits.0: compact_20260112 is not supported for this model',
  },
  {
    rule: 'compaction.unsupported',
    headers: COMPACTING,
    body: { model: 'claude-haiku-4-5', compaction: { type: 'summarize' } },
    message: 'compaction: not supported for this model',
  },
  ...['stop_sequences', 'output_config.format', 'tool_choice', 'context_management'].map(
    (field): RefusalCase => ({
      rule: 'compaction.combined',
      headers: { 'anthropic-beta': 'compact-2026-09-04,context-management-2025-06-27' },
      body: {
        compaction: { type: 'summarize' },
        tools: [TOOL],
        ...(field === 'stop_sequences' ? { stop_sequences: ['x'] } : {}),
        ...(field === 'output_config.format'
          ? { output_config: { format: { type: 'json_schema', schema: {} } } }
          : {}),
        ...(field === 'tool_choice' ? { tool_choice: { type: 'any' } } : {}),
        ...(field === 'context_management' ? { context_management: {} } : {}),
      },
      message: `compaction: cannot be combined with ${field}`,
    }),
  ),
  {
    rule: 'compaction.content-empty',
    body: { messages: [assistant({ type: 'compaction', content: '' }), user('hi')] },
    message: 'messages.0.content.0.compaction.content: must not be an empty string',
  },
  {
    rule: 'compaction.nothing',
    headers: COMPACTING,
    body: { compaction: { type: 'summarize' }, messages: [assistant({ type: 'compaction', content: 'x' })] },
    code: 'compaction_nothing_to_summarize',
    message: 'messages: no user or assistant content to summarize',
  },
  {
    rule: 'compaction.incomplete',
    headers: COMPACTING,
    body: { compaction: { type: 'summarize' }, messages: [user('hi'), assistant(use('a'))] },
    code: 'compaction_incomplete_turn',
    message: 'messages: the compaction request ends on an assistant turn that is not finished',
  },
  {
    rule: 'compaction.references',
    headers: COMPACTING,
    body: { compaction: { type: 'summarize' }, messages: CALLED },
    options: { switches: { compactionToolReferencesMax: 0 } },
    code: 'compaction_too_many_tool_references',
    message:
      'messages: the conversation references 1 distinct tools, more than a compaction block can record',
    acceptedUnder: { compactionToolReferencesMax: 1 },
  },
  {
    rule: 'compaction.signature',
    body: {
      messages: [
        assistant({ type: 'compaction', content: 'x', signature: 'bm90IG91cnM=' }),
        ...(BASE['messages'] as object[]),
      ],
    },
    code: 'compaction_signature_invalid',
    message: 'messages.0.content.0.signature: does not verify',
  },
  {
    rule: 'compaction.misplaced',
    body: {
      messages: [
        user('hi'),
        assistant({ type: 'compaction', content: 'x', signature: 'c2ln' }),
        user('more'),
      ],
    },
    code: 'compaction_block_misplaced',
    message:
      'messages.1.content.0: the compaction block must be the first block of the conversation and not in a system message',
  },
  {
    rule: 'compaction.misplaced',
    body: { messages: [user('hi'), { role: 'system', content: [{ type: 'compaction', content: 'x' }] }] },
    code: 'compaction_block_misplaced',
    message:
      'messages.1.content.0: the compaction block must be the first block of the conversation and not in a system message',
  },
  {
    rule: 'compaction.ambiguous',
    body: {
      messages: [
        assistant(
          { type: 'compaction', content: 'x', signature: 'c2ln' },
          { type: 'compaction', content: 'y' },
        ),
        user('more'),
      ],
    },
    code: 'compaction_block_ambiguous',
    message:
      'messages: more than one compaction block with content. Send only the block the conversation returned last.',
  },
]
