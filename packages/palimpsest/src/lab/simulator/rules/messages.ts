import { invalid, type RuleSet } from './rule.ts'

const PAIRING = 'tool use reference; public error reports'
const MID_SYSTEM = 'mid-conversation system messages reference'

export const MESSAGE_RULES = {
  'messages.first-role': invalid(
    'messages: first message must use the "user" role',
    'public error reports',
    'observed',
    {
      switch: 'firstMessageAssistant',
    },
  ),
  'messages.empty': invalid(
    'messages.{index}: all messages must have non-empty content except for the optional final assistant message',
    'public error reports',
    'observed',
  ),
  'messages.text-empty': invalid(
    '{where}: text content blocks must be non-empty',
    'public error reports',
    'observed',
  ),
  'messages.text-blank': invalid(
    '{where}: text content blocks must contain non-whitespace text',
    'public error reports; one client sends such a block',
    'unknown',
    { switch: 'blankText' },
  ),
  'messages.tag-unknown': invalid(
    "{path}: Input tag '{tag}' found using 'type' does not match any of the expected tags",
    'schema',
    'observed',
    { switch: 'unknownBlocks' },
  ),
  'messages.block-role': invalid(
    '{path}: `{type}` blocks are not permitted in {role} messages',
    'Messages reference',
    'inferred',
  ),
  'messages.prefill': invalid(
    'This model does not support assistant message prefill. The conversation must end with a user message.',
    'public error reports: Claude 4.6 and later',
    'observed',
  ),
  'messages.prefill-whitespace': invalid(
    'messages: final assistant content cannot end with trailing whitespace',
    'public error reports',
    'observed',
  ),
  'messages.image-media-type': invalid(
    "{path}.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'",
    'vision reference',
    'observed',
  ),
  'messages.image-too-large': invalid(
    '{path}.source.base64: image exceeds 5 MB maximum: {bytes} bytes > 5242880 bytes',
    'vision reference',
    'observed',
  ),
  'messages.document-in-assistant': invalid(
    '{path}: `document` blocks are not permitted in assistant messages',
    'API version 2026-10-21',
    'documented',
  ),
  'messages.citations-in-user': invalid(
    '{path}.citations: citations are not permitted in user text',
    'API version 2026-10-21',
    'documented',
  ),
  'pairing.unanswered': invalid(
    'messages.{index}: `tool_use` ids were found without `tool_result` blocks immediately after: {ids}. Each `tool_use` block must have a corresponding `tool_result` block in the next message.',
    PAIRING,
    'observed',
  ),
  'pairing.unexpected': invalid(
    '{path}: unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.',
    PAIRING,
    'observed',
  ),
  'pairing.twice': invalid(
    '{path}: each tool_use must have a single result. Found multiple `tool_result` blocks with id: {id}',
    PAIRING,
    'observed',
  ),
  'pairing.not-first': invalid(
    '{path}: `tool_result` blocks must come first in the content of a message that answers tool uses',
    PAIRING,
    'documented',
    { switch: 'textBeforeResults' },
  ),
  'pairing.result-role': invalid(
    '{path}: `tool_result` blocks can only be in `user` messages',
    PAIRING,
    'observed',
  ),
  'pairing.use-role': invalid(
    '{path}: `tool_use` blocks can only be in `assistant` messages',
    PAIRING,
    'observed',
  ),
  'pairing.id-again': invalid('{path}: `tool_use` ids must be unique', PAIRING, 'observed'),
  'pairing.id-form': invalid(
    "{path}.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
    'public error reports',
    'observed',
  ),
  'pairing.name-length': invalid(
    '{path}.name: String should have at most 200 characters',
    'public error reports',
    'observed',
  ),
  'pairing.error-media': invalid(
    '{path}.content: all content must be type `text` if `is_error` is true',
    'public error reports',
    'observed',
  ),
  'pairing.result-empty': invalid(
    '{path}.content: tool results must not be empty',
    'the schema allows this reading; recorded sessions sent `""` and were answered',
    'unknown',
    {
      switch: 'emptyToolResult',
    },
  ),
  'pairing.result-text-empty': invalid(
    'messages: text content blocks must be non-empty',
    'public error reports do not say where the block was; recorded sessions sent `[{"type":"text","text":""}]` and were answered',
    'unknown',
    { switch: 'emptyResultText' },
  ),
  'pairing.server-unanswered': invalid(
    '{path}: `{name}` tool use with id `{id}` was found without a corresponding result block',
    'public error reports',
    'observed',
  ),
  'system-role.unsupported': invalid(
    'messages.{index}.role: role "system" is not supported by this model',
    MID_SYSTEM,
    'documented',
  ),
  'system-role.first': invalid(
    'messages.{index}.role: a "system" message cannot be first',
    MID_SYSTEM,
    'documented',
  ),
  'system-role.after': invalid(
    'messages.{index}.role: a "system" message must immediately follow a user message or an assistant message that ends in a server tool result',
    MID_SYSTEM,
    'documented',
  ),
  'system-role.before': invalid(
    'messages.{index}.role: a "system" message must precede an assistant message or end the conversation',
    MID_SYSTEM,
    'documented',
  ),
} as const satisfies RuleSet
