import { whyEdited } from 'palimpsest/engine'
import { openChain } from 'palimpsest/node'

import { checkedText } from '../../run/compaction/checked-text.ts'
import { ID_CHARS } from '../../stored/find-by-id.ts'
import type { HostedConversation } from '../host/host-conversation.ts'
import { removedBy, removedOnDisk, type Removed } from '../host/removed-by.ts'
import { conversationSource, endSource } from '../pager/conversation-source.ts'
import { linesSource, type PageSource } from '../pager/page-source.ts'
import { wholeLines } from '../screen/past-lines.ts'
import { pathName } from '../../stored/path-name.ts'
import { line, type StyledLine } from '../text/styled-line.ts'

// What the keys for long texts show.

/** Everything that was ever said, across compactions. Its end is available at once. */
export async function openTranscriptPage(conversation: HostedConversation): Promise<PageSource | string> {
  const log = conversation.log()
  if (log.length === 0) return 'nothing has been said yet'
  return endSource([...log], openWhole(conversation))
}

export async function openWhole({ prepared }: HostedConversation): Promise<PageSource> {
  return await conversationSource(await openChain(prepared.opened.file.path))
}

/** What was last removed from the window. */
export async function openRemovedPage(
  conversation: HostedConversation,
  columns: number,
): Promise<PageSource | string> {
  const last = conversation.describe().removals.findLast(({ layer }) => layer > 1)
  return last
    ? await openRemovalPage(conversation, last.id, columns)
    : 'nothing has been removed from the window yet'
}

/** What one removal removed, word for word. */
export async function openRemovalPage(
  conversation: HostedConversation,
  id: string,
  columns: number,
): Promise<PageSource> {
  const { gone } = await findRemoved(conversation, id)
  const head = [...headLines(conversation, id, gone.length), []]
  return linesSource('what was removed', [head, ...gone.map((entry) => wholeLines(entry, columns))])
}

export async function findRemoved({ view, prepared }: HostedConversation, id: string): Promise<Removed> {
  const seen = view()
  const found = removedBy(seen, id) ?? (await removedOnDisk(prepared.opened.file.path, id, seen.leaf))
  return found ?? { gone: [], stayed: 0 }
}

function headLines(conversation: HostedConversation, id: string, gone: number): readonly StyledLine[] {
  const entry = conversation.log().find((one) => one.id === id)
  const at = entry && Number.isFinite(entry.at) ? new Date(entry.at).toTimeString().slice(0, 5) : '?'
  const undo = line(`/undo ${id.slice(0, ID_CHARS)} undoes it; /context restores single messages`, 'dim')
  if (entry?.kind === 'boundary') {
    const { path, preTokens, postTokens, proof } = entry.meta
    const checked = proof ? checkedText(proof) : 'summary not checked'
    const text = `Compacted by ${pathName(path)} at ${at}: ${preTokens} → ${postTokens ?? '?'} tokens`
    return [line(text, 'heading'), line(`${gone} messages removed; ${checked}`), undo]
  }
  if (entry?.kind !== 'edit') return [undo]
  const text = `Cleared at ${at} (${whyEdited(entry)}): ${entry.freedTokens} tokens`
  return [line(text, 'heading'), line(`results of ${gone} messages, as they were`), undo]
}
