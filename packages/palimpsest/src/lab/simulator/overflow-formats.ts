import type { Json, JsonObject } from '../../wire/json.ts'

// How providers and gateways say that a prompt is too long, in the order of the collected samples. `plain` is not one of them: it says
// the simulator's own numbers.

export interface OverflowFormat {
  readonly name: string
  readonly status: number
  /** Numbers are those of the sample; `{tokens}` and `{most}` are the request's own. */
  readonly message: string
  readonly shape: OverflowShape
}

type OverflowShape = 'anthropic' | 'openai' | 'gemini' | 'bedrock' | 'llama-cpp' | 'string' | 'openrouter'

export const OVERFLOW_FORMATS: readonly OverflowFormat[] = [
  format('anthropic', 'anthropic', 'prompt is too long: 213462 tokens > 200000 maximum'),
  format('anthropic-below-round', 'anthropic', 'prompt is too long: 209353 tokens > 199999 maximum'),
  format(
    'anthropic-input-and-output',
    'anthropic',
    'input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease input length or `max_tokens` and try again',
  ),
  format(
    'gemini',
    'gemini',
    'The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).',
  ),
  format(
    'gemini-limit-only',
    'gemini',
    'The input token count exceeds the maximum number of tokens allowed 1048576.',
  ),
  format(
    'openrouter',
    'openrouter',
    "This endpoint's maximum context length is 16384 tokens. However, you requested about 26265 tokens (26255 of text input, 10 in the output).",
  ),
  format(
    'openai-chat',
    'openai',
    "This model's maximum context length is 131072 tokens. However, you requested 131134 tokens (122942 in the messages, 8192 in the completion). Please reduce the length of the messages or completion.",
  ),
  format(
    'openai-chat-messages',
    'openai',
    "This model's maximum context length is 4097 tokens. However, your messages resulted in 7575 tokens.",
  ),
  format(
    'vllm',
    'openai',
    "This model's maximum context length is 65536 tokens. However, you requested 4093 output tokens and your prompt contains at least 61444 input tokens",
  ),
  format(
    'vllm-passed',
    'openai',
    "You passed 9000 input tokens and requested 100 output tokens. However, the model's context length is only 8192 tokens, resulting in a maximum input length of 8092 tokens.",
  ),
  format(
    'vllm-engine',
    'openai',
    'The decoder prompt (length 88049) is longer than the maximum model length of 32768.',
  ),
  format(
    'llama-cpp',
    'llama-cpp',
    'request (13392 tokens) exceeds the available context size (8192 tokens), try increasing it',
  ),
  format(
    'lm-studio',
    'string',
    'Trying to keep the first 6269 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.',
  ),
  format('ollama', 'string', 'prompt too long; exceeded max context length by 4021 tokens'),
  format(
    'xai',
    'openai',
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens",
  ),
  format(
    'together',
    'openai',
    "The input (516368 tokens) is longer than the model's context length (262144 tokens).",
  ),
  format(
    'mistral',
    'openai',
    'Prompt contains 300000 tokens and 0 images too large for model with 262144 maximum context length',
  ),
  format('copilot', 'openai', 'prompt token count of 5 exceeds the limit of 4'),
  format('kimi', 'openai', 'Your request exceeded model token limit: 262144 (requested: 300000)'),
  format(
    'length-over-model',
    'openai',
    "Input length (265330) exceeds model's maximum context length (262144).",
  ),
  format(
    'length-over-allowed',
    'openai',
    'Input length 131393 exceeds the maximum allowed input length of 131040 tokens.',
  ),
  format('dashscope', 'openai', 'Range of input length should be [1, 129024]'),
  format(
    'vllm-completion',
    'openai',
    "'max_completion_tokens' is too large: 32000. This model's maximum context length is 32768 tokens and your request has 1200 input tokens (32000 > 32768 - 1200).",
  ),
  format('bedrock', 'bedrock', 'Input is too long for requested model.'),
  format(
    'openai-responses',
    'openai',
    'Your input exceeds the context window of this model. Please adjust your input and try again.',
  ),
  format('vertex', 'anthropic', 'Prompt is too long'),
]

export const PLAIN_OVERFLOW: OverflowFormat = format(
  'plain',
  'anthropic',
  'prompt is too long: {tokens} tokens > {most} maximum',
)

/** By name, or by number among the samples; the plain one if `wanted` is undefined. */
export function findOverflowFormat(wanted: unknown): OverflowFormat | undefined {
  if (wanted === undefined || wanted === PLAIN_OVERFLOW.name) return PLAIN_OVERFLOW
  if (typeof wanted === 'number') return OVERFLOW_FORMATS[wanted]
  return OVERFLOW_FORMATS.find(({ name }) => name === wanted)
}

export interface OverflowNumbers {
  readonly tokens: number
  readonly most: number
}

/** Whether the wording contains the request's own numbers. */
export function saysOwnNumbers({ message }: OverflowFormat): boolean {
  return message.includes('{tokens}')
}

/** The kind of error and its sentence, as the body has them. */
export function overflowError(
  { message, shape }: OverflowFormat,
  { tokens, most }: OverflowNumbers,
): { readonly type: string; readonly message: string } {
  const filled = message.replace('{tokens}', String(tokens)).replace('{most}', String(most))
  return { type: ERROR_TYPES[shape] ?? 'error', message: filled }
}

/** The kind of error, for forms that name one. */
const ERROR_TYPES: { readonly [shape in OverflowShape]?: string } = {
  anthropic: 'invalid_request_error',
  openai: 'invalid_request_error',
  gemini: 'INVALID_ARGUMENT',
  bedrock: 'ValidationException',
  'llama-cpp': 'exceed_context_size_error',
}

/** The answer's body in the provider's own form. */
export function overflowBody(format: OverflowFormat, numbers: OverflowNumbers, requestId: string): Json {
  const { type, message } = overflowError(format, numbers)
  switch (format.shape) {
    case 'anthropic':
      return {
        type: 'error',
        error: { type, message },
        request_id: requestId,
      } satisfies JsonObject
    case 'openai':
      return {
        error: { message, type, param: null, code: 'context_length_exceeded' },
      }
    case 'openrouter':
      return { error: { message, code: format.status, metadata: { provider_name: 'Simulator' } } }
    case 'gemini':
      return [{ error: { code: format.status, message, status: type } }]
    case 'bedrock':
      return { __type: type, message }
    case 'llama-cpp':
      return {
        error: {
          code: format.status,
          message,
          type,
          n_prompt_tokens: 13392,
          n_ctx: 8192,
        },
      }
    case 'string':
      return { error: message }
  }
}

function format(name: string, shape: OverflowShape, message: string): OverflowFormat {
  return { name, shape, message, status: 400 }
}
