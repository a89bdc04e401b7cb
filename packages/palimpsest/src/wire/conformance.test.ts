import { fileURLToPath } from 'node:url'

import type * as Beta from '@anthropic-ai/sdk/resources/beta/messages/messages'
import type * as Ga from '@anthropic-ai/sdk/resources/messages/messages'
import type * as OldBeta from 'anthropic-sdk-0x/resources/beta/messages/messages'
import type * as OldGa from 'anthropic-sdk-0x/resources/messages/messages'
import { describe, expect, expectTypeOf, test } from 'vitest'

import { childOf, childrenOf, parseFile, stringOf, type SyntaxNode } from '../../../../test/kit/syntax.ts'
import type { Json } from './json.ts'
import { BLOCK_TYPES, type KnownBlock, type WireMessage } from './message.ts'
import type { MessagesRequest, TokenCount } from './request.ts'
import { STOP_REASONS, type MessagesResponse, type StopReason } from './response.ts'
import { DELTA_TYPES, EVENT_TYPES, type Delta, type DeltaUsage, type StreamEvent } from './stream-event.ts'
import type { Usage } from './usage.ts'

// The published types of the provider's own client, held against ours. Most of it is checked by the compiler: a field or block
// that a new version brings and ours cannot hold is a type error here. The lists of names are checked again at run time.

/** A published type as the data it describes: arrays are readonly, and what is `unknown` there came out of JSON. */
type Data<T> = unknown extends T
  ? Json
  : T extends string
    ? T
    : T extends readonly (infer Element)[]
      ? readonly Data<Element>[]
      : T extends object
        ? { readonly [Key in keyof T]: Data<T[Key]> }
        : T

/** Our data as the published types want it: with arrays that may be changed. */
type Params<T> = T extends readonly (infer Element)[]
  ? Params<Element>[]
  : T extends object
    ? { -readonly [Key in keyof T]: Params<T[Key]> }
    : T

/** The compiler's own assertion, with its own explanation of what does not fit. At run time there is nothing left to do. */
function checkFits<Whole, Part extends Whole>(): Part | undefined {
  return undefined
}

/** Parameters of the published call that travel in headers. */
type HeaderParameter = 'betas' | 'user_profile_id' | 'workspace_id'

/** Body fields that only clients of older API versions send. */
type OldField = 'temperature' | 'top_p' | 'top_k'

describe('what the API returns fits our types', () => {
  test('every content block of an answer is one of our known blocks', () => {
    checkFits<KnownBlock, Data<Ga.ContentBlock>>()
    checkFits<KnownBlock, Data<Beta.BetaContentBlock>>()
    checkFits<KnownBlock, Data<OldGa.ContentBlock>>()
    checkFits<KnownBlock, Data<OldBeta.BetaContentBlock>>()
  })

  test('every answer is one of ours', () => {
    checkFits<MessagesResponse, Data<Ga.Message>>()
    checkFits<MessagesResponse, Data<Beta.BetaMessage>>()
    checkFits<MessagesResponse, Data<OldGa.Message>>()
    checkFits<MessagesResponse, Data<OldBeta.BetaMessage>>()
    checkFits<TokenCount, Data<Beta.BetaMessageTokensCount>>()
  })

  test('every stream event and delta is one of ours', () => {
    checkFits<StreamEvent, Data<Ga.RawMessageStreamEvent>>()
    checkFits<StreamEvent, Data<Beta.BetaRawMessageStreamEvent>>()
    checkFits<StreamEvent, Data<OldGa.RawMessageStreamEvent>>()
    checkFits<StreamEvent, Data<OldBeta.BetaRawMessageStreamEvent>>()
    checkFits<Delta, Data<Beta.BetaRawContentBlockDelta>>()
  })

  test('our types lack no field of an answer, a usage or a delta, and add none', () => {
    expectTypeOf<keyof MessagesResponse>().toEqualTypeOf<keyof Beta.BetaMessage>()
    expectTypeOf<keyof Usage>().toEqualTypeOf<keyof Beta.BetaUsage>()
    expectTypeOf<keyof DeltaUsage>().toEqualTypeOf<keyof Beta.BetaMessageDeltaUsage>()
    expectTypeOf<StopReason>().toEqualTypeOf<Beta.BetaStopReason>()
  })
})

