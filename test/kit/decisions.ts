import { readSession } from '../../packages/palimpsest/src/lab/replay/read/read-session.ts'
import { factsOf } from '../../packages/palimpsest/src/lab/replay/replay-one.ts'
import { toReplaySession } from '../../packages/palimpsest/src/lab/replay/replay-session.ts'
import { runStrategy } from '../../packages/palimpsest/src/lab/replay/run-strategy.ts'
import { fitSizes } from '../../packages/palimpsest/src/lab/replay/size-model.ts'
import { palimpsestWith } from '../../packages/palimpsest/src/lab/replay/strategies/palimpsest.ts'
import type { BlockRef, Entry, EntryId } from '../../packages/palimpsest/src/transcript/entry.ts'

// What an engine decided in a conversation, told by the entries alone, so that two runs of it can be compared.

export type Decision =
  | {
      /** Before the request with this number. */
      readonly request: number
      readonly what: 'compaction'
      readonly trigger: string
      /** The kept tail, by its ends. */
      readonly tail: readonly EntryId[]
      /** Messages that stay as copies, by their originals. */
      readonly copied: readonly EntryId[]
    }
  | {
      readonly request: number
      readonly what: 'edit'
      readonly cause: string
      readonly replaced: readonly string[]
      readonly dropped: readonly EntryId[]
    }
  | { readonly request: number; readonly what: 'stored'; readonly results: readonly string[] }

export function decisionsIn(entries: readonly Entry[]): Decision[] {
  // What is no copy says that something is left out there: ids of it are the run's own.
  const originals = new Map(
    entries.flatMap((entry) =>
      entry.kind === 'message' && entry.part === 'kept'
        ? [[entry.id, entry.copyOf ?? JSON.stringify(entry.message.content)] as const]
        : [],
    ),
  )
  const answers = new Set<string>()
  const decisions: Decision[] = []
  for (const entry of entries) {
    const request = answers.size
    if (entry.kind === 'message' && entry.message.role === 'assistant' && entry.part === undefined)
      answers.add(entry.responseId ?? entry.id)
    if (entry.kind === 'boundary')
      decisions.push({
        request,
        what: 'compaction',
        trigger: entry.meta.trigger,
        tail: entry.kept ? [entry.kept.head, entry.kept.tail] : [],
        copied: (entry.copies ?? []).map((id) => originals.get(id) ?? id),
      })
    if (entry.kind === 'edit')
      decisions.push({
        request,
        what: 'edit',
        cause: entry.cause,
        replaced: entry.replace.map(({ at }) => keyOf(at)),
        dropped: entry.drop,
      })
    if (entry.kind === 'stored') decisions.push({ request, what: 'stored', results: [entry.toolUseId] })
  }
  return decisions
}

function keyOf({ entry, index }: BlockRef): string {
  return `${entry}:${index}`
}

/** What the replay's palimpsest decides in a transcript, in a window. The path of the transcript stands in its summaries. */
export async function replayDecisions(
  transcript: string,
  transcriptPath: string,
  windowTokens: number,
): Promise<Decision[]> {
  const session = toReplaySession(await readSession([transcript]), 'recorded')
  const sizes = fitSizes(session, factsOf)
  let log: readonly Entry[] = []
  for await (const { view } of runStrategy(session, {
    strategy: palimpsestWith('palimpsest', { transcriptPath }),
    windowTokens,
    sizes,
    factsOf,
    bills: false,
  }))
    log = view.log
  return decisionsIn(log)
}
