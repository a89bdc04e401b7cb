import type { PromptKey, PromptPart } from '../ledger/prompt.ts'
import { estimateText } from '../tokens/estimate.ts'
import type { PrefixEntry } from '../transcript/entry.ts'
import { hashText } from '../wire/hash.ts'
import { findMember, splitArray, withoutMember, type JsonText } from '../wire/json.ts'
import type { PromptHead } from './lay-request.ts'

const heads = new WeakMap<PrefixEntry, PromptHead>()

/** What comes before the messages, as the ledger sees it. An entry never changes, so it is laid out once. */
export function promptHead(prefix: PrefixEntry): PromptHead {
  const head = heads.get(prefix) ?? layHead(prefix)
  heads.set(prefix, head)
  return head
}

/** System and tools of another agent's session: not recorded, so one position of unknown size. */
export function hiddenHead(model: string): PromptHead {
  const part: PromptPart = {
    level: 'system',
    path: 'system.0',
    hash: hashText('hidden'),
    tokens: 0,
    cacheable: true,
  }
  return { key: { tools: { model }, system: {}, messages: {} }, parts: [part], breakpoint: 0 }
}

function layHead(prefix: PrefixEntry): PromptHead {
  const tools = splitArray(prefix.tools).flatMap((tool, i) =>
    findMember(tool, 'defer_loading') === 'true' ? [] : [partOf('tools', i, tool)],
  )
  const system = splitArray(prefix.system).map((block, i) => partOf('system', i, block))
  const parts = [...tools, ...system]
  return { key: keyOf(prefix), parts, breakpoint: system.length > 0 ? parts.length - 1 : undefined }
}

function partOf(level: 'tools' | 'system', index: number, text: JsonText): PromptPart {
  const bare = withoutMember(text, 'cache_control')
  return {
    level,
    path: `${level}.${index}`,
    hash: hashText(bare),
    tokens: estimateText(bare),
    cacheable: true,
  }
}

function keyOf({ model, betas, parameters }: PrefixEntry): PromptKey {
  const { speed, ...others } = parameters
  return {
    tools: { model, betas: betas.toSorted().join(',') },
    system: speed === undefined ? {} : { speed },
    messages: others,
  }
}
