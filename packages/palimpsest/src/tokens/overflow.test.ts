import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cases } from '../../../../test/kit/cases.ts'
import { parseOverflow, type Overflow } from './overflow.ts'

/** What providers say when a prompt does not fit, and what each text means. */
const SAMPLES: readonly { readonly text: string; readonly overflow: Overflow }[] = [
  {
    text: 'prompt is too long: 213462 tokens > 200000 maximum',
    overflow: { kind: 'input', limit: 200_000, used: 213_462, excess: 13_462 },
  },
  {
    text: 'prompt is too long: 209353 tokens > 199999 maximum',
    overflow: { kind: 'input', limit: 199_999, used: 209_353, excess: 9_354 },
  },
  {
    text: 'input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease input length or `max_tokens` and try again',
    overflow: { kind: 'input-and-output', limit: 200_000, used: 178_959, excess: 42_959 },
  },
  {
    text: 'The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).',
    overflow: { kind: 'input', limit: 1_048_576, used: 1_200_293, excess: 151_717 },
  },
  {
    text: 'The input token count exceeds the maximum number of tokens allowed 1048576.',
    overflow: { kind: 'input', limit: 1_048_576 },
  },
  {
    text: "This endpoint's maximum context length is 16384 tokens. However, you requested about 26265 tokens (26255 of text input, 10 in the output).",
    overflow: { kind: 'input', limit: 16_384, used: 26_255, excess: 9_881 },
  },
  {
    text: "This model's maximum context length is 131072 tokens. However, you requested 131134 tokens (122942 in the messages, 8192 in the completion). Please reduce the length of the messages or completion.",
    overflow: { kind: 'input-and-output', limit: 131_072, used: 122_942, excess: 62 },
  },
  {
    text: "This model's maximum context length is 4097 tokens. However, your messages resulted in 7575 tokens.",
    overflow: { kind: 'input', limit: 4_097, used: 7_575, excess: 3_478 },
  },
  {
    text: "This model's maximum context length is 65536 tokens. However, you requested 4093 output tokens and your prompt contains at least 61444 input tokens",
    overflow: { kind: 'input-and-output', limit: 65_536, used: 61_444, excess: 1 },
  },
  {
    text: "You passed 9000 input tokens and requested 100 output tokens. However, the model's context length is only 8192 tokens, resulting in a maximum input length of 8092 tokens.",
    overflow: { kind: 'input', limit: 8_192, used: 9_000, excess: 908 },
  },
  {
    text: 'The decoder prompt (length 88049) is longer than the maximum model length of 32768.',
    overflow: { kind: 'input', limit: 32_768, used: 88_049, excess: 55_281 },
  },
  {
    text: 'request (13392 tokens) exceeds the available context size (8192 tokens), try increasing it',
    overflow: { kind: 'input', limit: 8_192, used: 13_392, excess: 5_200 },
  },
  {
    text: 'Trying to keep the first 6269 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.',
    overflow: { kind: 'input', limit: 4_096, used: 6_269, excess: 2_173 },
  },
  {
    text: 'prompt too long; exceeded max context length by 4021 tokens',
    overflow: { kind: 'input', excess: 4_021 },
  },
  {
    text: "This model's maximum prompt length is 131072 but the request contains 537812 tokens",
    overflow: { kind: 'input', limit: 131_072, used: 537_812, excess: 406_740 },
  },
  {
    text: "The input (516368 tokens) is longer than the model's context length (262144 tokens).",
    overflow: { kind: 'input', limit: 262_144, used: 516_368, excess: 254_224 },
  },
  {
    text: 'Prompt contains 300000 tokens and 0 images too large for model with 262144 maximum context length',
    overflow: { kind: 'input', limit: 262_144, used: 300_000, excess: 37_856 },
  },
  {
    text: 'prompt token count of 5 exceeds the limit of 4',
    overflow: { kind: 'input', limit: 4, used: 5, excess: 1 },
  },
  {
    text: 'Your request exceeded model token limit: 262144 (requested: 300000)',
    overflow: { kind: 'input', limit: 262_144, used: 300_000, excess: 37_856 },
  },
  {
    text: "Input length (265330) exceeds model's maximum context length (262144).",
    overflow: { kind: 'input', limit: 262_144, used: 265_330, excess: 3_186 },
  },
  {
    text: 'Input length 131393 exceeds the maximum allowed input length of 131040 tokens.',
    overflow: { kind: 'input', limit: 131_040, used: 131_393, excess: 353 },
  },
  {
    text: 'Range of input length should be [1, 129024]',
    overflow: { kind: 'input', limit: 129_024 },
  },
  {
    text: "'max_completion_tokens' is too large: 32000. This model's maximum context length is 32768 tokens and your request has 1200 input tokens (32000 > 32768 - 1200).",
    overflow: { kind: 'input-and-output', limit: 32_768, used: 1_200, excess: 432 },
  },
  {
    text: 'Input is too long for requested model.',
    overflow: { kind: 'input' },
  },
  {
    text: 'Your input exceeds the context window of this model. Please adjust your input and try again.',
    overflow: { kind: 'input' },
  },
  {
    text: 'Prompt is too long',
    overflow: { kind: 'input' },
  },
]

