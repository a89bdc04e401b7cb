import { hashText, type Hash } from '../wire/hash.ts'

// What a message of the owner says, whoever copied it. Where breakpoints stand, in which order members come, whether a text is a string or
// one block, and members that say nothing make no other message of it.

/** A message as its owner has it: of either major of the SDK, or plain. */
export interface OwnerMessage {
  readonly role: 'user' | 'assistant' | 'system'
  readonly content?: string | readonly object[]
}

export function keyOf({ role, content }: OwnerMessage): Hash {
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? [])
  return hashText(`${role}${blocks.map(blockText).join()}`)
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
  /** Content, blocks, their texts and contents, in order. */
  readonly leaves: readonly unknown[]
  readonly key: Hash
}

export function look(message: OwnerMessage): SeenMessage {
  const leaves: unknown[] = []
  walk(message, (leaf) => {
    leaves.push(leaf)
    return true
  })
  return { object: message, leaves, key: keyOf(message) }
}

/**
 * The same object with the same texts on it: no need to look at them again. Whoever changes a message in place is noticed, but for the
 * inside of a call's input.
 */
export function isUnchanged({ object, leaves }: SeenMessage, message: OwnerMessage): boolean {
  if (object !== message) return false
  let at = 0
  return walk(message, (leaf) => leaves[at++] === leaf) && at === leaves.length
}

/** Whether every leaf satisfied `visit`. */
function walk({ role, content }: OwnerMessage, visit: (leaf: unknown) => boolean): boolean {
  if (!visit(role) || !visit(content)) return false
  return typeof content === 'string' || content === undefined || walkBlocks(content, visit)
}

function walkBlocks(blocks: readonly object[], visit: (leaf: unknown) => boolean): boolean {
  if (!visit(blocks.length)) return false
  for (const block of blocks) {
    if (!visit(block)) return false
    if ('text' in block && !visit(block.text)) return false
    if ('input' in block && !visit(block.input)) return false
    if ('source' in block && !visit(block.source)) return false
    if (!('content' in block)) continue
    const { content } = block
    if (!visit(content)) return false
    if (Array.isArray(content) && !walkBlocks(content.filter(isObject), visit)) return false
  }
  return true
}
