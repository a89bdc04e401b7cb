import { chainHash, hashText, linkHash, type Hash } from '../wire/hash.ts'

// A prompt as the provider's cache sees it: positions in the order tools, system, messages, each identified by the hash of everything up to
// and including it. Two prompts share a cached prefix exactly as far as their hashes agree.

export const LEVELS = ['tools', 'system', 'messages'] as const
export type Level = (typeof LEVELS)[number]

/** What else is in the cache key, by the first level that it invalidates. Members are compared by name, so that a miss can name one. */
export type PromptKey = { readonly [level in Level]: { readonly [name: string]: string } }

export interface PromptPart {
  readonly level: Level
  /** Where it is in the request: `tools.0`, `system.1`, `messages.4.content.0`. */
  readonly path: string
  /** Hash of the canonical text: without `cache_control`, string content as one text block. */
  readonly hash: Hash
  readonly tokens: number
  /** Whether it may carry a breakpoint (thinking and empty text may not). */
  readonly cacheable: boolean
}

export interface PromptPosition {
  readonly level: Level
  readonly path: string
  readonly hash: Hash
  /** Tokens up to and including this position. */
  readonly tokens: number
  readonly cacheable: boolean
}

export interface Prompt {
  readonly key: PromptKey
  /**
   * If a later prompt extends all of this one, its further positions follow in the same list. Read nothing after this prompt's own
   * breakpoints.
   */
  readonly positions: readonly PromptPosition[]
  readonly tokens: number
}

/** An earlier prompt whose first `keep` positions are known to be unchanged, so that only what is new is hashed. */
export interface PromptReuse {
  /** All positions of the last layout. If all of them are kept, the list is extended, not copied. */
  readonly positions: PromptPosition[]
  readonly keep: number
}

/** A prompt that another one may extend. */
export interface LaidPrompt extends Prompt {
  readonly positions: PromptPosition[]
}

export function layPrompt(key: PromptKey, parts: Iterable<PromptPart>, reuse?: PromptReuse): LaidPrompt {
  const positions = reuse ? keptPositions(reuse) : []
  const last = positions.at(-1)
  let hash = last?.hash ?? hashText(keyText(key, 'tools'))
  let tokens = last?.tokens ?? 0
  let level = last?.level ?? 'tools'
  for (const part of parts) {
    for (; level !== part.level; level = nextLevel(level))
      hash = chainHash(hash, keyText(key, nextLevel(level)))
    hash = linkHash(hash, part.hash)
    tokens += part.tokens
    positions.push({ level, path: part.path, hash, tokens, cacheable: part.cacheable })
  }
  return { key, positions, tokens }
}

function keptPositions({ positions, keep }: PromptReuse): PromptPosition[] {
  return keep === positions.length ? positions : positions.slice(0, keep)
}

/** How many positions two prompts share from the start. Hashes are cumulative, so a binary search finds it. */
export function commonPositions(a: Prompt, b: Prompt): number {
  let low = 0
  let high = Math.min(a.positions.length, b.positions.length)
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (a.positions[middle - 1]?.hash === b.positions[middle - 1]?.hash) low = middle
    else high = middle - 1
  }
  return low
}

function nextLevel(level: Level): Level {
  return level === 'tools' ? 'system' : 'messages'
}

function keyText(key: PromptKey, level: Level): string {
  const names = Object.keys(key[level]).toSorted()
  return JSON.stringify([level, names.map((name) => [name, key[level][name]])])
}