/** Other shapes: bodies, wrappers, fields, events. */
const SHAPES: readonly { readonly name: string; readonly error: unknown; readonly overflow: Overflow }[] = [
  {
    name: 'the Messages API body',
    error: {
      type: 'error',
      error: { type: 'invalid_request_error', message: 'prompt is too long: 213462 tokens > 200000 maximum' },
      request_id: 'req_011',
    },
    overflow: { kind: 'input', limit: 200_000, used: 213_462, excess: 13_462 },
  },
  {
    name: 'a status and a body in one text',
    error: '400 {"type":"error","error":{"type":"invalid_request_error","message":"Prompt is too long"}}',
    overflow: { kind: 'input' },
  },
  {
    name: 'an array of bodies',
    error: [
      {
        error: {
          code: 400,
          message: 'The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).',
          status: 'INVALID_ARGUMENT',
        },
      },
    ],
    overflow: { kind: 'input', limit: 1_048_576, used: 1_200_293, excess: 151_717 },
  },
  {
    name: 'the same array as text',
    error:
      '[{"error":{"code":400,"message":"The input token count exceeds the maximum number of tokens allowed 1048576."}}]',
    overflow: { kind: 'input', limit: 1_048_576 },
  },
  {
    name: 'numeric fields, which beat the text',
    error: {
      error: {
        code: 400,
        message: 'request (1 tokens) exceeds the available context size (2 tokens), try increasing it',
        type: 'exceed_context_size_error',
        n_prompt_tokens: 13_392,
        n_ctx: 8_192,
      },
    },
    overflow: { kind: 'input', limit: 8_192, used: 13_392, excess: 5_200 },
  },
  {
    name: 'an older text without numbers',
    error: { error: 'the request exceeds the available context size. try increasing the context size' },
    overflow: { kind: 'input' },
  },
  {
    name: 'a failed event with a code',
    error: {
      type: 'response.failed',
      response: {
        error: { code: 'context_length_exceeded', message: 'Your input exceeds the context window' },
      },
    },
    overflow: { kind: 'input' },
  },
  {
    name: 'a wrapper around a wrapper',
    error: new Error(
      'litellm.ContextWindowExceededError: litellm.BadRequestError: AnthropicException - {"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 205000 tokens > 200000 maximum"}}',
    ),
    overflow: { kind: 'input', limit: 200_000, used: 205_000, excess: 5_000 },
  },
  {
    name: 'a body as a text inside the metadata of another',
    error: {
      error: {
        message: 'Provider returned error',
        code: 400,
        metadata: { raw: '{"error":{"message":"prompt token count of 150000 exceeds the limit of 128000"}}' },
      },
    },
    overflow: { kind: 'input', limit: 128_000, used: 150_000, excess: 22_000 },
  },
  {
    name: 'input in two parts',
    error:
      "This endpoint's maximum context length is 16384 tokens. However, you requested about 26645 tokens (26255 of text input, 380 of tool input, 10 in the output). Please reduce the length of either one.",
    overflow: { kind: 'input', limit: 16_384, used: 26_635, excess: 10_261 },
  },
  {
    name: 'functions beside messages',
    error:
      "This model's maximum context length is 16385 tokens. However, you requested 16500 tokens (15000 in the messages, 500 in the functions, 1000 in the completion). Please reduce the length.",
    overflow: { kind: 'input-and-output', limit: 16_385, used: 15_500, excess: 115 },
  },
  {
    name: 'characters, which are no tokens',
    error:
      "You passed 90000 input characters and requested 100 output tokens. However, the model's context length is only 8192 tokens, resulting in a maximum input length of 8092 tokens.",
    overflow: { kind: 'input', limit: 8_192 },
  },
  {
    name: 'numbers with separators',
    error: 'prompt is too long: 213,462 tokens > 200,000 maximum',
    overflow: { kind: 'input', limit: 200_000, used: 213_462, excess: 13_462 },
  },
  {
    name: 'too many bytes',
    error: {
      type: 'error',
      error: { type: 'request_too_large', message: 'Request exceeds the maximum size' },
    },
    overflow: { kind: 'request-bytes' },
  },
  { name: 'a gateway', error: 'capability_rejected: prompt_too_long', overflow: { kind: 'input' } },
  { name: 'a small limit', error: 'context window exceeds limit (2013)', overflow: { kind: 'input' } },
  {
    name: 'a code of its own',
    error: { error: { code: '1261', message: 'Prompt too long' } },
    overflow: { kind: 'input' },
  },
  { name: 'no body at all', error: '413 status code (no body)', overflow: { kind: 'input' } },
  {
    name: 'a local server',
    error: 'tokens to keep from the initial prompt is greater than the context length',
    overflow: { kind: 'input' },
  },
]

