import { chainHash, hashText, type Hash } from '../wire/hash.ts'
import { findMember, splitArray } from '../wire/json.ts'
import { isBlock, isThinking } from '../wire/message.ts'
import type { PrefixEntry } from './entry.ts'
import { isBlank, toViewBlock, type ViewBlock } from './view-block.ts'
import type { View, ViewNode } from './view.ts'

// From view to bytes. Walking forward, the hash chain of what is sent grows block by block. An answer's thinking is sent only if the chain
// before it is the one that it was made under. That is computed from the bytes, never declared, so an undo restores thinking automatically.
// What is settled stays settled until a node before it changes. After a signed compaction block two chains count: that of the bytes, and
// that of the conversation that the block represents.

/** How the current model treats thinking. */
export interface ThinkingPolicy {
  readonly model: string
  /** Signatures cover the prefix: a block after another prefix is refused. */
  readonly bindsPrefix: boolean
  readonly readsFrom: readonly string[]
  /** On a new prompt, the provider removes the thinking of earlier turns: it is sent, but neither seen nor counted. */
  readonly dropsEarlierThinking?: boolean
  /** The model accepts no system messages: they are sent as user messages. */
  readonly systemAsUser?: boolean
  /** The model accepts no compaction blocks: their content is sent as user text. */
  readonly compactionAsText?: boolean
}

export interface Settled {
  policy: ThinkingPolicy | undefined
  prefix: PrefixEntry | undefined
  /** Where the chain begins: hash of system prompt and tools. */
  seed: Hash
  /** Per node: the node in the form that the model accepts. */
  readonly nodes: ViewNode[]
  /** Per node: the message as sent, '' if nothing of it is sent. */
  readonly texts: string[]
  /** Per node: the blocks sent. */
  readonly blocks: (readonly ViewBlock[])[]
  /** Before node i, and one more after the last: chain, estimated tokens, joined texts, role of the last message sent. */
  readonly chains: Hash[]
  /** Before node i, and one more: the chain of what a signed block represents and of what was kept after it. */
  readonly stoodFor: (Hash | undefined)[]
  readonly tokens: number[]
  /** Before node i, and one more: estimated tokens of thinking. */
  readonly thought: number[]
  /** Before node i, and one more: index of the node with the user's newest words, 0 before any. Tool results do not count. */
  readonly prompts: number[]
  readonly joined: string[]
  readonly roles: (ViewNode['role'] | undefined)[]
}

export function emptySettled(): Settled {
  return {
    policy: undefined,
    prefix: undefined,
    seed: '',
    nodes: [],
    texts: [],
    blocks: [],
    chains: [],
    stoodFor: [],
    tokens: [],
    thought: [],
    prompts: [],
    joined: [],
    roles: [],
  }
}

/** Nodes from `index` on changed, so their bytes must be computed again. */
export function dropSettled(settled: Settled, index: number): void {
  if (index >= settled.texts.length) return
  settled.nodes.length = index
  settled.texts.length = index
  settled.blocks.length = index
  settled.chains.length = index + 1
  settled.stoodFor.length = index + 1
  settled.tokens.length = index + 1
  settled.thought.length = index + 1
  settled.prompts.length = index + 1
  settled.joined.length = index + 1
  settled.roles.length = index + 1
}

export function settle(view: View, policy: ThinkingPolicy): Settled {
  const settled = view.settled
  if (settled.prefix !== view.prefix || !samePolicy(settled.policy, policy))
    restart(settled, view.prefix, policy)
  for (let i = settled.texts.length; i < view.nodes.length; i++) {
    const node = view.nodes[i]
    if (node) settleNode(settled, node, i)
  }
  return settled
}

/** Chain of everything that would be sent now. An answer to it is made under this hash. */
export function chainEnd(settled: Settled): Hash {
  return settled.chains[settled.texts.length] ?? settled.seed
}

/** Estimated tokens of the messages that would be sent now, as the provider counts them. */
export function tokensEnd(settled: Settled): number {
  return countedTokens(settled, settled.texts.length)
}

/** The same for a request that ends before a node. */
export function countedTokens(settled: Settled, node: number): number {
  return (settled.tokens[node] ?? 0) - (settled.thought[droppedBefore(settled, node)] ?? 0)
}

/** For a request that ends before `node`: the provider drops the thinking of nodes before the returned index. */
export function droppedBefore(
  { policy, prompts }: Pick<Settled, 'policy' | 'prompts'>,
  node: number,
): number {
  return policy?.dropsEarlierThinking ? (prompts[node] ?? 0) : 0
}

export function messageText(node: ViewNode, blocks: readonly string[]): string {
  return `{"role":"${node.role}","content":[${blocks.join(',')}${messageEnd(node)}`
}

/** What comes after the last block of a message. */
export function messageEnd({ extras }: ViewNode): string {
  return `]${extras}}`
}