describe('what a client can send fits our types', () => {
  test('every message and every body is one of ours', () => {
    checkFits<WireMessage, Data<Ga.MessageParam>>()
    checkFits<WireMessage, Data<Beta.BetaMessageParam>>()
    checkFits<KnownBlock, Data<Ga.ContentBlockParam>>()
    checkFits<KnownBlock, Data<Beta.BetaContentBlockParam>>()
    checkFits<MessagesRequest, Data<Omit<Ga.MessageCreateParams, HeaderParameter>>>()
    checkFits<MessagesRequest, Data<Omit<Beta.MessageCreateParams, HeaderParameter>>>()
    checkFits<MessagesRequest, Data<Omit<OldGa.MessageCreateParams, HeaderParameter>>>()
    checkFits<MessagesRequest, Data<Omit<OldBeta.MessageCreateParams, HeaderParameter>>>()
  })

  test('our types lack no field of a body, and add none', () => {
    expectTypeOf<Exclude<keyof MessagesRequest, OldField>>().toEqualTypeOf<
      Exclude<keyof Beta.MessageCreateParams, HeaderParameter>
    >()
    checkFits<keyof OldGa.MessageCreateParams, OldField>()
  })
})

const EPHEMERAL = { type: 'ephemeral', ttl: '1h' } as const

