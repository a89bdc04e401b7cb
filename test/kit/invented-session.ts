import { toViewBlocks } from '../../packages/palimpsest/src/transcript/view-block.ts'
import { blockKey } from '../../packages/palimpsest/src/transcript/view.ts'
import type { MessageEntry, Origin } from '../../packages/palimpsest/src/transcript/entry.ts'
import type { SentBlocks } from '../../packages/palimpsest/src/lab/replay/measure/corpus.ts'
import type { ReplaySession, ReplayStep } from '../../packages/palimpsest/src/lab/replay/replay-session.ts'
import type { Json } from '../../packages/palimpsest/src/wire/json.ts'
import type { WireMessage } from '../../packages/palimpsest/src/wire/message.ts'
import type { Usage } from '../../packages/palimpsest/src/wire/usage.ts'

// Small recorded sessions, written down as a script.

export interface ScriptedCall {
  readonly name: string
  readonly input: { readonly [name: string]: Json }
  readonly result: string
  readonly isError?: boolean
}

export type Scripted =
  | { readonly user: string }
  | {
      readonly think?: string
      readonly say?: string
      readonly calls?: readonly ScriptedCall[]
      readonly usage?: Usage
    }

const MODEL = 'claude-opus-4-5'
const SECONDS_BETWEEN = 20

export function inventSession(script: readonly Scripted[], model = MODEL): ReplaySession {
  const entries: MessageEntry[] = []
  const steps: ReplayStep[] = []
  const push = (message: WireMessage, origin: Origin, more: Partial<MessageEntry> = {}): void => {
    const at = entries.length * SECONDS_BETWEEN * 1000
    const id = `e${entries.length}`
    const parent = entries.at(-1)?.id ?? null
    entries.push({ kind: 'message', id, parent, at, origin, message, json: JSON.stringify(message), ...more })
  }
  script.forEach((turn, i) => {
    if ('user' in turn) return push({ role: 'user', content: turn.user }, 'user')
    const calls = (turn.calls ?? []).map((call, j) => ({ ...call, id: `call_${i}_${j}` }))
    const responseId = `msg_${i}`
    if (entries.length > 0) {
      const requestedAt = (entries.length - 1) * SECONDS_BETWEEN * 1000
      const usage = turn.usage && { usage: turn.usage }
      steps.push({
        responseId,
        model,
        from: entries.length,
        requestedAt,
        beganAt: requestedAt + 1000,
        afterGap: false,
        ttl: '5m',
        ...usage,
      })
    }
    const content = [
      ...(turn.think === undefined ? [] : [{ type: 'thinking', thinking: turn.think, signature: `s${i}` }]),
      ...(turn.say === undefined ? [] : [{ type: 'text', text: turn.say }]),
      ...calls.map(({ id, name, input }) => ({ type: 'tool_use', id, name, input })),
    ]
    push({ role: 'assistant', content }, 'model', { responseId, model })
    if (calls.length === 0) return
    const results = calls.map(({ id, result, isError }) => ({
      type: 'tool_result',
      tool_use_id: id,
      content: result,
      ...(isError && { is_error: true }),
    }))
    push({ role: 'user', content: results }, 'tool')
  })
  return { name: 'invented', format: 'claude-code', entries, steps }
}

/** Every block, as an unmanaged view sends it. */
export function allBlocks(session: ReplaySession): SentBlocks {
  return new Map(
    session.entries.flatMap((entry) =>
      toViewBlocks(entry).map((block) => [blockKey(block.at), block.tokens] as const),
    ),
  )
}
