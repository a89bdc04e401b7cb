import { hashText, type Hash } from '../wire/hash.ts'
import { UsageError } from '../errors.ts'
import { marksOn, type BlockMark } from './block-marks.ts'
import { mended } from './owner-blocks.ts'

// What a message of the owner says, whoever copied it. Where breakpoints stand, in which order members come, whether a text is a string or
// one block, and members that say nothing make no other message of it.

/** A message as its owner has it: of either major of the SDK, or plain. */
export interface OwnerMessage {
  readonly role: 'user' | 'assistant' | 'system'
  readonly content?: string | readonly object[]
}

export function keyOf({ role, content }: OwnerMessage): Hash {
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content)
  return hashText(`${role}${blocks.map((block) => blockText(mended(block))).join()}`)
}

/** Whoever has no types may give what he likes; what is wrong with it is said where it is read. */
function listOf(content: unknown): readonly object[] {
  return Array.isArray(content) ? content.filter(isObject) : []
}

/** No part of what a block says. */
const MARK = 'cache_control'

function blockText(block: object): string {
  const members = Object.entries(block)
    .filter(([name, value]) => name !== MARK && !saysNothing(name, value))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([name, value]) => `${JSON.stringify(name)}:${memberText(name, value)}`).join()}}`
}

/** As it is without the member: answers carry some that their owners leave out. */
function saysNothing(name: string, value: unknown): boolean {
  if (value === null || value === undefined) return true
  if (name === 'is_error') return value === false
  if (name === 'citations') return Array.isArray(value) && value.length === 0
  return name === 'caller' && isObject(value) && 'type' in value && value.type === 'direct'
}

/** The content of a result is blocks again; an input is any data, of which nothing is left out. */
function memberText(name: string, value: unknown): string {
  if (name !== 'content') return sortedText(value)
  if (typeof value === 'string') return `[${blockText({ type: 'text', text: value })}]`
  return Array.isArray(value) ? `[${value.filter(isObject).map(blockText).join()}]` : sortedText(value)
}

function sortedText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(sortedText).join()}]`
  if (!isObject(value)) return JSON.stringify(value) ?? 'null'
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${sortedText(member)}`).join()}}`
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** A message as it was when it was looked at: the object, and what hangs on it. */
export interface SeenMessage {
  readonly object: OwnerMessage
  /** Content, blocks, their texts, contents and breakpoints, in order. */
  readonly leaves: readonly unknown[]
  readonly key: Hash
  /** Its breakpoints, by block. */
  readonly marks: readonly BlockMark[]
}

/** `place` is where it stands, for an error that says so. */
export function look(message: OwnerMessage, place: number): SeenMessage {
  const given: unknown = message
  if (!isObject(given))
    throw new UsageError(`messages[${place}] is ${String(given)}: give a message with a role and content.`)
  const { content }: { content?: unknown } = given
  if (content === undefined || (typeof content !== 'string' && !isBlocks(content)))
    throw new UsageError(
      `The content of messages[${place}] is neither a text nor a list of blocks: give one of them.`,
    )
  return { object: message, leaves: leavesOf(message), key: keyOf(message), marks: marksOn(message.content) }
}

/**
 * The same object with the same texts on it: no need to look at them again. Whoever changes a message in place is noticed, but for the
 * inside of a call's input.
 */
export function isUnchanged({ object, leaves }: SeenMessage, message: OwnerMessage): boolean {
  if (object !== message || leaves[0] !== message.role || leaves[1] !== message.content) return false
  const { content } = message
  if (typeof content === 'string' || content === undefined) return true
  return compare(content, leaves, HEAD_LEAVES) === leaves.length
}

/** What a block has its words in. */
interface LooseBlock {
  readonly text?: unknown
  readonly input?: unknown
  readonly source?: unknown
  readonly content?: unknown
  readonly cache_control?: unknown
}

/** Role and content. */
const HEAD_LEAVES = 2
/** The block itself, and its five. */
const BLOCK_LEAVES = 6

function leavesOf({ role, content }: OwnerMessage): readonly unknown[] {
  const leaves: unknown[] = [role, content]
  if (typeof content !== 'string' && content !== undefined) addLeaves(content, leaves)
  return leaves
}

function addLeaves(blocks: readonly LooseBlock[], leaves: unknown[]): void {
  leaves.push(blocks.length)
  for (const block of blocks) {
    const { text, input, source, content, cache_control: control } = block
    leaves.push(block, text, input, source, control, content)
    if (isBlocks(content)) addLeaves(content, leaves)
  }
}

/** How far the leaves are those of these blocks; -1 where they are not. */
function compare(blocks: readonly LooseBlock[], leaves: readonly unknown[], from: number): number {
  if (leaves[from] !== blocks.length) return -1
  let at = from + 1
  for (let i = 0; i < blocks.length; i++) {
    const block = blocks[i]
    if (!block || leaves[at] !== block || leaves[at + 1] !== block.text || leaves[at + 2] !== block.input)
      return -1
    if (leaves[at + 3] !== block.source || leaves[at + 4] !== block.cache_control) return -1
    const { content } = block
    if (leaves[at + 5] !== content) return -1
    at += BLOCK_LEAVES
    if (!isBlocks(content)) continue
    at = compare(content, leaves, at)
    if (at < 0) return -1
  }
  return at
}

function isBlocks(content: unknown): content is readonly LooseBlock[] {
  return Array.isArray(content) && content.every(isObject)
}
