import type { Origin } from '../../transcript/entry.ts'
import type { Evidence } from './evidence.ts'
import { findLineage } from './lineage.ts'
import { memoryText, type MemorySource, type MemoryType, type Trust } from './memory.ts'
import type { MemoryMode } from './policy.ts'

// Judges what a model wants to remember. The model sees everything and may propose anything; whether it is written is decided here.

export interface Proposal {
  /** Name of the memory that it replaces, or a wish for a name. */
  readonly name?: string | undefined
  readonly description: string
  readonly type: MemoryType
  readonly body: string
  /** Ids of the messages that it rests on. */
  readonly messages: readonly string[]
  /** Names of memories that no longer hold because of it. */
  readonly ends?: readonly string[] | undefined
}

export interface Situation {
  readonly session: string
  readonly evidence: readonly Evidence[]
  /** If no messages are named, only evidence from this index on counts. */
  readonly since: number
  readonly mode: MemoryMode
  /** What was found in the text that must not be stored. */
  readonly secrets: readonly string[]
}

export type Verdict =
  | { readonly kind: 'write'; readonly trust: Trust; readonly source: readonly MemorySource[] }
  | { readonly kind: 'queue'; readonly why: string; readonly source: readonly MemorySource[] }
  | { readonly kind: 'refuse'; readonly why: string }

/** Longer texts are notes or documents. */
export const PROPOSAL_CHARS_MAX = 8_000

export function judgeProposal(proposal: Proposal, situation: Situation): Verdict {
  const { mode, secrets, evidence, since, session } = situation
  if (mode === 'off' || mode === 'read-only')
    return { kind: 'refuse', why: `memory is ${mode === 'off' ? 'off' : 'read-only'} (setting memory.mode)` }
  const text = memoryText(proposal)
  if (text.length > PROPOSAL_CHARS_MAX)
    return { kind: 'refuse', why: `it has over ${PROPOSAL_CHARS_MAX} characters: a memory is one fact` }
  if (secrets.length > 0) return { kind: 'refuse', why: secretText(secrets) }
  const lineage = findLineage(text, evidence, { named: proposal.messages, since })
  const sourceOf = (ids: readonly string[]): readonly MemorySource[] =>
    ids
      .filter((id) => id !== '')
      .slice(0, SOURCES_MAX)
      .map((message) => ({ session, message }))
  switch (lineage.kind) {
    case 'empty':
      return { kind: 'refuse', why: 'it says nothing that could be looked up' }
    case 'unsaid':
      return {
        kind: 'queue',
        why: whyUnsaid(lineage.words),
        source: [],
      }
    case 'opposite':
      return { kind: 'queue', why: 'the conversation says the opposite', source: [] }
    case 'foreign':
      if (lineage.origin === 'engine')
        return { kind: 'refuse', why: 'instruction files or the environment say it already' }
      return {
        kind: 'queue',
        why: `it rests on ${ORIGIN_WORDS[lineage.origin]} only`,
        source: sourceOf(lineage.ids),
      }
    case 'said': {
      const source = sourceOf(lineage.ids)
      if (mode === 'ask') return { kind: 'queue', why: 'memory.mode is "ask"', source }
      return { kind: 'write', trust: lineage.trust, source }
    }
    default:
      return lineage satisfies never
  }
}

export function secretText(secrets: readonly string[]): string {
  return `it holds a secret (${secrets.join(', ')}), and secrets are not stored`
}

function whyUnsaid(words: readonly string[]): string {
  if (words.length === 0) return 'the messages that it names do not say it'
  return `nobody said it in the conversation: ${words.slice(0, WORDS_SHOWN).join(', ')}`
}

const WORDS_SHOWN = 5
/** More sources do not make a fact more certain. */
const SOURCES_MAX = 8

const ORIGIN_WORDS: { readonly [origin in Origin]: string } = {
  user: 'the user’s words',
  model: 'the model’s words',
  tool: 'the output of a tool',
  web: 'a page from the web',
  mcp: 'the output of an MCP server',
  memory: 'another memory',
  recall: 'what Recall returned',
  hook: 'the output of a hook',
  peer: 'a message of another agent',
  engine: 'text that Palimpsest wrote',
}
