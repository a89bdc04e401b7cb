import type { ModelRequest } from '../ports.ts'
import type { View, ViewNode } from '../transcript/view.ts'
import {
  findMember,
  isJsonObject,
  splitArray,
  withMember,
  withoutMember,
  type JsonText,
} from '../wire/json.ts'
import { isBlock, isThinking, type Block } from '../wire/message.ts'
import { parseModelName } from '../wire/model-facts.ts'

// A request for a summary that shares nothing with the conversation's cache: sent if the fork cannot be. Media become markers, what will be
// restored anyway is left out, and the oldest rounds are removed until it fits.

/** Room for the summary, in tokens. */
export const SUMMARY_TOKENS_MAX = 20_000

/** Comes first if the oldest rounds were removed: a conversation begins with the user. It is never a round of its own. */
const CUT_MARKER: JsonText = JSON.stringify({
  role: 'user',
  content: '[The beginning of this conversation was left out: it is too long for one request.]',
})

/** Replaces a summary that only the provider can read. */
const SEALED = '[A summary of the beginning of this conversation stood here.]'

export interface PlainOptions {
  /** How many of the oldest rounds are left out. */
  readonly skipped: number
  readonly prompt: string
  readonly model: string
  readonly maxTokens: number
}

/** Rounds of the part that is to be summarized: each begins with an answer; what comes before the first answer is the first round. */
export function roundsOf(nodes: readonly ViewNode[]): readonly (readonly ViewNode[])[] {
  const rounds: ViewNode[][] = []
  for (const node of nodes) {
    const last = rounds.at(-1)
    if (!last || node.role === 'assistant') rounds.push([node])
    else last.push(node)
  }
  return rounds
}

export function plainRequest(
  view: Pick<View, 'prefix'>,
  rounds: readonly (readonly ViewNode[])[],
  { skipped, prompt, model: named, maxTokens }: PlainOptions,
): ModelRequest {
  const { id: model } = parseModelName(named)
  const texts = rounds
    .slice(skipped)
    .flat()
    .flatMap((node) => messageText(node))
  const first = texts[0]
  const opening = first !== undefined && findMember(first, 'role') === '"user"' ? [] : [CUT_MARKER]
  const tools = view.prefix?.tools ?? '[]'
  const members = [
    `"model":${JSON.stringify(model)}`,
    `"max_tokens":${Math.min(maxTokens, SUMMARY_TOKENS_MAX)}`,
    '"stream":true',
    // Calls in the history need their tools, but no new call is wanted.
    ...(tools === '[]' ? [] : [`"tools":${tools}`, '"tool_choice":{"type":"none"}']),
    ...(view.prefix && view.prefix.system !== '[]' ? [`"system":${view.prefix.system}`] : []),
    `"messages":[${[...opening, ...texts, JSON.stringify({ role: 'user', content: prompt })].join(',')}]`,
  ]
  return { body: `{${members.join(',')}}`, betas: view.prefix?.betas ?? [], model, source: 'compact' }
}

function messageText(node: ViewNode): JsonText[] {
  if (node.source.part === 'attachment') return []
  // A signed block may only come first, and here something comes before it: its content is sent as plain text.
  const isSummary = node.source.standsFor !== undefined
  const blocks = node.blocks
    .filter(({ block }) => !isThinking(block))
    .map(({ block, json }) => bare(block, json))
  if (blocks.length === 0) return []
  const role = node.role === 'assistant' && !isSummary ? 'assistant' : 'user'
  return [`{"role":"${role}","content":[${blocks.join(',')}]}`]
}

/** Replaces media, including nested ones, with markers. */
function bare(block: Block, json: JsonText): JsonText {
  if (isBlock(block, 'compaction')) return JSON.stringify({ type: 'text', text: block.content || SEALED })
  const marker = markerOf(block.type)
  if (marker !== undefined) return marker
  const content = block.type === 'tool_result' ? findMember(json, 'content') : undefined
  if (!content?.startsWith('[')) return json
  const parts = splitArray(content).map((part) => markerOf(typeOf(part)) ?? part)
  return withMember(withoutMember(json, 'content'), 'content', `[${parts.join(',')}]`)
}

function markerOf(type: string): JsonText | undefined {
  if (type !== 'image' && type !== 'document') return undefined
  return JSON.stringify({ type: 'text', text: `[${type}]` })
}

function typeOf(part: JsonText): string {
  const parsed: unknown = JSON.parse(findMember(part, 'type') ?? 'null')
  return typeof parsed === 'string' ? parsed : isJsonObject(parsed) ? 'object' : ''
}
