import type { EntryBody } from '../situation/session.ts'
import type { PrefixEntry } from '../transcript/entry.ts'
import type { JsonText } from '../wire/json.ts'
import { withoutMark } from './block-marks.ts'
import { marksInList, type Mark } from './breakpoint-marks.ts'
import type { OwnerMessage } from './owner-message.ts'

// What an owner asks for besides the history: what comes before the messages in the provider's cache key, and the rest, which passes
// through.

/** The input of `prepare`: parameters of `messages.create`, of either major version of the SDK, streaming or not, beta or not. */
export interface PrepareInput {
  readonly messages: readonly OwnerMessage[]
  readonly max_tokens: number
  /** Absent: the context's own. */
  readonly model?: string | undefined
  readonly system?: string | readonly object[] | undefined
  readonly tools?: readonly object[] | undefined
}

/** A request without its messages. */
export interface OwnerHead {
  readonly prefix: EntryBody<PrefixEntry>
  readonly maxTokens: number
  /** Members that are passed on as they are. */
  readonly others: { readonly [member: string]: unknown }
  readonly marks: readonly Mark[]
}

/** Members that are part of the cache key, besides model, tools and system. */
const KEYED = [
  'thinking',
  'tool_choice',
  'output_config',
  'output_format',
  'context_management',
  'speed',
  'container',
  'mcp_servers',
]

export function headOf(input: PrepareInput, defaultModel: string): OwnerHead {
  const { messages: _, max_tokens: maxTokens, model = defaultModel, system, tools, ...rest } = input
  const others: OwnerHead['others'] = { ...rest }
  const { betas } = others
  return {
    prefix: {
      kind: 'prefix',
      model,
      betas: Array.isArray(betas) ? betas.filter((beta) => typeof beta === 'string') : [],
      system: listText(systemBlocks(system)),
      tools: listText(tools ?? []),
      parameters: Object.fromEntries(KEYED.flatMap((name) => parameterOf(name, others[name]))),
      reason: 'asked',
    },
    maxTokens,
    others,
    marks: [...marksInList(0, tools), ...marksInList(1, system)],
  }
}

/** Whether the provider's cache would treat them as the same. */
export function isSamePrefix(a: EntryBody<PrefixEntry> | undefined, b: EntryBody<PrefixEntry>): boolean {
  return a !== undefined && keyOfPrefix(a) === keyOfPrefix(b)
}

function keyOfPrefix({ model, betas, system, tools, parameters }: EntryBody<PrefixEntry>): string {
  return JSON.stringify([model, betas, system, tools, parameters])
}

/** The provider refuses a block without text. */
function systemBlocks(system: PrepareInput['system']): readonly object[] {
  if (typeof system !== 'string') return system ?? []
  return system === '' ? [] : [{ type: 'text', text: system }]
}

function listText(list: readonly object[]): JsonText {
  return JSON.stringify(list.map(withoutMark))
}

function parameterOf(name: string, value: unknown): readonly (readonly [string, JsonText])[] {
  const text = value === undefined || value === null ? undefined : JSON.stringify(value)
  return text === undefined ? [] : [[name, text]]
}
