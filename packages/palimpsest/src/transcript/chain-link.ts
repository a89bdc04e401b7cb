import { isBlock, toBlocks } from '../wire/message.ts'
import type { Entry, EntryId } from './entry.ts'

/** What a chain needs to know about an entry, so that a large file can be walked without decoding its messages. */
export interface ChainLink {
  readonly id: EntryId
  readonly parent: EntryId | null
  readonly kind: Entry['kind']
  readonly sidechain?: boolean
  /** A message of the model. */
  readonly isAnswer?: true
  /** Boundaries only. */
  readonly logicalParent?: EntryId | null
  readonly responseId?: string
  /** Ids of the tool uses and tool results in a message. Unknown if only the head of the line was read. */
  readonly calls?: readonly string[]
  readonly answers?: readonly string[]
}

export function linkOf(entry: Entry): ChainLink {
  const { id, parent, kind, sidechain } = entry
  const link = { id, parent, kind, ...(sidechain && { sidechain }) }
  if (entry.kind === 'boundary') return { ...link, logicalParent: entry.logicalParent }
  if (entry.kind !== 'message') return link
  const blocks = toBlocks(entry.message.content)
  const calls = blocks.filter((block) => isBlock(block, 'tool_use')).map((block) => block.id)
  const answers = blocks.filter((block) => isBlock(block, 'tool_result')).map((block) => block.tool_use_id)
  return {
    ...link,
    ...(entry.message.role === 'assistant' && { isAnswer: true }),
    ...(entry.responseId !== undefined && { responseId: entry.responseId }),
    ...(calls.length > 0 && { calls }),
    ...(answers.length > 0 && { answers }),
  }
}

/**
 * First bytes of a line that contain its head, with ids of usual length, under 130 bytes. A line with a longer head is decoded completely.
 */
export const HEAD_BYTES = 640

const TEXT = '"([^"\\\\]*)"'
const ID = '"([^"\\\\]+)"'
const HEAD = new RegExp(
  `^\\{"type":${TEXT}(?:,"subtype":${TEXT})?,"uuid":${ID},"parentUuid":(?:null|${ID})` +
    `(,"logicalParentUuid":(?:null|${ID}))?,"isSidechain":(true|false),"sessionId":`,
)

/** The link of one of our lines from its first bytes; undefined if they have another form. */
export function linkOfHead(head: string): ChainLink | undefined {
  const match = HEAD.exec(head)
  if (!match) return undefined
  const [, type, subtype, id, parent, logical, logicalParent, sidechain] = match
  if (type === undefined || id === undefined) return undefined
  const kind = kindOf(type, subtype)
  return {
    id,
    parent: parent ?? null,
    kind,
    ...(sidechain === 'true' && { sidechain: true }),
    ...(type === 'assistant' && { isAnswer: true }),
    ...(logical !== undefined && { logicalParent: logicalParent ?? null }),
  }
}

const OWN_KINDS = [
  'prefix',
  'stored',
  'edit',
  'void',
  'pin',
  'notes',
  'mail',
  'spent',
  'title',
] as const satisfies readonly Entry['kind'][]

function kindOf(type: string, subtype: string | undefined): Entry['kind'] {
  if (type === 'user' || type === 'assistant') return 'message'
  if (type === 'system' && subtype === 'compact_boundary') return 'boundary'
  if (type === 'system' && subtype === 'message') return 'message'
  const own = type === 'palimpsest' ? OWN_KINDS.find((kind) => kind === subtype) : undefined
  return own ?? 'other'
}
