import type { EditCause } from '../../packages/palimpsest/src/transcript/entry.ts'
import type { LoopEvent } from '../../packages/palimpsest/src/loop/events.ts'
import { STRICT_SWITCHES, type LoggedRequest } from '../../packages/palimpsest/src/lab/simulator/index.ts'
import { createTestAgent, type TestAgent, type TestAgentOptions } from './agent.ts'
import { scriptedTools, stepsOf, type ScriptedSession } from './scripted-session.ts'
import { allFlagsOff, windowSetup } from './window-setup.ts'

// A scripted session from its first word to its last through the agent, on the simulator at its strictest: managed in a window, or with
// nothing managed in all that the model accepts.

export interface PlayOptions {
  readonly model: string
  readonly window: number | 'unmanaged'
  readonly prefix?: TestAgentOptions['prefix']
}

export interface PlayedSession {
  readonly agent: TestAgent
  readonly rows: readonly LedgerRow[]
  readonly costUsd: number
  /** Share of all input that was read from the cache. */
  readonly hitRate: number
}

/** One request of the main conversation, and the edit that was made before it. */
export interface LedgerRow {
  readonly request: LoggedRequest
  readonly edit?: EditCause
}

/** More rounds than any recorded turn had. */
const ROUNDS_MAX = 1_000
const OUTPUT_TOKENS_MAX = 32_000

export async function playScripted(
  session: ScriptedSession,
  { model, window, prefix }: PlayOptions,
): Promise<PlayedSession> {
  const edits: (EditCause | undefined)[] = []
  let edit: EditCause | undefined
  const onEvent = (event: LoopEvent): void => {
    if (event.type === 'engine')
      for (const entry of event.entries) edit = entry.kind === 'edit' ? entry.cause : edit
    if (event.type !== 'request-start') return
    edits.push(edit)
    edit = undefined
  }
  const isManaged = window !== 'unmanaged'
  const agent: TestAgent = createTestAgent({
    model,
    tools: scriptedTools(session, (ms) => agent.wait(ms)),
    simulator: { script: stepsOf(session), switches: { ...STRICT_SWITCHES, pastScript: 'refuse' } },
    setup: {
      ...windowSetup(model, isManaged ? window : 'whole'),
      roundsMax: ROUNDS_MAX,
      maxTokens: OUTPUT_TOKENS_MAX,
    },
    onEvent,
    ...(isManaged ? {} : { flags: allFlagsOff() }),
    ...(prefix ? { prefix } : {}),
  })
  for (const { pauseMs, prompt } of session.turns) {
    agent.wait(pauseMs)
    const { end } = await agent.say(prompt)
    if (end.reason !== 'answered') throw new Error(`the turn ended otherwise: ${JSON.stringify(end)}`)
  }
  const { cost_usd: costUsd, hit_rate: hitRate } = agent.simulator.stats()
  const rows = agent.simulator.requests().map((request, i) => ({ request, ...withEdit(edits[i]) }))
  return { agent, rows, costUsd, hitRate }
}

function withEdit(edit: EditCause | undefined): { readonly edit?: EditCause } {
  return edit === undefined ? {} : { edit }
}

/** Requests that do not go on from the whole of the one before them although no edit was made. There are to be none. */
export function brokenPrefixes(rows: readonly LedgerRow[]): readonly string[] {
  return rows.flatMap(({ request, edit }, i) => {
    const before = rows[i - 1]?.request
    if (!before || edit !== undefined) return []
    const isWhole = request.common_prefix_tokens === before.input_tokens && request.prefix_of === before.id
    return isWhole
      ? []
      : [`request ${i} shares ${request.common_prefix_tokens} of ${before.input_tokens} tokens`]
  })
}

/** The ledger as text: a head, then a line for each request. */
export function renderLedger(head: readonly string[], rows: readonly LedgerRow[]): string {
  return `${[...head, COLUMNS, ...rows.map((row, i) => renderRow(row, i))].join('\n')}\n`
}

const COLUMNS = '   #   input    read     w5m     w1h  output    dollars  what happened'

function renderRow({ request, edit }: LedgerRow, index: number): string {
  const { usage, cost_usd: dollars, cache_explanation: why } = request
  const created = usage?.cache_creation
  const numbers = [
    request.input_tokens,
    usage?.cache_read_input_tokens ?? 0,
    created?.ephemeral_5m_input_tokens ?? 0,
    created?.ephemeral_1h_input_tokens ?? 0,
    usage?.output_tokens ?? 0,
  ]
  const happened = [edit, why?.kind === 'hit' ? undefined : why?.kind].filter(Boolean).join(', ')
  const cells = [
    String(index).padStart(4),
    ...numbers.map((one) => String(one).padStart(7)),
    dollars.toFixed(6).padStart(10),
  ]
  return `${cells.join(' ')}  ${happened}`.trimEnd()
}
