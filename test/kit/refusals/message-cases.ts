import { answered, assistant, NEWER, result, text, use, user, type RefusalCase } from './refusal-case.ts'

const IMAGE = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } }
const SEARCH = { type: 'server_tool_use', id: 'srv_1', name: 'web_search', input: {} }
const FOUND = { type: 'web_search_tool_result', tool_use_id: 'srv_1', content: [] }
const LONG_IMAGE_CHARS = 7_000_000

export const MESSAGE_CASES: readonly RefusalCase[] = [
  {
    rule: 'messages.first-role',
    body: { messages: [assistant(text('hello')), user('hi')] },
    message: 'messages: first message must use the "user" role',
    acceptedUnder: { firstMessageAssistant: 'accept' },
  },
  {
    rule: 'messages.empty',
    body: { messages: [user('')] },
    message:
      'messages.0: all messages must have non-empty content except for the optional final assistant message',
  },
  {
    rule: 'messages.empty',
    body: { messages: [user('hi'), assistant(), user('more')] },
    message:
      'messages.1: all messages must have non-empty content except for the optional final assistant message',
  },
  {
    rule: 'messages.empty',
    body: { messages: [user('hi'), { role: 'system', content: [] }] },
    message:
      'messages.1: all messages must have non-empty content except for the optional final assistant message',
  },
  {
    rule: 'messages.text-empty',
    body: { messages: [user([text('')])] },
    message: 'messages: text content blocks must be non-empty',
  },
  {
    rule: 'messages.text-empty',
    body: { system: [text('')] },
    message: 'system: text content blocks must be non-empty',
  },
  {
    rule: 'messages.text-empty',
    body: { messages: [user('hi'), assistant(text(''), use('a')), user([result('a')])] },
    message: 'messages: text content blocks must be non-empty',
  },
  {
    rule: 'messages.text-empty',
    body: { messages: answered(use('a'), result('a'), text('')) },
    message: 'messages: text content blocks must be non-empty',
  },
  {
    rule: 'messages.text-blank',
    body: { messages: [user('hi'), assistant(text(' ')), user('more')] },
    options: { switches: { blankText: 'refuse' } },
    message: 'messages: text content blocks must contain non-whitespace text',
    acceptedUnder: { blankText: 'accept' },
  },
  {
    rule: 'messages.tag-unknown',
    body: { messages: [user([{ type: 'hologram' }])] },
    message:
      "messages.0.content.0: Input tag 'hologram' found using 'type' does not match any of the expected tags",
    acceptedUnder: { unknownBlocks: 'accept' },
  },
  {
    rule: 'messages.tag-unknown',
    body: { messages: answered(use('a'), result('a', { content: [{ type: 'hologram' }] })) },
    message:
      "messages.2.content.0.tool_result.content.0: Input tag 'hologram' found using 'type' does not match any of the expected tags",
    acceptedUnder: { unknownBlocks: 'accept' },
  },
  {
    rule: 'messages.block-role',
    body: { messages: [user([{ type: 'thinking', thinking: 'x', signature: 's' }])] },
    message: 'messages.0.content.0: `thinking` blocks are not permitted in user messages',
  },
  {
    rule: 'messages.block-role',
    body: { messages: [user('hi'), assistant(IMAGE), user('more')] },
    message: 'messages.1.content.0: `image` blocks are not permitted in assistant messages',
  },
  {
    rule: 'messages.prefill',
    body: { messages: [user('hi'), assistant(text('I'))] },
    message:
      'This model does not support assistant message prefill. The conversation must end with a user message.',
  },
  {
    rule: 'messages.prefill-whitespace',
    body: { model: 'claude-sonnet-4-5', messages: [user('hi'), assistant(text('I '))] },
    message: 'messages: final assistant content cannot end with trailing whitespace',
  },
  {
    rule: 'messages.image-media-type',
    body: { messages: [user([{ ...IMAGE, source: { ...IMAGE.source, media_type: 'image/tiff' } }])] },
    message:
      "messages.0.content.0.image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'",
  },
  {
    rule: 'messages.tag-unknown',
    body: { messages: [user([{ type: 'image', source: { type: 'ftp', url: 'ftp://x' } }])] },
    message:
      "messages.0.content.0.image.source: Input tag 'ftp' found using 'type' does not match any of the expected tags",
    acceptedUnder: { unknownBlocks: 'accept' },
  },
  {
    rule: 'request.required',
    body: { messages: [user([{ type: 'image', source: { type: 'url' } }])] },
    message: 'messages.0.content.0.image.source.url.url: Field required',
  },
  {
    rule: 'request.one-of',
    body: {
      messages: [
        user([{ type: 'document', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } }]),
      ],
    },
    message: "messages.0.content.0.document.source.base64.media_type: Input should be 'application/pdf'",
  },
  {
    rule: 'messages.image-too-large',
    body: {
      messages: [user([{ ...IMAGE, source: { ...IMAGE.source, data: 'A'.repeat(LONG_IMAGE_CHARS) } }])],
    },
    message:
      'messages.0.content.0.image.source.base64: image exceeds 5 MB maximum: 5250000 bytes > 5242880 bytes',
  },
  {
    rule: 'messages.document-in-assistant',
    headers: NEWER,
    body: {
      messages: [
        user('hi'),
        assistant({ type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'x' } }),
        user('more'),
      ],
    },
    message: 'messages.1.content.0: `document` blocks are not permitted in assistant messages',
  },
  {
    rule: 'messages.citations-in-user',
    headers: NEWER,
    body: { messages: [user([{ ...text('hi'), citations: [{ type: 'char_location' }] }])] },
    message: 'messages.0.content.0.citations: citations are not permitted in user text',
  },
  {
    rule: 'pairing.unanswered',
    body: { messages: [user('hi'), assistant(use('a'), use('b')), user([result('a')])] },
    message:
      'messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: b. Each `tool_use` block must have a corresponding `tool_result` block in the next message.',
  },
  {
    rule: 'pairing.unanswered',
    body: { messages: [user('hi'), assistant(use('a'))] },
    message:
      'messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: a. Each `tool_use` block must have a corresponding `tool_result` block in the next message.',
  },
  {
    rule: 'pairing.unexpected',
    body: { messages: [user([result('a')])] },
    message:
      'messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: a. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.',
  },
  {
    rule: 'pairing.unexpected',
    // Answered one message too late, and again.
    body: { messages: [...answered(use('a'), result('a')), assistant(text('ok')), user([result('a')])] },
    message:
      'messages.4.content.0: unexpected `tool_use_id` found in `tool_result` blocks: a. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.',
  },
  {
    rule: 'pairing.twice',
    body: { messages: answered(use('a'), result('a'), result('a')) },
    message:
      'messages.2.content.1: each tool_use must have a single result. Found multiple `tool_result` blocks with id: a',
  },
  {
    rule: 'pairing.not-first',
    body: { messages: answered(use('a'), text('see'), result('a')) },
    message:
      'messages.2.content.1: `tool_result` blocks must come first in the content of a message that answers tool uses',
    acceptedUnder: { textBeforeResults: 'accept' },
  },
  {
    rule: 'pairing.result-role',
    body: { messages: [user('hi'), assistant(result('a')), user('more')] },
    message: 'messages.1.content.0: `tool_result` blocks can only be in `user` messages',
  },
  {
    rule: 'pairing.use-role',
    body: { messages: [user([use('a')])] },
    message: 'messages.0.content.0: `tool_use` blocks can only be in `assistant` messages',
  },
  {
    rule: 'pairing.id-again',
    body: { messages: [...answered(use('a'), result('a')), assistant(use('a')), user([result('a')])] },
    message: 'messages.3.content.0: `tool_use` ids must be unique',
  },
  {
    rule: 'pairing.id-form',
    body: { messages: answered(use('a b'), result('a b')) },
    message: "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
  },
  {
    rule: 'pairing.name-length',
    body: { messages: answered(use('a', { name: 'n'.repeat(201) }), result('a')) },
    message: 'messages.1.content.0.tool_use.name: String should have at most 200 characters',
  },
  {
    rule: 'pairing.error-media',
    body: { messages: answered(use('a'), result('a', { is_error: true, content: [IMAGE] })) },
    message:
      'messages.2.content.0.tool_result.content: all content must be type `text` if `is_error` is true',
  },
  {
    rule: 'pairing.result-empty',
    body: { messages: answered(use('a'), result('a', { content: '' })) },
    options: { switches: { emptyToolResult: 'refuse' } },
    message: 'messages.2.content.0.tool_result.content: tool results must not be empty',
    acceptedUnder: { emptyToolResult: 'accept' },
  },
  {
    rule: 'pairing.result-text-empty',
    body: { messages: answered(use('a'), result('a', { content: [text('')] })) },
    options: { switches: { emptyResultText: 'refuse' } },
    message: 'messages: text content blocks must be non-empty',
    acceptedUnder: { emptyResultText: 'accept' },
  },
  {
    rule: 'pairing.server-unanswered',
    body: { messages: [user('hi'), assistant(SEARCH), user('more'), assistant(text('ok')), user('on')] },
    message:
      'messages.1.content.0: `web_search` tool use with id `srv_1` was found without a corresponding result block',
  },
  {
    rule: 'system-role.unsupported',
    body: { model: 'claude-sonnet-5', messages: [user('hi'), { role: 'system', content: 'now' }] },
    message: 'messages.1.role: role "system" is not supported by this model',
  },
  {
    rule: 'system-role.first',
    body: { messages: [{ role: 'system', content: 'now' }, user('hi')] },
    message: 'messages.0.role: a "system" message cannot be first',
  },
  {
    rule: 'system-role.after',
    body: { messages: [user('hi'), assistant(text('ok')), { role: 'system', content: 'now' }] },
    message:
      'messages.2.role: a "system" message must immediately follow a user message or an assistant message that ends in a server tool result',
  },
  {
    rule: 'system-role.after',
    // Between a tool use and its result.
    body: {
      messages: [user('hi'), assistant(use('a')), { role: 'system', content: 'now' }, user([result('a')])],
    },
    message:
      'messages.2.role: a "system" message must immediately follow a user message or an assistant message that ends in a server tool result',
  },
  {
    rule: 'system-role.before',
    body: { messages: [user('hi'), { role: 'system', content: 'now' }, user('more')] },
    message: 'messages.1.role: a "system" message must precede an assistant message or end the conversation',
  },
]

