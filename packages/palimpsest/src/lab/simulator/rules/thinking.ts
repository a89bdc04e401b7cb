import { invalid, type RuleSet } from './rule.ts'

const PRESERVED = 'preserved thinking reference'

export const THINKING_RULES = {
  'thinking.mode': invalid(
    '"thinking.type.{mode}" is not supported for this model. Supported: {values}.',
    'model table; public error reports',
    'observed',
  ),
  'thinking.budget-least': invalid(
    'thinking.enabled.budget_tokens: Input should be greater than or equal to 1024',
    'extended thinking reference',
    'observed',
  ),
  'thinking.budget-over': invalid(
    '`max_tokens` must be greater than `thinking.budget_tokens`.',
    'extended thinking reference; not with interleaved thinking',
    'observed',
  ),
  'thinking.temperature': invalid(
    '`temperature` may only be set to 1 when thinking is enabled.',
    'extended thinking reference',
    'observed',
  ),
  'thinking.top-p': invalid(
    '`top_p` must be greater than or equal to 0.95 or unset when thinking is enabled.',
    'extended thinking reference',
    'observed',
  ),
  'thinking.top-k': invalid(
    '`top_k` must be unset when thinking is enabled.',
    'extended thinking reference',
    'observed',
  ),
  'thinking.first-block': invalid(
    '{path}.type: Expected `thinking` or `redacted_thinking`, but found `{type}`. When `thinking` is enabled, a final `assistant` message must start with a thinking block.',
    'public error reports; clients send such messages',
    'unknown',
    { switch: 'thinkingFirst' },
  ),
  'thinking.last-block': invalid(
    'messages.{index}: The final block in an assistant message cannot be `thinking`.',
    'public error reports',
    'observed',
    { switch: 'thinkingLast' },
  ),
  'thinking.breakpoint': invalid(
    '{path}.cache_control: Extra inputs are not permitted',
    'prompt caching reference: no breakpoint on thinking',
    'observed',
  ),
  'thinking.foreign': invalid(
    '{path}: Invalid `signature` in `thinking` block',
    'public error reports',
    'observed',
    {
      switch: 'foreignSignatures',
    },
  ),
  'thinking.modified': invalid(
    '{path}: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.',
    'public error reports',
    'observed',
  ),
  'thinking.other-conversation': invalid(
    '{path}: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".',
    PRESERVED,
    'documented',
    { switch: 'prefixMismatch' },
  ),
  'thinking.other-account': invalid(
    '{path}: Invalid `signature` in `thinking` block. The block is bound to a different organization.',
    PRESERVED,
    'unknown',
    { switch: 'accountMismatch' },
  ),
} as const satisfies RuleSet
