import type { PromptPart } from '../../../ledger/prompt.ts'
import { hashText, linkHash, type Hash } from '../../../wire/hash.ts'
import type { Role } from '../../../wire/message.ts'
import type { CompactedRange } from '../answering/sign.ts'
import type { Switches } from '../switches.ts'

// What a thinking signature covers: tools, system and every earlier message position as sent. Positions are those of the cache ledger:
// `cache_control`, deferred tools and the billing header are left out, string content is one text block, and neighbors of one role are
// one turn. The cache key (model, betas, settings) is not part of it.

const START: Hash = hashText('conversation')

interface Track {
  /** Everything so far. */
  all: Hash
  /** Everything before the current turn, and the turn's thinking so far. */
  turn: Hash
}

/** Mutable: it belongs to the code that walks the request. */
export interface PrefixChain {
  readonly covers: Switches['boundInMessage']
  /** Only tools and system. */
  readonly head: Hash
  /** The conversation as sent and, after a signed compaction block, the one that the block replaces. */
  tracks: Track[]
  role: Role | undefined
  /** What a compaction block right before this point replaces. */
  compacted: CompactedRange | undefined
}

/** The chain over tools and system. `parts` may continue with messages; they are ignored. */
export function startChain(parts: readonly PromptPart[], covers: Switches['boundInMessage']): PrefixChain {
  let head = START
  for (const part of parts) {
    if (part.level === 'messages') break
    head = linkHash(head, part.hash)
  }
  return { covers, head, tracks: [{ all: head, turn: head }], role: undefined, compacted: undefined }
}

/** The prefixes that a block of `role` would follow now. After a compaction block there can be two. */
export function prefixesAt(chain: PrefixChain, role: Role): readonly Hash[] {
  enterTurn(chain, role)
  return chain.tracks.map((track) => (chain.covers === 'blocks' ? track.all : track.turn))
}

/** The prefix that a new block is signed with. */
export function prefixToSign(chain: PrefixChain, role: Role): Hash {
  return prefixesAt(chain, role)[0] ?? chain.head
}

export function pushBlock(chain: PrefixChain, role: Role, hash: Hash, isThinking: boolean): void {
  enterTurn(chain, role)
  for (const track of chain.tracks) {
    track.all = linkHash(track.all, hash)
    if (isThinking) track.turn = linkHash(track.turn, hash)
  }
}

/** Drops everything before a compaction block; if it is signed, thinking in the kept messages after it stays valid too. */
export function pushCompaction(
  chain: PrefixChain,
  role: Role,
  hash: Hash,
  range: CompactedRange | undefined,
): void {
  const own = linkHash(chain.head, hash)
  chain.role = role
  chain.tracks = [{ all: own, turn: own }]
  chain.compacted = range && range.head === chain.head ? range : undefined
  if (chain.compacted) chain.tracks.push({ all: chain.compacted.end, turn: chain.compacted.end })
}

/** The chain over everything sent so far. */
export function endOf(chain: PrefixChain): Hash {
  return chain.tracks[0]?.all ?? chain.head
}

function enterTurn(chain: PrefixChain, role: Role): void {
  if (chain.compacted) {
    if (!continues(chain.compacted, role)) chain.tracks.length = 1
    chain.compacted = undefined
  }
  if (chain.role === role) return
  chain.role = role
  for (const track of chain.tracks) track.turn = track.all
}

/** Kept messages continue the summarized ones only if they do not merge with the last of them. */
function continues(range: CompactedRange, role: Role): boolean {
  return role !== range.lastRole && role !== 'system'
}
