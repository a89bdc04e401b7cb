import type { PromptPart } from '../../../ledger/prompt.ts'
import {
  isBlock,
  isThinking,
  toBlocks,
  type CompactionBlock,
  type ThinkingBlock,
} from '../../../wire/message.ts'
import type { RedactedThinkingBlock } from '../../../wire/message.ts'
import { findModelFacts, type ModelFacts } from '../../../wire/model-facts.ts'
import type { MessagesRequest } from '../../../wire/request.ts'
import type { InputTransformation } from '../../../wire/response.ts'
import { prefixesAt, pushBlock, pushCompaction, startChain, type PrefixChain } from './prefix-chain.ts'
import { refuse, type Refusal } from '../refusal.ts'
import { isBoundTo, openCompaction, openThinking, type CompactedRange } from '../answering/sign.ts'
import type { Switches } from '../switches.ts'

// Checks every thinking and compaction block of a request against the conversation around it.

export interface BindingInput {
  readonly request: MessagesRequest
  /** The request's parts as sent. */
  readonly parts: readonly PromptPart[]
  readonly facts: ModelFacts
  readonly account: string
  readonly key: string
  readonly switches: Switches
}

export interface Binding {
  /** The chain after the request, for signing what follows. */
  readonly chain: PrefixChain
  /** Paths of thinking blocks that the model does not see. */
  readonly dropped: ReadonlySet<string>
  readonly transformations: readonly InputTransformation[]
}

type Verdict = 'read' | Refusal | Omit<InputTransformation, 'path'>

export function checkBinding(input: BindingInput): Binding | Refusal {
  const { request, parts, switches } = input
  const chain = startChain(parts, switches.boundInMessage)
  const dropped = new Set<string>()
  const transformations: InputTransformation[] = []
  const latest = request.messages.findLastIndex(({ role }) => role === 'assistant')
  let at = parts.findIndex(({ level }) => level === 'messages')
  for (const [i, { role, content }] of request.messages.entries()) {
    const blocks = toBlocks(content)
    if (blocks.length === 0) pushBlock(chain, role, parts[at++]?.hash ?? '', false)
    for (const block of blocks) {
      const { hash, path } = parts[at++] ?? { hash: '', path: '' }
      if (isBlock(block, 'compaction')) {
        const refusal = passCompaction(input, chain, block, { role, hash, path })
        if (refusal) return refusal
        continue
      }
      if (!isThinking(block)) {
        pushBlock(chain, role, hash, false)
        continue
      }
      const verdict = judgeThinking(input, block, prefixesAt(chain, role), { path, isLatest: i === latest })
      if (verdict !== 'read') {
        if ('rule' in verdict) return verdict
        transformations.push({ ...verdict, path })
        if (verdict.type === 'thinking_dropped') dropped.add(path)
      }
      pushBlock(chain, role, hash, true)
    }
  }
  return { chain, dropped, transformations }
}

function judgeThinking(
  input: BindingInput,
  block: ThinkingBlock | RedactedThinkingBlock,
  prefixes: readonly string[],
  { path, isLatest }: { readonly path: string; readonly isLatest: boolean },
): Verdict {
  const { key, facts, switches, account } = input
  const [text, signature] = block.type === 'thinking' ? [block.thinking, block.signature] : ['', block.data]
  const signed = openThinking(key, signature, text)
  if (!signed) return switches.foreignSignatures === 'accept' ? 'read' : refuse('thinking.foreign', { path })
  if (!signed.intact) return refuse(isLatest ? 'thinking.modified' : 'thinking.foreign', { path })
  if (signed.model !== facts.id && !facts.thinking.readsFrom.includes(signed.model))
    return { type: 'thinking_dropped', reason: 'model_binding_mismatch' }
  const producer = signed.model === facts.id ? facts : findModelFacts(signed.model)
  if (producer?.thinking.bindsAccount && signed.account !== account)
    return switches.accountMismatch === 'error'
      ? refuse('thinking.other-account', { path })
      : { type: 'thinking_dropped', reason: 'organization_binding_mismatch' }
  if (!producer?.thinking.bindsPrefix) return 'read'
  if (prefixes.some((prefix) => isBoundTo(key, signed, text, prefix))) return 'read'
  switch (mismatchBehavior(input)) {
    case 'error':
      return refuse('thinking.other-conversation', { path })
    case 'drop_block':
      return { type: 'thinking_dropped', reason: 'prefix_binding_mismatch' }
    case 'allow':
      return { type: 'thinking_mismatch_allowed', reason: 'prefix_binding_mismatch' }
  }
}

/** For these models the check applies to every account, however old. */
const CHECKED_FOR_ALL: readonly string[] = ['claude-fable-5-2', 'claude-mythos-5-2']

/** The request's setting, otherwise the account's. */
function mismatchBehavior({ request, switches, facts }: BindingInput): Switches['prefixMismatch'] {
  const { thinking } = request
  const asked = thinking && 'block_binding' in thinking ? thinking.block_binding : undefined
  if (asked?.prefix_mismatch_behavior) return asked.prefix_mismatch_behavior
  const exempt = switches.prefixMismatch === 'allow' && !CHECKED_FOR_ALL.includes(facts.id)
  return exempt || switches.prefixMismatch !== 'allow' ? switches.prefixMismatch : 'error'
}

interface BlockPlace {
  readonly role: 'user' | 'assistant' | 'system'
  readonly hash: string
  readonly path: string
}

/** A block without content is ignored; one without a signature comes from threshold compaction, which the server trusts. */
function passCompaction(
  input: BindingInput,
  chain: PrefixChain,
  block: CompactionBlock,
  { role, hash, path }: BlockPlace,
): Refusal | undefined {
  if (block.content === undefined || block.content === null) return undefined
  if (!block.signature) {
    pushCompaction(chain, role, hash, undefined)
    return undefined
  }
  const range = openRange(input.key, block, path)
  if ('rule' in range) return range
  pushCompaction(chain, role, hash, range)
  return undefined
}

function openRange(key: string, block: CompactionBlock, path: string): CompactedRange | Refusal {
  const changes = JSON.stringify(block.tool_changes ?? [])
  const opened = openCompaction(key, block.signature ?? '', block.content ?? '', changes)
  if (!opened) return refuse('compaction.signature', { path })
  if (!opened.contentIntact) return refuse('compaction.content', { path })
  return opened.changesIntact ? opened : refuse('compaction.tool-changes', { path })
}
