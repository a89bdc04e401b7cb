import { UsageError } from '../../errors.ts'
import { findForkStart } from '../../layers/7-agents/fork.ts'
import { createCostOf } from '../../ledger/cost-of.ts'
import type { AgentStore, KeptConversation, Ports } from '../../ports.ts'
import { appendAfter, type EntryBody } from '../../situation/session.ts'
import type { Entry, EntryId, MessageEntry, TitleEntry } from '../../transcript/entry.ts'
import type { Totals } from '../../transcript/totals.ts'
import { viewOf, type View } from '../../transcript/view.ts'
import { isBlock, toBlocks } from '../../wire/message.ts'

// A fork begins with a copy of its parent's conversation. While a turn runs, the copy ends at the newest answer, and each call in it gets
// the same placeholder as its result: real results that arrive meanwhile would give one fork other bytes than the next.

export interface Copied {
  readonly stored: KeptConversation
  readonly view: View
  /** The newest entry that all forks of this moment share. */
  readonly shared: EntryId
  /** Costs from before the fork are on the parent's bill. */
  readonly totals: () => Totals
}

export interface CopiedFrom {
  readonly id: string
  /** The call that asks for the fork. Undefined: the program asks. */
  readonly toolUseId?: string | undefined
  /** Whether a turn is running once the copy is made. */
  readonly isTurning: () => boolean
}

export async function openCopy(
  store: AgentStore,
  from: CopiedFrom,
  { newId, clock }: Pick<Ports, 'newId' | 'clock'>,
): Promise<Copied> {
  const stored = await store.open(await store.fork(from.id), createCostOf())
  try {
    const cut = planCut(stored.entries, from)
    if (cut) await appendAfter(cut.parent, [cut.body], { transcript: stored, newId, clock })
    const loaded = cut ? await stored.history.load([]) : stored
    const view = viewOf(loaded.entries, loaded.from)
    const before = stored.totals()
    const totals = (): Totals => without(stored.totals(), before)
    return { stored, view, totals, shared: cut?.parent ?? view.leaf ?? '' }
  } catch (error) {
    await stored.close()
    throw error
  }
}

interface Cut {
  readonly parent: EntryId
  readonly body: EntryBody<MessageEntry | TitleEntry>
}

/** Undefined if the copy needs no change. */
function planCut(log: readonly Entry[], { toolUseId, isTurning }: CopiedFrom): Cut | undefined {
  if (toolUseId !== undefined) {
    const start = findForkStart(log, toolUseId)
    if (!start) throw new UsageError('This conversation cannot be forked here: its newest answer is gone.')
    return { parent: start.answer, body: start.placeholders }
  }
  if (!isTurning()) return undefined
  const place = log.findLastIndex((entry) => entry.kind === 'message' && entry.message.role === 'assistant')
  const after = log.slice(place + 1)
  // What was folded since then is not part of the next request.
  if (after.some(({ kind }) => kind === 'boundary' || kind === 'edit')) return undefined
  const answer = log[place]
  const [use] =
    answer?.kind === 'message'
      ? toBlocks(answer.message.content).filter((block) => isBlock(block, 'tool_use'))
      : []
  const start = use && findForkStart(log, use.id)
  if (start) return { parent: start.answer, body: start.placeholders }
  const said = after.findIndex(({ kind }) => kind === 'message')
  const parent = said === -1 ? undefined : log[place + said]
  return parent && { parent: parent.id, body: { kind: 'title', ...titleIn(log) } }
}

/** Adding an entry after another one makes that branch the newest. */
function titleIn(log: readonly Entry[]): Pick<TitleEntry, 'title' | 'firstPrompt'> {
  const { title = '', firstPrompt = '' } = log.find((entry) => entry.kind === 'title') ?? {}
  return { title, firstPrompt }
}

function without(totals: Totals, { costUsd, besideUsd = 0 }: Totals): Totals {
  return {
    ...totals,
    costUsd: totals.costUsd - costUsd,
    besideUsd: (totals.besideUsd ?? 0) - besideUsd,
  }
}
