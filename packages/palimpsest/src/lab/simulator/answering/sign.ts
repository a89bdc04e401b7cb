import { hashText, type Hash } from '../../../wire/hash.ts'
import type { Role } from '../../../wire/message.ts'
import { keyedHash } from './keyed-hash.ts'

// Signatures of thinking and compaction blocks. A thinking signature has two tags: one over the block itself, and one over the
// conversation before it, so that we can tell a changed block from a changed conversation.

const THINKING_MARK = 'sim-thinking-1'
const COMPACTION_MARK = 'sim-compaction-1'
const SEPARATOR = '|'

export interface ThinkingOrigin {
  readonly model: string
  readonly account: string
}

export interface SignedThinking extends ThinkingOrigin {
  /** Whether the block's own text is what was signed. */
  readonly intact: boolean
  readonly prefixTag: string
}

export function signThinking(key: string, origin: ThinkingOrigin, text: string, chain: Hash): string {
  const self = selfTag(key, origin, text)
  return seal([THINKING_MARK, origin.model, origin.account, self, prefixTag(key, self, chain)])
}

/** Undefined for a signature that this key did not make. */
export function openThinking(key: string, signature: string, text: string): SignedThinking | undefined {
  const [mark, model, account, self, prefix] = unseal(signature)
  if (mark !== THINKING_MARK || model === undefined || account === undefined) return undefined
  if (self === undefined || prefix === undefined) return undefined
  const intact = self === selfTag(key, { model, account }, text)
  return { model, account, intact, prefixTag: prefix }
}

/** Whether a block with this signature was made after `chain`. */
export function isBoundTo(key: string, signature: SignedThinking, text: string, chain: Hash): boolean {
  return signature.prefixTag === prefixTag(key, selfTag(key, signature, text), chain)
}

/** What a compaction block records about the messages that it replaces. */
export interface CompactedRange {
  /** Chain over tools and system. */
  readonly head: Hash
  /** Chain over everything up to the last summarized message. */
  readonly end: Hash
  readonly lastRole: Role
}

export interface OpenedCompaction extends CompactedRange {
  readonly contentIntact: boolean
  readonly changesIntact: boolean
}

export function signCompaction(key: string, range: CompactedRange, content: string, changes: string): string {
  const base = rangeTag(key, range)
  const tags = [base, tag(key, [base, 'content', content]), tag(key, [base, 'changes', changes])]
  return seal([COMPACTION_MARK, range.head, range.end, range.lastRole, ...tags])
}

export function openCompaction(
  key: string,
  signature: string,
  content: string,
  changes: string,
): OpenedCompaction | undefined {
  const [mark, head, end, lastRole, base, contentTag, changesTag] = unseal(signature)
  if (mark !== COMPACTION_MARK || head === undefined || end === undefined) return undefined
  if (lastRole !== 'user' && lastRole !== 'assistant' && lastRole !== 'system') return undefined
  const range: CompactedRange = { head, end, lastRole }
  if (base === undefined || base !== rangeTag(key, range)) return undefined
  return {
    ...range,
    contentIntact: contentTag === tag(key, [base, 'content', content]),
    changesIntact: changesTag === tag(key, [base, 'changes', changes]),
  }
}

function selfTag(key: string, { model, account }: ThinkingOrigin, text: string): string {
  return tag(key, ['self', model, account, text])
}

function prefixTag(key: string, self: string, chain: Hash): string {
  return tag(key, ['prefix', self, chain])
}

function rangeTag(key: string, { head, end, lastRole }: CompactedRange): string {
  return tag(key, ['range', head, end, lastRole])
}

function tag(key: string, fields: readonly string[]): string {
  return keyedHash(key, hashText(fields.join(SEPARATOR)))
}

function seal(fields: readonly string[]): string {
  return btoa(fields.join(SEPARATOR))
}

function unseal(signature: string): readonly (string | undefined)[] {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(signature)) return []
  try {
    return atob(signature).split(SEPARATOR)
  } catch {
    // Not base64, so not ours: the caller's rule refuses it.
    return []
  }
}