function settleNode(settled: Settled, viewNode: ViewNode, index: number): void {
  const node = asTaken(viewNode, settled.policy)
  const before = settled.chains[index] ?? settled.seed
  const stoodFor = stoodForAt(settled, node, index)
  const roleBefore = settled.roles[index]
  const sent = node.role !== 'system' || roleBefore === 'user' || roleBefore === 'system'
  const blocks = sent ? sentBlocks(node, [before, stoodFor], settled.policy) : []
  // A system message may consist of settings alone.
  const bare = sent && blocks.length === 0 && node.role === 'system' && node.extras !== ''
  const linked = blocks.map(({ json }, place) => `${node.role}${place === 0 ? node.extras : ''}${json}`)
  const links = bare ? [`${node.role}${node.extras}`] : linked
  let tokens = settled.tokens[index] ?? 0
  let thought = settled.thought[index] ?? 0
  for (const block of blocks) {
    tokens += block.tokens
    if (isThinking(block.block)) thought += block.tokens
  }
  const texts = blocks.map((block) => block.json)
  const text = blocks.length > 0 || bare ? messageText(node, texts) : ''
  settled.nodes.push(node)
  settled.texts.push(text)
  settled.blocks.push(blocks)
  settled.chains.push(links.reduce(chainHash, before))
  settled.stoodFor.push(stoodFor === undefined ? undefined : links.reduce(chainHash, stoodFor))
  settled.tokens.push(tokens)
  settled.thought.push(thought)
  settled.prompts.push(isPrompt(node, blocks) ? index : (settled.prompts[index] ?? 0))
  settled.roles.push(text === '' ? roleBefore : node.role)
  const joined = settled.joined[index] ?? ''
  settled.joined.push(text === '' ? joined : `${joined}${text},`)
}

function isPrompt({ role }: ViewNode, blocks: readonly ViewBlock[]): boolean {
  return role === 'user' && blocks.some(({ block }) => !isBlock(block, 'tool_result'))
}

/** The node in a form that the model accepts. */
function asTaken(node: ViewNode, policy: ThinkingPolicy | undefined): ViewNode {
  if (policy?.systemAsUser && node.role === 'system') return asUser(node)
  return policy?.compactionAsText && node.source.standsFor !== undefined ? asUser(withText(node)) : node
}

function asUser(node: ViewNode): ViewNode {
  return { ...node, role: 'user', extras: '' }
}

/** Replaces a compaction block by its content as plain text. */
function withText(node: ViewNode): ViewNode {
  const blocks = node.blocks.map((one) => {
    if (!isBlock(one.block, 'compaction')) return one
    return toViewBlock(one.at, JSON.stringify({ type: 'text', text: one.block.content ?? '' }), false)
  })
  return { ...node, blocks }
}

/** Directly after a block that vouches for it: the answer's own chain. From there on, what was kept is linked to it. */
function stoodForAt(settled: Settled, { source }: ViewNode, index: number): Hash | undefined {
  const before = settled.nodes[index - 1]
  const vouched = before?.source.standsFor
  if (vouched === undefined || !before?.blocks.every((block) => block.original))
    return settled.stoodFor[index]
  if (source.under === undefined || chainHash(settled.seed, source.under) !== vouched) return undefined
  return source.under
}

function sentBlocks(
  node: ViewNode,
  before: readonly (Hash | undefined)[],
  policy: ThinkingPolicy | undefined,
): readonly ViewBlock[] {
  const present = node.blocks.filter(({ block }) => !isBlank(block))
  if (!present.some((block) => isThinking(block.block))) return present
  return thinkingFits(node, before, policy)
    ? withoutEndingThinking(present)
    : present.filter((block) => !isThinking(block.block))
}

/** An answer that was broken off while thinking ends in thinking; the API refuses such a message. */
function withoutEndingThinking(blocks: readonly ViewBlock[]): readonly ViewBlock[] {
  return blocks.slice(0, blocks.findLastIndex((block) => !isThinking(block.block)) + 1)
}

function thinkingFits(
  node: ViewNode,
  before: readonly (Hash | undefined)[],
  policy: ThinkingPolicy | undefined,
): boolean {
  if (!policy) return false
  const maker = node.source.model ?? policy.model
  if (maker !== policy.model && !policy.readsFrom.includes(maker)) return false
  if (!policy.bindsPrefix) return true
  return node.source.under !== undefined && before.includes(node.source.under) && isIntact(node)
}

/** A later thinking block of an answer is also bound to the answer's own earlier blocks. */
function isIntact(node: ViewNode): boolean {
  const last = node.blocks.findLastIndex((block) => isThinking(block.block))
  return node.blocks.slice(0, last + 1).every(({ block, original }) => original && !isBlank(block))
}

/** Signatures cover system prompt and tools; model, betas and settings are only in the cache key. Deferred tools are in neither. */
function bindingSeed(prefix: PrefixEntry | undefined): Hash {
  if (!prefix) return hashText('')
  const tools = splitArray(prefix.tools).filter((tool) => findMember(tool, 'defer_loading') !== 'true')
  return chainHash(hashText(tools.join()), prefix.system)
}

function restart(settled: Settled, prefix: PrefixEntry | undefined, policy: ThinkingPolicy): void {
  dropSettled(settled, 0)
  settled.policy = policy
  settled.prefix = prefix
  settled.seed = bindingSeed(prefix)
  settled.chains[0] = settled.seed
  settled.stoodFor[0] = undefined
  settled.tokens[0] = 0
  settled.thought[0] = 0
  settled.prompts[0] = 0
  settled.joined[0] = ''
  settled.roles[0] = undefined
}

function samePolicy(a: ThinkingPolicy | undefined, b: ThinkingPolicy): boolean {
  return (
    a?.model === b.model &&
    a.bindsPrefix === b.bindsPrefix &&
    a.readsFrom.join() === b.readsFrom.join() &&
    a.dropsEarlierThinking === b.dropsEarlierThinking &&
    a.systemAsUser === b.systemAsUser &&
    a.compactionAsText === b.compactionAsText
  )
}
