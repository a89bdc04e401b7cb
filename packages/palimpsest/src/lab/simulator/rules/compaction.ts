import { invalid, type Rule, type RuleSet } from './rule.ts'

const EDITING = 'context editing reference'
const ON_DEMAND = 'published error classes'

export const COMPACTION_RULES = {
  'edits.tag': invalid(
    "context_management.edits.{index}: Input tag '{tag}' found using 'type' does not match any of the expected tags: 'clear_tool_uses_20250919', 'clear_thinking_20251015', 'compact_20260112'",
    EDITING,
    'inferred',
  ),
  'edits.order': invalid(
    'context_management.edits: clear_thinking_20251015 must be the first edit',
    EDITING,
    'documented',
  ),
  'edits.keep-value': invalid(
    'context_management.edits.{index}.clear_thinking_20251015.keep.thinking_turns.value: Input should be greater than 0',
    EDITING,
    'documented',
  ),
  'edits.value': invalid(
    'context_management.edits.{index}.{type}.{field}.value: Input should be greater than or equal to {least}',
    EDITING,
    'documented',
  ),
  'edits.thinking-off': invalid(
    'context_management.edits.{index}: `clear_thinking_20251015` strategy requires `thinking` to be enabled or adaptive',
    'public error reports',
    'unknown',
    { switch: 'clearThinkingNeedsThinking' },
  ),
  'edits.unsupported': invalid(
    'context_management.edits.{index}: {type} is not supported for this model',
    'model table',
    'inferred',
  ),
  'compaction.unsupported': invalid(
    'compaction: not supported for this model',
    'on-demand compaction reference: list of models',
    'documented',
  ),
  'compaction.combined': invalid(
    'compaction: cannot be combined with {field}',
    'on-demand compaction reference',
    'documented',
  ),
  'compaction.content-empty': invalid(
    '{path}.compaction.content: must not be an empty string',
    'published types',
    'documented',
  ),
  'compaction.ambiguous': coded(
    'compaction_block_ambiguous',
    'messages: more than one compaction block with content. Send only the block the conversation returned last.',
  ),
  'compaction.misplaced': coded(
    'compaction_block_misplaced',
    '{path}: the compaction block must be the first block of the conversation and not in a system message',
  ),
  'compaction.content': coded(
    'compaction_content_mismatch',
    '{path}.content: differs from the text its signature recorded',
  ),
  'compaction.incomplete': coded(
    'compaction_incomplete_turn',
    'messages: the compaction request ends on an assistant turn that is not finished',
  ),
  'compaction.nothing': coded(
    'compaction_nothing_to_summarize',
    'messages: no user or assistant content to summarize',
  ),
  'compaction.signature': coded('compaction_signature_invalid', '{path}.signature: does not verify'),
  'compaction.references': coded(
    'compaction_too_many_tool_references',
    'messages: the conversation references {count} distinct tools, more than a compaction block can record',
    'unknown',
  ),
  'compaction.tool-changes': coded(
    'compaction_tool_changes_mismatch',
    '{path}.tool_changes: differ from what was returned with the block',
  ),
} as const satisfies RuleSet

function coded(code: string, message: string, certainty: 'documented' | 'unknown' = 'documented'): Rule {
  const more = certainty === 'unknown' ? { code, switch: 'compactionToolReferencesMax' } : { code }
  return invalid(message, ON_DEMAND, certainty, more)
}
