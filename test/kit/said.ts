import type {
  BoundaryEntry,
  Entry,
  EntryId,
  MessageEntry,
} from '../../packages/palimpsest/src/transcript/entry.ts'
import type { JsonObject } from '../../packages/palimpsest/src/wire/json.ts'
import type { Block } from '../../packages/palimpsest/src/wire/message.ts'

// Entries of a conversation, written down: who said what, which tool was called, how it ended. Ids are counted.

type Spoken =
  | { readonly user: string }
  | { readonly model: string }
  | { readonly call: string; readonly input: JsonObject; readonly result: string; readonly error?: boolean }

/** A chain of entries. `first` is the number of its first id. */
export function said(spoken: readonly Spoken[], first = 1): Entry[] {
  let number = first
  const entry = (
    role: 'user' | 'assistant',
    origin: MessageEntry['origin'],
    content: string | readonly Block[],
  ): MessageEntry => {
    const id = `e${number}`
    const message = { role, content }
    return {
      kind: 'message',
      id,
      parent: number++ > 1 ? `e${number - 2}` : null,
      at: number,
      origin,
      message,
      json: JSON.stringify(message),
    }
  }
  return spoken.flatMap((one) => {
    if ('user' in one) return [entry('user', 'user', one.user)]
    if ('model' in one) return [entry('assistant', 'model', [{ type: 'text', text: one.model }])]
    const id = `t${number}`
    return [
      entry('assistant', 'model', [{ type: 'tool_use', id, name: one.call, input: one.input }]),
      entry('user', 'tool', [
        { type: 'tool_result', tool_use_id: id, content: one.result, ...(one.error && { is_error: true }) },
      ]),
    ]
  })
}

/** A compaction that keeps nothing, with the summary message it names. */
export function compacted(id: EntryId, parent: EntryId | null, extra?: JsonObject): Entry[] {
  const message = { role: 'user', content: 'Never trust a summary.' } as const
  const boundary: BoundaryEntry = {
    kind: 'boundary',
    id,
    parent,
    at: 0,
    summary: [`${id}-summary`],
    keeps: 'tail',
    attachments: [],
    logicalParent: parent,
    meta: { trigger: 'auto', preTokens: 1, ...(extra && { extra }) },
  }
  const summary: MessageEntry = {
    kind: 'message',
    id: `${id}-summary`,
    parent: id,
    at: 0,
    origin: 'engine',
    part: 'summary',
    message,
    json: JSON.stringify(message),
  }
  return [boundary, summary]
}