/** One body with every field and one message with every block that may be sent, in the form we would build it. */
const EVERYTHING = {
  model: 'claude-sonnet-5-5',
  max_tokens: 1024,
  system: [{ type: 'text', text: 'Be brief.', cache_control: EPHEMERAL }],
  tools: [
    { name: 'read', description: 'Reads a file.', input_schema: { type: 'object' }, strict: true },
    { type: 'web_search_20260318', name: 'web_search', max_uses: 3 },
  ],
  tool_choice: { type: 'auto', disable_parallel_tool_use: true },
  thinking: { type: 'adaptive', block_binding: { prefix_mismatch_behavior: 'drop_block' } },
  output_config: { effort: 'high', task_budget: { type: 'tokens', total: 10_000 } },
  output_format: { type: 'json_schema', schema: { type: 'object' } },
  context_management: {
    edits: [
      { type: 'clear_thinking_20251015', keep: 'all' },
      {
        type: 'clear_tool_uses_20250919',
        trigger: { type: 'input_tokens', value: 180_000 },
        keep: { type: 'tool_uses', value: 5 },
        clear_at_least: { type: 'input_tokens', value: 20_000 },
        exclude_tools: ['ask'],
        clear_tool_inputs: ['edit'],
      },
      { type: 'compact_20260112', trigger: { type: 'input_tokens', value: 150_000 } },
    ],
  },
  compaction: { type: 'summarize', instructions: null },
  cache_control: EPHEMERAL,
  diagnostics: { previous_message_id: 'msg_1' },
  metadata: { user_id: 'u' },
  stop_sequences: ['END'],
  stream: false,
  speed: 'standard',
  service_tier: 'auto',
  thread: { type: 'continue', previous_message_id: 'msg_1' },
  container: { id: 'c', skills: [{ skill_id: 's', type: 'custom' }] },
  mcp_servers: [{ type: 'url', name: 'm', url: 'https://example.test', authorization_token: null }],
  fallbacks: [{ model: 'claude-opus-5-5', max_tokens: 10 }],
  fallback_credit_token: { token: 't', mode: 'strict' },
  inference_geo: 'eu',
  messages: [
    { role: 'user', content: 'Hello' },
    {
      role: 'assistant',
      content: [
        { type: 'text', text: 'Hi', cache_control: EPHEMERAL },
        { type: 'thinking', thinking: 'x', signature: 's' },
        { type: 'redacted_thinking', data: 'd' },
        { type: 'tool_use', id: 'toolu_1', name: 'read', input: { path: 'a' }, caller: { type: 'direct' } },
        { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'q' } },
        { type: 'mcp_tool_use', id: 'mcptoolu_1', name: 'n', server_name: 'm', input: {} },
        { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] },
        {
          type: 'web_fetch_tool_result',
          tool_use_id: 'srvtoolu_1',
          content: { type: 'web_fetch_tool_result_error', error_code: 'unavailable' },
        },
        {
          type: 'code_execution_tool_result',
          tool_use_id: 'srvtoolu_1',
          content: { type: 'code_execution_tool_result_error', error_code: 'unavailable' },
        },
        {
          type: 'bash_code_execution_tool_result',
          tool_use_id: 'srvtoolu_1',
          content: { type: 'bash_code_execution_tool_result_error', error_code: 'unavailable' },
        },
        {
          type: 'text_editor_code_execution_tool_result',
          tool_use_id: 'srvtoolu_1',
          content: { type: 'text_editor_code_execution_create_result', is_file_update: true },
        },
        {
          type: 'tool_search_tool_result',
          tool_use_id: 'srvtoolu_1',
          content: { type: 'tool_search_tool_search_result', tool_references: [] },
        },
        { type: 'mcp_tool_result', tool_use_id: 'mcptoolu_1', content: 'ok', is_error: false },
        {
          type: 'advisor_tool_result',
          tool_use_id: 'srvtoolu_1',
          content: { type: 'advisor_result', text: 't' },
        },
        { type: 'compaction', content: 'c', encrypted_content: null, signature: 's' },
        { type: 'fallback', from: { model: 'a' }, to: { model: 'b' } },
        { type: 'mcp_tool_listing', mcp_server_name: 'm', tools: [] },
      ],
    },
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 'toolu_1',
          is_error: false,
          content: [
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } },
            { type: 'tool_reference', tool_name: 'read' },
            { type: 'browser_state', tabs: [] },
          ],
        },
        { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'd' }, title: 't' },
        { type: 'search_result', content: [{ type: 'text', text: 't' }], source: 's', title: 't' },
        { type: 'container_upload', file_id: 'f' },
      ],
    },
    {
      role: 'system',
      clear_at: 'never',
      output_config: { effort: 'low' },
      content: [
        { type: 'tool_addition', tool: { type: 'tool_reference', name: 'read' } },
        { type: 'tool_removal', tool: { type: 'mcp_toolset_reference', server_name: 'm' } },
      ],
    },
  ],
} as const satisfies MessagesRequest

describe('what we send fits the published types', () => {
  test('a body with every field and every block is a parameter of the published call', () => {
    checkFits<Beta.MessageCreateParams, Params<typeof EVERYTHING>>()
    checkFits<MessagesRequest, typeof EVERYTHING>()
    expectTypeOf<Exclude<keyof MessagesRequest, OldField>>().toEqualTypeOf<keyof typeof EVERYTHING>()
    expect(blockTypesIn(EVERYTHING.messages)).toEqual(BLOCK_TYPES.toSorted())
  })
})

const DECLARATIONS = '@anthropic-ai/sdk/resources'
const ga = readDeclarations(`${DECLARATIONS}/messages/messages`)
const beta = readDeclarations(`${DECLARATIONS}/beta/messages/messages`)

