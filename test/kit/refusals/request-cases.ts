import { findModelFacts } from '../../../packages/palimpsest/src/wire/model-facts.ts'
import { answered, NEWER, result, TOOL, use, user, type RefusalCase } from './refusal-case.ts'

const OPUS = findModelFacts('claude-opus-5-5')
const OLDER = OPUS
  ? [
      {
        ...OPUS,
        id: 'claude-small',
        contextWindow: 1_000,
        capabilities: { ...OPUS.capabilities, overlongOutputAccepted: false },
      },
    ]
  : []

export const REQUEST_CASES: readonly RefusalCase[] = [
  { rule: 'request.required', body: { model: undefined }, message: 'model: Field required' },
  { rule: 'request.required', body: { max_tokens: undefined }, message: 'max_tokens: Field required' },
  { rule: 'request.required', body: { messages: undefined }, message: 'messages: Field required' },
  {
    rule: 'request.required',
    body: { messages: [{ content: 'hi' }] },
    message: 'messages.0.role: Field required',
  },
  {
    rule: 'request.required',
    body: { messages: [{ role: 'user' }] },
    message: 'messages.0.content: Field required',
  },
  {
    rule: 'request.required',
    body: { messages: [user([{ text: 'hi' }])] },
    message: 'messages.0.content.0.type: Field required',
  },
  {
    rule: 'request.required',
    body: { messages: answered({ type: 'thinking', thinking: 'x' }, result('a')) },
    message: 'messages.1.content.0.thinking.signature: Field required',
  },
  {
    rule: 'request.required',
    body: { tools: [{ name: 'Read' }] },
    message: 'tools.0.custom.input_schema: Field required',
  },
  { rule: 'request.string', body: { model: 5 }, message: 'model: Input should be a valid string' },
  {
    rule: 'request.string',
    body: { system: [{ type: 'text', text: 5 }] },
    message: 'system.0.text: Input should be a valid string',
  },
  {
    rule: 'request.integer',
    body: { max_tokens: 1.5 },
    message: 'max_tokens: Input should be a valid integer',
  },
  { rule: 'request.boolean', body: { stream: 'yes' }, message: 'stream: Input should be a valid boolean' },
  {
    rule: 'request.object',
    body: { messages: ['hi'] },
    message: 'messages.0: Input should be a valid dictionary',
  },
  {
    rule: 'request.object',
    body: { messages: answered(use('a', { input: 'x' }), result('a')) },
    message: 'messages.1.content.0.tool_use.input: Input should be a valid dictionary',
  },
  { rule: 'request.list', body: { messages: 'hi' }, message: 'messages: Input should be a valid list' },
  { rule: 'request.list', body: { system: null }, message: 'system: Input should be a valid list' },
  {
    rule: 'request.list',
    body: { messages: [user(null)] },
    message: 'messages.0.content: Input should be a valid list',
  },
  {
    rule: 'request.one-of',
    body: { messages: [{ role: 'tool', content: 'hi' }] },
    message: "messages.0.role: Input should be 'user', 'assistant' or 'system'",
  },
  {
    rule: 'request.one-of',
    body: { output_config: { effort: 'huge' } },
    message: "output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'",
  },
  {
    rule: 'request.one-of',
    body: { tools: [TOOL], tool_choice: { type: 'some' } },
    message: "tool_choice.type: Input should be 'auto', 'any', 'tool' or 'none'",
  },
  {
    rule: 'request.one-of',
    body: { thinking: { type: 'adaptive', display: 'loud' } },
    message: "thinking.adaptive.display: Input should be 'summarized', 'omitted' or 'updates'",
  },
  {
    rule: 'request.at-least',
    body: { max_tokens: -1 },
    message: 'max_tokens: Input should be greater than or equal to 0',
  },
  {
    rule: 'request.extra',
    body: { favourite: 'x' },
    options: { switches: { unknownKeys: 'refuse' } },
    message: 'favourite: Extra inputs are not permitted',
    acceptedUnder: { unknownKeys: 'accept' },
  },
  {
    rule: 'request.extra',
    body: { messages: [{ role: 'user', content: 'hi', name: 'x' }] },
    options: { switches: { unknownKeys: 'refuse' } },
    message: 'messages.0.name: Extra inputs are not permitted',
    acceptedUnder: { unknownKeys: 'accept' },
  },
  {
    rule: 'request.sampling-removed',
    body: { temperature: 1 },
    headers: NEWER,
    message: 'temperature: Extra inputs are not permitted',
  },
  {
    rule: 'request.sampling-removed',
    body: { top_k: 5 },
    headers: NEWER,
    message: 'top_k: Extra inputs are not permitted',
  },
  { rule: 'request.range', body: { temperature: 1.5 }, message: 'temperature: range: 0..1' },
  { rule: 'request.range', body: { top_p: '1' }, message: 'top_p: range: 0..1' },
  { rule: 'request.integer', body: { top_k: 1.5 }, message: 'top_k: Input should be a valid integer' },
  {
    rule: 'request.at-least',
    body: { top_k: -1 },
    message: 'top_k: Input should be greater than or equal to 0',
  },
  {
    rule: 'request.one-of',
    body: { service_tier: 'best' },
    message: "service_tier: Input should be 'auto' or 'standard_only'",
  },
  {
    rule: 'request.stop-sequence-blank',
    body: { stop_sequences: ['x', ' '] },
    message: 'stop_sequences: each stop sequence must contain non-whitespace',
  },
  {
    rule: 'request.max-tokens-over',
    body: { max_tokens: 128_001 },
    message:
      'max_tokens: 128001 > 128000, which is the maximum allowed number of output tokens for claude-opus-5-5',
  },
  {
    rule: 'request.messages-none',
    body: { messages: [] },
    message: 'messages: at least one message is required',
  },
  {
    rule: 'request.messages-over',
    body: { messages: Array.from({ length: 100_001 }, () => user('x')) },
    message: 'messages: List should have at most 100000 items after validation, not 100001',
  },
  {
    rule: 'request.input-and-output-over',
    body: { model: 'claude-small', max_tokens: 999 },
    options: { models: OLDER, tokens: 'characters' },
    message:
      'input length and `max_tokens` exceed context limit: 2 + 999 > 1000, decrease input length or `max_tokens` and try again',
  },
  {
    rule: 'request.thread-not-found',
    body: { thread: { type: 'continue', previous_message_id: 'msg_1' } },
    status: 404,
    type: 'not_found_error',
    code: 'thread_not_found',
    message: 'thread: no usable thread state was found for `previous_message_id`',
  },
  {
    rule: 'prewarm.combined',
    body: { max_tokens: 0, stream: true },
    message: 'max_tokens: 0 cannot be combined with stream',
  },
  {
    rule: 'prewarm.combined',
    body: { max_tokens: 0, output_config: { format: { type: 'json_schema', schema: {} } } },
    message: 'max_tokens: 0 cannot be combined with output_config.format',
  },
  {
    rule: 'prewarm.combined',
    body: { max_tokens: 0, tools: [TOOL], tool_choice: { type: 'any' } },
    message: 'max_tokens: 0 cannot be combined with tool_choice',
  },
  {
    rule: 'prewarm.combined',
    body: {
      model: 'claude-opus-4-5',
      max_tokens: 0,
      thinking: { type: 'enabled', budget_tokens: 1_024 },
    },
    headers: { 'anthropic-beta': 'interleaved-thinking-2025-05-14' },
    message: 'max_tokens: 0 cannot be combined with thinking',
  },
]
