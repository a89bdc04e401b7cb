import { createBudget } from '../../accounts/budget.ts'
import { meterModel } from '../../accounts/meter-model.ts'
import { BUILT_IN_FLAGS } from '../../flags/create-flags.ts'
import { NO_HOST } from '../../layers/4-compaction/compaction-host.ts'
import type { KeptConversation, Ports, StreamModel } from '../../ports.ts'
import { createAnthropicModel } from '../../providers/anthropic/create-model.ts'
import type { WindowReading } from '../../situation/situation.ts'
import { computeThresholds } from '../../situation/thresholds.ts'
import { computeWindow } from '../../situation/window.ts'
import { NO_MODELS, resolveModel } from '../../tokens/models.ts'
import { viewOf } from '../../transcript/view.ts'
import { parseModelName } from '../../wire/model-facts.ts'
import type { ConversationSetup, Spending } from '../conversation-setup.ts'
import { outputTokensFor, requestPrefix } from '../request-prefix.ts'
import type { AgentOptions } from './agent-options.ts'
import { extractionFor, openingWith } from './agent-memory.ts'
import { RUNTIME_CLOCK } from '../../context/library/runtime-clock.ts'

/** More rounds than any turn should take. */
export const ROUNDS_MAX = 200

export interface OpenedWith extends Pick<ConversationSetup, 'tools' | 'agents'> {
  readonly stored: KeptConversation
}

/** The setup of a conversation of the library: fills in everything that has a good default. */
export async function setupOf(
  options: AgentOptions,
  { stored, tools, agents }: OpenedWith,
  signal: AbortSignal,
): Promise<ConversationSetup> {
  const { id: model, extended } = parseModelName(options.model)
  const reading = readingOf(options.model, options.window)
  const { streamModel, ...spending } = spendingOf(options, stored)
  const { facts } = reading.model
  const { memory } = options
  const session = { id: stored.id, view: viewOf(stored.entries, stored.from) }
  const ports = portsOf(options, stored, streamModel)
  return {
    session,
    ports,
    history: stored.history,
    totals: stored.totals,
    prefix: requestPrefix({ model, extended, facts, system: options.system ?? '', tools, reason: 'start' }),
    opening: { first: memory ? await openingWith(memory, ports) : [], always: [] },
    extraction: memory && extractionFor(memory, session, ports),
    agents,
    tools,
    permit: options.permit ?? (async () => ({ allow: true })),
    reading: () => reading,
    readingOf: (name) => readingOf(name, options.window),
    maxTokens: () => outputTokensFor(reading),
    compaction: { host: NO_HOST, isOn: true },
    roundsMax: options.roundsMax ?? ROUNDS_MAX,
    spending,
    endsWithTurn: false,
    signal,
  }
}

function readingOf(name: string, windowMax: number | undefined): WindowReading {
  const { id, extended } = parseModelName(name)
  const model = resolveModel(NO_MODELS, id, '')
  const window = computeWindow(model, { extended, windowMax })
  return { model, window, thresholds: computeThresholds(window), autoEnabled: true, compactEnabled: true }
}

function portsOf(options: AgentOptions, stored: KeptConversation, streamModel: StreamModel): Ports {
  return {
    clock: RUNTIME_CLOCK,
    newId: () => crypto.randomUUID(),
    random: () => Math.random(),
    streamModel,
    transcript: stored,
    blobs: stored.blobs,
    flags: options.flags ?? BUILT_IN_FLAGS,
    trace: options.onTrace ?? (() => undefined),
  }
}

/** No request goes past the limit, whoever makes it. */
function spendingOf(
  { client, maxCostUsd: maxUsd }: AgentOptions,
  { totals }: KeptConversation,
): Pick<Ports, 'streamModel'> & Spending {
  const metered = meterModel(typeof client === 'function' ? client : createAnthropicModel({ client }))
  if (maxUsd === undefined) return { metered, streamModel: metered.streamModel }
  return { metered, maxUsd, ...createBudget(metered.streamModel, { maxUsd, spentUsd: totals().costUsd }) }
}