const OTHERS: readonly unknown[] = [
  'ThrottlingException: Too many tokens, please wait before trying again.',
  'Throttling error: Too many tokens, please wait before trying again.',
  'Service unavailable: maximum context length is 8192 tokens',
  "This request would exceed your organization's rate limit of 40,000 input tokens per minute",
  {
    type: 'error',
    error: { type: 'rate_limit_error', message: 'Number of request tokens has exceeded your limit' },
  },
  { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
  'max_tokens: 300000 > 128000, which is the maximum allowed number of output tokens for claude-opus-5-5',
  'messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation.',
  'This model does not support assistant message prefill. The conversation must end with a user message.',
  'messages.3: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_01',
  { error: { message: 'Invalid API key', code: 401 } },
  'fetch failed',
  '',
  undefined,
  null,
  42,
]

describe('an overflow', () => {
  test.each(SAMPLES)('is recognised by its wording: $text', ({ text, overflow }) => {
    expect(parseOverflow(text)).toEqual(overflow)
  })

  test.each(SAMPLES)('is recognised in a body as well: $text', ({ text, overflow }) => {
    expect(parseOverflow({ error: { message: text, type: 'invalid_request_error' } })).toEqual(overflow)
    expect(parseOverflow(`400 ${JSON.stringify({ error: text })}`)).toEqual(overflow)
  })

  test.each(SHAPES)('is recognised from $name', ({ error, overflow }) => {
    expect(parseOverflow(error)).toEqual(overflow)
  })

  test.each(OTHERS.map((error) => ({ error })))('is not recognised in $error', ({ error }) => {
    expect(parseOverflow(error)).toBeUndefined()
  })

  test('is not recognised in a rate limit error, whatever else it says', () => {
    for (const { text } of SAMPLES) expect(parseOverflow(`Rate limit exceeded. ${text}`)).toBeUndefined()
  })

  test('is searched for in any value without throwing, and returns only valid numbers', () => {
    const wording = fc.constantFrom(...SAMPLES.map((sample) => sample.text))
    fc.assert(
      fc.property(
        fc.oneof(fc.jsonValue(), fc.anything(), fc.tuple(fc.string(), wording, fc.string())),
        (error) => {
          const overflow = parseOverflow(error)
          for (const value of [overflow?.limit, overflow?.used, overflow?.excess]) {
            if (value !== undefined) expect(Number.isSafeInteger(value) && value > 0).toBe(true)
          }
        },
      ),
      cases(500, 100_000),
    )
  })
})
