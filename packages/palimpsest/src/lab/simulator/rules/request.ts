import { invalid, type RuleSet } from './rule.ts'

export const REQUEST_RULES = {
  'request.required': invalid('{path}: Field required', 'schema', 'observed'),
  'request.string': invalid('{path}: Input should be a valid string', 'schema', 'observed'),
  'request.integer': invalid('{path}: Input should be a valid integer', 'schema', 'observed'),
  'request.boolean': invalid('{path}: Input should be a valid boolean', 'schema', 'observed'),
  'request.object': invalid('{path}: Input should be a valid dictionary', 'schema', 'observed'),
  'request.list': invalid('{path}: Input should be a valid list', 'schema', 'observed'),
  'request.one-of': invalid('{path}: Input should be {values}', 'schema', 'observed'),
  'request.at-least': invalid(
    '{path}: Input should be greater than or equal to {least}',
    'schema',
    'observed',
  ),
  'request.extra': invalid('{path}: Extra inputs are not permitted', 'schema', 'unknown', {
    switch: 'unknownKeys',
  }),
  'request.beta-gate': invalid(
    '{path}: Extra inputs are not permitted',
    'beta headers: a field of a beta needs its header ({betas})',
    'documented',
    { switch: 'betaGates' },
  ),
  'request.sampling-removed': invalid(
    '{path}: Extra inputs are not permitted',
    'API version 2026-10-21 removes temperature, top_p and top_k',
    'documented',
  ),
  'request.range': invalid('{path}: range: 0..1', 'schema', 'observed'),
  'request.stop-sequence-blank': invalid(
    'stop_sequences: each stop sequence must contain non-whitespace',
    'schema',
    'observed',
  ),
  'request.max-tokens-over': invalid(
    'max_tokens: {asked} > {most}, which is the maximum allowed number of output tokens for {model}',
    'model table',
    'observed',
  ),
  'request.messages-none': invalid('messages: at least one message is required', 'schema', 'observed'),
  'request.messages-over': invalid(
    'messages: List should have at most 100000 items after validation, not {count}',
    'Messages reference: 100,000 messages',
    'documented',
  ),
  'request.prompt-too-long': invalid(
    'prompt is too long: {tokens} tokens > {most} maximum',
    'error reference',
    'observed',
  ),
  'request.input-and-output-over': invalid(
    'input length and `max_tokens` exceed context limit: {tokens} + {asked} > {most}, decrease input length or `max_tokens` and try again',
    'context windows reference: models before 4.5',
    'observed',
  ),
  'request.thread-not-found': {
    status: 404,
    type: 'not_found_error',
    message: 'thread: no usable thread state was found for `previous_message_id`',
    source: 'message threads reference; the simulator keeps no threads',
    certainty: 'documented',
    code: 'thread_not_found',
  },
  'prewarm.combined': invalid(
    'max_tokens: 0 cannot be combined with {field}',
    'prompt caching reference, pre-warming',
    'documented',
  ),
} as const satisfies RuleSet