describe('the names in the published declarations are ours', () => {
  test('block types', () => {
    const published = [
      ...typesOf(ga, 'ContentBlock'),
      ...typesOf(ga, 'ContentBlockParam'),
      ...typesOf(beta, 'BetaContentBlock'),
      ...typesOf(beta, 'BetaContentBlockParam'),
      ...typesOf(beta, 'BetaToolResultBlockParam', 'content'),
    ]
    expect(unique(published)).toEqual(BLOCK_TYPES.toSorted())
  })

  test('deltas', () => {
    const published = [...typesOf(ga, 'RawContentBlockDelta'), ...typesOf(beta, 'BetaRawContentBlockDelta')]
    expect(unique(published)).toEqual(DELTA_TYPES.toSorted())
  })

  test('stream events; the client swallows pings and throws errors, so it declares neither', () => {
    const published = [
      ...typesOf(ga, 'RawMessageStreamEvent'),
      ...typesOf(beta, 'BetaRawMessageStreamEvent'),
      'ping',
      'error',
    ]
    expect(unique(published)).toEqual(EVENT_TYPES.toSorted())
  })

  test('stop reasons', () => {
    expect(unique(literalsOf(beta, 'BetaStopReason'))).toEqual(STOP_REASONS.toSorted())
  })
})

function blockTypesIn(value: unknown): string[] {
  const found: string[] = []
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) node.forEach(visit)
    else if (typeof node === 'object' && node !== null) {
      const { type } = node as { type?: string }
      if (type !== undefined && BLOCK_TYPES.some((known) => known === type)) found.push(type)
      if ('content' in node) visit(node.content)
    }
  }
  visit(value)
  return unique(found)
}

function unique(names: readonly string[]): string[] {
  return [...new Set(names)].toSorted()
}

type Declarations = Map<string, SyntaxNode>

function readDeclarations(module: string): Declarations {
  const path = fileURLToPath(import.meta.resolve(module)).replace(/\.m?js$/, '.d.ts')
  const declarations: Declarations = new Map()
  for (const statement of childrenOf(parseFile(path).program, 'body')) {
    const declaration = childOf(statement, 'declaration')
    const name = stringOf(childOf(declaration, 'id'), 'name')
    if (!declaration || name === undefined || declaration.type === 'TSModuleDeclaration') continue
    declarations.set(name, declaration)
  }
  return declarations
}

/** The `type` literals of everything a name, or one field of it, may be. */
function typesOf(declarations: Declarations, name: string, field?: string): string[] {
  const declaration = find(declarations, name)
  const root = field === undefined ? declaration : memberType(declaration, field)
  return leaves(declarations, root).flatMap((leaf) =>
    leaf.type === 'TSInterfaceDeclaration' ? literals(memberType(leaf, 'type')) : [],
  )
}

function literalsOf(declarations: Declarations, name: string): string[] {
  return leaves(declarations, find(declarations, name)).flatMap(literals)
}

function find(declarations: Declarations, name: string | undefined): SyntaxNode {
  const declaration = declarations.get(name ?? '')
  if (declaration === undefined) throw new Error(`The published types no longer declare ${name}.`)
  return declaration
}

function memberType(declaration: SyntaxNode, field: string): SyntaxNode {
  const members = childrenOf(childOf(declaration, 'body'), 'body')
  const member = members.find((candidate) => stringOf(childOf(candidate, 'key'), 'name') === field)
  const type = childOf(childOf(member, 'typeAnnotation'), 'typeAnnotation')
  if (type === undefined) throw new Error(`The published types have a declaration without ${field}.`)
  return type
}

function leaves(declarations: Declarations, node: SyntaxNode): SyntaxNode[] {
  const alias = childOf(node, 'typeAnnotation')
  if (node.type === 'TSTypeAliasDeclaration' && alias) return leaves(declarations, alias)
  if (node.type === 'TSUnionType') {
    return childrenOf(node, 'types').flatMap((part) => leaves(declarations, part))
  }
  if (node.type !== 'TSTypeReference') return [node]
  const name = stringOf(childOf(node, 'typeName'), 'name')
  const element = childrenOf(childOf(node, 'typeArguments'), 'params')[0]
  if (name === 'Array' && element) return leaves(declarations, element)
  return leaves(declarations, find(declarations, name))
}

function literals(node: SyntaxNode): string[] {
  if (node.type === 'TSUnionType') return childrenOf(node, 'types').flatMap(literals)
  const value = stringOf(childOf(node, 'literal'), 'value')
  return value === undefined ? [] : [value]
}
