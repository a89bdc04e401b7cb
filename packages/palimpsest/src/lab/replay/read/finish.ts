import type { Entry, EntryId, MessageEntry } from '../../../transcript/entry.ts'
import { isBlock, toBlocks } from '../../../wire/message.ts'
import type { Usage } from '../../../wire/usage.ts'
import { resolveChains } from './chain.ts'
import type { ChainNode } from './link.ts'
import type {
  RecordedClearing,
  RecordedFormat,
  RecordedResponse,
  RecordedSession,
  UnansweredToolUse,
} from './recorded-session.ts'
import type { Tally } from './tally.ts'

// What all formats share once their lines are nodes.

/** What a reader has collected when the file ends. */
export interface Gathered {
  readonly format: RecordedFormat
  readonly sessionId: string
  readonly system?: string
  readonly nodes: readonly ChainNode[]
  readonly clearings: readonly RecordedClearing[]
  readonly tally: Tally
}

export function finishSession(gathered: Gathered): RecordedSession {
  const { nodes, tally } = gathered
  const chains = resolveChains(nodes, tally)
  const pairs = findPairs(chains.main)
  const lines = new Map(nodes.map((node) => [node.id, node.line]))
  for (const { entry, toolUseId } of pairs.orphans)
    tally.note(
      lines.get(entry) ?? 0,
      `a result for ${toolUseId}, whose tool use was never written: it is kept, and not sent`,
    )
  for (const entry of findUnasked(chains.main))
    tally.note(
      lines.get(entry) ?? 0,
      'an answer right after another: what stood between them, such as a tool use and its result, was never written',
    )
  const responses = [
    ...findResponses(chains.main, 'main'),
    ...chains.branches.flatMap((branch) => findResponses(branch.entries, 'branch')),
    ...chains.sidechains.flatMap((branch) => findResponses(branch.entries, 'sidechain')),
  ]
  return {
    format: gathered.format,
    sessionId: gathered.sessionId,
    models: [...new Set(responses.map((response) => response.model).filter((model) => model !== ''))],
    ...(gathered.system !== undefined && { system: gathered.system }),
    entries: chains.main,
    branches: chains.branches,
    sidechains: chains.sidechains,
    responses: inFileOrder(responses, lines),
    unanswered: pairs.unanswered,
    clearings: gathered.clearings,
    account: tally.account(),
    problems: tally.problems(),
  }
}

interface Pairs {
  readonly unanswered: readonly UnansweredToolUse[]
  readonly orphans: readonly { readonly entry: EntryId; readonly toolUseId: string }[]
}

export function findPairs(entries: readonly Entry[]): Pairs {
  const open = new Map<string, UnansweredToolUse>()
  const orphans: { entry: EntryId; toolUseId: string }[] = []
  for (const entry of entries) {
    if (entry.kind !== 'message') continue
    for (const block of toBlocks(entry.message.content)) {
      if (isBlock(block, 'tool_use'))
        open.set(block.id, { entry: entry.id, toolUseId: block.id, name: block.name })
      if (isBlock(block, 'tool_result') && !open.delete(block.tool_use_id))
        orphans.push({ entry: entry.id, toolUseId: block.tool_use_id })
    }
  }
  return { unanswered: [...open.values()], orphans }
}

/** Answers that directly follow the end of another response: nobody asks a model twice with nothing in between. */
function findUnasked(entries: readonly Entry[]): readonly EntryId[] {
  const unasked: EntryId[] = []
  let last: Entry | undefined
  for (const entry of entries) {
    if (entry.kind !== 'message' && entry.kind !== 'boundary') continue
    const isAnswer = entry.kind === 'message' && entry.responseId !== undefined
    if (isAnswer && last?.kind === 'message' && last.responseId !== undefined)
      if (last.responseId !== entry.responseId) unasked.push(entry.id)
    last = entry
  }
  return unasked
}

function findResponses(entries: readonly Entry[], place: RecordedResponse['place']): RecordedResponse[] {
  const responses = new Map<string, RecordedResponse>()
  let newest = Number.NaN
  for (const entry of entries) {
    if (entry.kind === 'message' && entry.responseId !== undefined) {
      const earlier = responses.get(entry.responseId)
      responses.set(entry.responseId, earlier ? mergeLine(earlier, entry) : firstLine(entry, place, newest))
    }
    if (!(entry.at <= newest) && !Number.isNaN(entry.at)) newest = entry.at
  }
  return [...responses.values()]
}

function firstLine(
  entry: MessageEntry,
  place: RecordedResponse['place'],
  requestedAt: number,
): RecordedResponse {
  return {
    id: entry.responseId ?? entry.id,
    ...(entry.requestId !== undefined && { requestId: entry.requestId }),
    model: entry.model ?? '',
    place,
    requestedAt,
    at: entry.at,
    endedAt: entry.at,
    ...(entry.usage && { usage: entry.usage }),
    entries: [entry.id],
  }
}

/** Later lines repeat the usage; the larger output count is the more complete one. */
function mergeLine(response: RecordedResponse, entry: MessageEntry): RecordedResponse {
  const usage = laterUsage(response.usage, entry.usage)
  return {
    ...response,
    endedAt: entry.at,
    ...(usage && { usage }),
    entries: [...response.entries, entry.id],
  }
}

function laterUsage(before: Usage | undefined, now: Usage | undefined): Usage | undefined {
  if (!before || !now) return now ?? before
  return now.output_tokens >= before.output_tokens ? now : before
}

function inFileOrder(
  responses: readonly RecordedResponse[],
  lines: ReadonlyMap<EntryId, number>,
): RecordedResponse[] {
  const lineOf = (response: RecordedResponse): number => lines.get(response.entries[0] ?? '') ?? 0
  return responses.toSorted((a, b) => lineOf(a) - lineOf(b))
}
