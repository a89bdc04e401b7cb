import type { ProviderError } from '../../errors.ts'
import type { EditEntry } from '../../transcript/entry.ts'
import { settle, type ThinkingPolicy } from '../../transcript/settle.ts'
import { toViewBlock, type ViewBlock } from '../../transcript/view-block.ts'
import type { View, ViewNode } from '../../transcript/view.ts'
import { isBlock, isThinking, type Block } from '../../wire/message.ts'
import { messageBody, type EntryBody } from '../../situation/session.ts'
import { retoldAnswer } from './retold-answer.ts'

// A provider that refuses one block of a conversation refuses every request that contains it: an image that it cannot read, thinking that
// another account sealed, a kind of block that only another server knows. If the error names the block, a declared edit replaces it, which
// can be undone: a stand-in takes its place; thinking is removed; an answer with a call, which is nothing without its result, is retold in
// plain words.

export interface RefusedBlock {
  readonly bodies: readonly EntryBody[]
  /** Where the block was in the request, such as `messages.4.content.1`. */
  readonly path: string
  readonly type: string
  readonly notice: string
}

/** `messages.4.content.1`, but not its `cache_control`: cache markers are ours, not part of the block. */
const PATH = /\bmessages\.(\d+)\.content\.(\d+)\b(?!\.cache_control)/
const SAID_CHARS_MAX = 200

/**
 * Undefined if the error names no block, or one that must stay: the user's words, a stand-in. `thoughtBefore`: thinking was already removed
 * from this request, so the thinking after it is no better.
 */
export function refusedBlock(
  view: View,
  { failure, message }: ProviderError,
  { thinking, thoughtBefore }: { readonly thinking: ThinkingPolicy; readonly thoughtBefore: boolean },
): RefusedBlock | undefined {
  const place = failure.kind === 'invalid-request' ? PATH.exec(message) : null
  const found = place ? findSent(view, thinking, [Number(place[1]), Number(place[2])]) : undefined
  if (!place || !found) return undefined
  const said = message.slice(0, SAID_CHARS_MAX).toWellFormed()
  const changed = changeFor(view, found, { said, thoughtBefore })
  const { type } = found.block.block
  return changed && { bodies: changed.bodies, path: place[0], type, notice: noticeOf(type, changed.how) }
}

/** What happens to the block from now on. */
type How = 'it is left out' | 'the answer that holds it goes in plain words'

interface Change {
  readonly how: How
  readonly bodies: readonly EntryBody[]
}

function noticeOf(type: string, how: How): string {
  return `The provider does not take a block of the conversation (${type}): ${how} from now on. \`palimpsest context\` shows it and how to undo that.`
}

interface Found {
  readonly node: ViewNode
  readonly index: number
  readonly block: ViewBlock
}

/** Positions are those of the request: nodes of which nothing is sent do not count. */
function findSent(
  view: View,
  thinking: ThinkingPolicy,
  [message, place]: [number, number],
): Found | undefined {
  const { texts, blocks } = settle(view, thinking)
  const index = texts.flatMap((text, node) => (text === '' ? [] : [node]))[message] ?? -1
  const node = view.nodes[index]
  const block = blocks[index]?.[place]
  return node && block ? { node, index, block } : undefined
}

function changeFor(
  view: View,
  { node, index, block: { at, block, original } }: Found,
  { said, thoughtBefore }: { readonly said: string; readonly thoughtBefore: boolean },
): Change | undefined {
  if (isThinking(block)) return withoutThinking(thoughtBefore ? view.nodes.slice(index) : [node])
  // Text before a call is refused because something is missing: some models want their thinking there.
  const isAnswer = isBlock(block, 'tool_use') || isBlock(block, 'text') || !original
  if (isAnswer && node.blocks.some((one) => isBlock(one.block, 'tool_use'))) {
    const { replace, told } = retoldAnswer(view, index, said)
    const message = told === undefined ? [] : [messageBody({ role: 'user', content: told }, 'tool')]
    return {
      how: 'the answer that holds it goes in plain words',
      bodies: [editOf(view.nodes, replace), ...message],
    }
  }
  const mayGo = original && node.source.standsFor === undefined
  const standIn = mayGo ? standInFor(block, said) : undefined
  return (
    standIn && { how: 'it is left out', bodies: [editOf([node], [{ at, with: [JSON.stringify(standIn)] }])] }
  )
}

/** Removes all thinking of an answer: none of it may be sent in part. */
function withoutThinking(nodes: readonly ViewNode[]): Change | undefined {
  const replace = nodes.flatMap(({ blocks }) =>
    blocks.flatMap(({ at, block, original }) => (original && isThinking(block) ? [{ at, with: [] }] : [])),
  )
  return replace.length === 0 ? undefined : { how: 'it is left out', bodies: [editOf(nodes, replace)] }
}

function editOf(nodes: readonly ViewNode[], replace: EditEntry['replace']): EntryBody<EditEntry> {
  const blocks = nodes.flatMap((node) => node.blocks)
  const freed = replace.map(({ at, with: texts }) => {
    const old = blocks.find((block) => block.at.entry === at.entry && block.at.index === at.index)
    const left = texts.reduce((sum, text) => sum + toViewBlock(at, text, false).tokens, 0)
    return (old?.tokens ?? 0) - left
  })
  const freedTokens = Math.max(
    0,
    freed.reduce((sum, tokens) => sum + tokens, 0),
  )
  return { kind: 'edit', cause: 'forced', replace, drop: [], freedTokens }
}

function standInFor(block: Block, said: string): Block | undefined {
  if (isBlock(block, 'text')) return undefined
  const why = `The provider did not take it: ${said}`
  if (!isBlock(block, 'tool_result'))
    return { type: 'text', text: `[A block of type ${block.type} stood here. ${why}]` }
  const { tool_use_id } = block
  const content = `[The result of this call is left out. ${why}]`
  return { type: 'tool_result', tool_use_id, content, is_error: true }
}
