import { hashText, type Hash } from '../wire/hash.ts'
import { UsageError } from '../errors.ts'
import { marksOn, type BlockMark } from './block-marks.ts'
import { mended } from './owner-blocks.ts'

// What a message of the owner says, whoever copied it. It stays the same message wherever breakpoints are, in whichever order members come,
// whether a text is a string or one block, and with or without members that say nothing.

/** A message as its owner has it: of either major version of the SDK, or plain. */
export interface OwnerMessage {
  readonly role: 'user' | 'assistant' | 'system'
  readonly content?: string | readonly object[]
}

export function keyOf({ role, content }: OwnerMessage): Hash {
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content)
  return hashText(`${role}${blocks.map((block) => blockText(mended(block))).join()}`)
}

/** A caller without types may pass anything; errors are reported where it is read. */
function listOf(content: unknown): readonly object[] {
  return Array.isArray(content) ? content.filter(isObject) : []
}

/** Not part of what a block says. */
const MARK = 'cache_control'

function blockText(block: object): string {
  const members = Object.entries(block)
    .filter(([name, value]) => name !== MARK && !saysNothing(name, value))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([name, value]) => `${JSON.stringify(name)}:${memberText(name, value)}`).join()}}`
}

/** The same as without the member: answers carry some that their owners leave out. */
function saysNothing(name: string, value: unknown): boolean {
  if (value === null || value === undefined) return true
  if (name === 'is_error') return value === false
  if (name === 'citations') return Array.isArray(value) && value.length === 0
  return name === 'caller' && isObject(value) && 'type' in value && value.type === 'direct'
}

/** The content of a result has blocks again; an input is any data, and nothing of it is left out. */
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

/** A message as it was when we last looked at it: the object, and what it consists of. */
export interface SeenMessage {
  readonly object: OwnerMessage
  /** Role, content, blocks, their texts, contents and breakpoints, in order. */
  readonly leaves: readonly unknown[]
  readonly key: Hash
  /** Its breakpoints, by block. */
  readonly marks: readonly BlockMark[]
}

/** `place` is its index in the history, for error messages. */
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
 * The same object with the same texts, so there is no need to look at it again. A message that was changed in place is noticed, except
 * inside the input of a call.
 */
export function isUnchanged({ object, leaves }: SeenMessage, message: OwnerMessage): boolean {
  if (object !== message || leaves[0] !== message.role || leaves[1] !== message.content) return false
  const { content } = message
  if (typeof content === 'string' || content === undefined) return true
  return compare(content, leaves, HEAD_LEAVES) === leaves.length
}

/** The members that hold a block's content. */
interface LooseBlock {
  readonly text?: unknown
  readonly input?: unknown
  readonly source?: unknown
  readonly content?: unknown
  readonly cache_control?: unknown
}

/** Role and content. */
const HEAD_LEAVES = 2
/** The block itself, and its five members. */
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

/** The place in `leaves` after those of these blocks; -1 if they differ. */
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