/** Unusual, and accepted: what real clients were seen to send, and what the rules allow. */
export const ACCEPTED_MESSAGES: { readonly [what: string]: readonly object[] } = {
  'two user messages in a row': [user('hi'), user([text('more')])],
  'results in another order than the uses': [
    user('hi'),
    assistant(use('a'), use('b')),
    user([result('b'), result('a')]),
  ],
  'results spread over two messages': [
    user('hi'),
    assistant(use('a'), use('b')),
    user([result('a')]),
    user([result('b'), text('and')]),
  ],
  'text behind results': [...answered(use('a'), result('a'), text('more'))],
  'a system message at the end': [user('hi'), { role: 'system', content: 'now' }],
  'an empty system message with settings': [
    user('hi'),
    { role: 'system', content: [], output_config: { effort: 'medium' } },
    assistant(text('ok')),
    user('more'),
  ],
  'a system message behind a server tool result': [
    user('hi'),
    assistant(SEARCH, FOUND),
    { role: 'system', content: 'now' },
  ],
  'a paused turn sent back': [user('hi'), assistant(SEARCH, FOUND)],
  'a tool that is not in the list of tools': answered(use('a', { name: 'invented' }), result('a')),
  'a tool result without content': answered(use('a'), { type: 'tool_result', tool_use_id: 'a' }),
  'an empty text in a tool result': answered(use('a'), result('a', { content: [text('')] })),
  'an empty text in a tool result that failed': answered(
    use('a'),
    result('a', { content: [text('')], is_error: true }),
  ),
  'an empty text beside others in a tool result': answered(
    use('a'),
    result('a', { content: [text('some'), text(''), IMAGE] }),
  ),
  'references and documents in a result': answered(
    use('a'),
    result('a', {
      content: [
        { type: 'tool_reference', tool_name: 'x' },
        { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'x' } },
      ],
    }),
  ),
  'an assistant message cut into two': [
    user('hi'),
    assistant(text('a')),
    assistant(use('b')),
    user([result('b')]),
  ],
}
