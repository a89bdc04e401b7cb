import { isJsonObject, type JsonObject } from '../../wire/json.ts'
import type { BoundaryEntry, BoundaryMeta, KeptSegment } from '../entry.ts'
import { openLine, type EntryPlace, type Envelope } from './line-base.ts'
import { choiceField, numberField, objectField, textField, textsField } from './line-fields.ts'

const TRIGGERS = ['auto', 'manual'] as const
const KEEPS = ['tail', 'head'] as const

/** Shown by viewers of such transcripts in place of a boundary. The model never sees it. */
const SHOWN = 'Conversation compacted'

export function encodeBoundary(entry: BoundaryEntry, envelope: Envelope): string {
  const { meta, kept } = entry
  const compactMetadata = {
    trigger: meta.trigger,
    preTokens: meta.preTokens,
    postTokens: meta.postTokens,
    messagesSummarized: meta.messagesSummarized,
    path: meta.path,
    proof: meta.proof,
    discoveredTools: meta.discoveredTools,
    preservedSegment: kept && { headUuid: kept.head, anchorUuid: kept.anchor, tailUuid: kept.tail },
  }
  const start = {
    type: 'system',
    subtype: 'compact_boundary',
    logicalParentUuid: entry.logicalParent,
    content: SHOWN,
    compactMetadata,
  }
  const own = {
    summary: entry.summary,
    keeps: entry.keeps,
    copies: entry.copies,
    attachments: entry.attachments,
    keptOffset: meta.keptOffset,
    prefixOffset: meta.prefixOffset,
    extra: meta.extra,
  }
  return `${openLine(entry, envelope, start, own)}}`
}

/** Another agent's boundary does not name its summary: the summary is the line after it (see `link-summaries.ts`). */
export function decodeBoundary(fields: JsonObject, place: EntryPlace): BoundaryEntry {
  const own = isJsonObject(fields['palimpsest']) ? fields['palimpsest'] : undefined
  const metadata = isJsonObject(fields['compactMetadata']) ? fields['compactMetadata'] : {}
  const kept = keptOf(metadata)
  const { logicalParentUuid } = fields
  return {
    kind: 'boundary',
    ...place,
    summary: own ? textsField(own, 'summary') : [],
    ...(kept && { kept }),
    // A segment that is anchored at the boundary itself is a kept head.
    keeps: own ? choiceField(own, 'keeps', KEEPS) : kept?.anchor === place.id ? 'head' : 'tail',
    ...(own?.['copies'] !== undefined && { copies: textsField(own, 'copies') }),
    attachments: own ? textsField(own, 'attachments') : [],
    logicalParent: typeof logicalParentUuid === 'string' ? logicalParentUuid : null,
    meta: own ? ownMeta(metadata, own) : foreignMeta(metadata),
  }
}

function ownMeta(metadata: JsonObject, own: JsonObject): BoundaryMeta {
  const has = (key: string): boolean => metadata[key] !== undefined
  return {
    trigger: choiceField(metadata, 'trigger', TRIGGERS),
    preTokens: numberField(metadata, 'preTokens'),
    ...(has('postTokens') && { postTokens: numberField(metadata, 'postTokens') }),
    ...(has('messagesSummarized') && { messagesSummarized: numberField(metadata, 'messagesSummarized') }),
    ...(has('path') && { path: textField(metadata, 'path') }),
    ...(has('proof') && { proof: proofOf(objectField(metadata, 'proof')) }),
    ...(has('discoveredTools') && { discoveredTools: textsField(metadata, 'discoveredTools') }),
    ...(own['keptOffset'] !== undefined && { keptOffset: numberField(own, 'keptOffset') }),
    ...(own['prefixOffset'] !== undefined && { prefixOffset: numberField(own, 'prefixOffset') }),
    ...(own['extra'] !== undefined && { extra: objectField(own, 'extra') }),
  }
}

/** Members without our form are kept under `extra`. */
function foreignMeta(metadata: JsonObject): BoundaryMeta {
  const { trigger, preTokens, postTokens, preservedSegment: _, ...extra } = metadata
  return {
    trigger: trigger === 'manual' ? 'manual' : 'auto',
    preTokens: typeof preTokens === 'number' ? preTokens : 0,
    ...(typeof postTokens === 'number' && { postTokens }),
    ...(Object.keys(extra).length > 0 && { extra }),
  }
}

function proofOf(proof: JsonObject) {
  return {
    kept: numberField(proof, 'kept'),
    repaired: numberField(proof, 'repaired'),
    invented: numberField(proof, 'invented'),
  }
}

function keptOf(metadata: JsonObject): KeptSegment | undefined {
  const segment = metadata['preservedSegment']
  if (!isJsonObject(segment)) return undefined
  return {
    head: textField(segment, 'headUuid'),
    tail: textField(segment, 'tailUuid'),
    anchor: textField(segment, 'anchorUuid'),
  }
}
