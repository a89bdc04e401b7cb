import { drive } from '../../../drive.ts'
import { setupFor, type AutoCompaction, type EngineStep } from '../../../engine/auto-compact.ts'
import { beforeRequest, type Readiness, type RequestLimits } from '../../../engine/before-request.ts'
import { calibrationOf, learnNewest } from '../../../situation/calibration.ts'
import { compact } from '../../../layers/4-compaction/compact.ts'
import type { CompactionPolicy } from '../../../layers/4-compaction/policy.ts'
import type { MicroPolicy } from '../../../layers/2-micro-compaction/policy.ts'
import type { StoragePolicy } from '../../../layers/1-tool-results/policy.ts'
import { NO_HOST } from '../../../layers/4-compaction/compaction-host.ts'
import { onToolResult } from '../../../engine/on-tool-result.ts'
import type { NamedBody, Session } from '../../../situation/session.ts'
import { familyOf } from '../../../facts/read-call.ts'
import { createFlags, type Flags } from '../../../flags/create-flags.ts'
import type { FlagValue, SwitchName } from '../../../flags/flags.ts'
import type { Ports } from '../../../ports.ts'
import type { Calibration } from '../../../tokens/calibrate.ts'
import type { Entry } from '../../../transcript/entry.ts'
import type { View } from '../../../transcript/view.ts'
import { isBlock, type ToolResultBlock, type ToolUseBlock } from '../../../wire/message.ts'
import type { Actions, BackgroundCall, LivingRun, Moment, StrategySettings } from './strategy.ts'

// Runs the engine at the same moments as the agent loop: when results arrive, then before the request. All decisions are the engine's.
// Its ports have neither a model nor a disk, so every compaction uses the summary that needs no model.

export interface EnginePolicies {
  readonly storage: StoragePolicy
  readonly micro: MicroPolicy
  readonly compaction: CompactionPolicy
  /** Mechanisms that are off; the others have their defaults. */
  readonly off: readonly SwitchName[]
  /** Mechanisms that are on although their default is off. */
  readonly on?: readonly SwitchName[] | undefined
  /** The model call that each compaction would have made, to be priced. */
  readonly call?: BackgroundCall
  /** Where a summary says that the full transcript is. */
  readonly transcriptPath: string
}

/** Runs the engine through one session. Like the loop, it calibrates its estimates with the usage reported for its own requests. */
export function createEngineRun(settings: StrategySettings, policies: EnginePolicies): LivingRun {
  let calibration: Calibration | undefined
  return {
    live(view, moment) {
      const { thinking, facts } = moment
      const beginsTurn = view.nodes.at(-1)?.answers === undefined
      calibration =
        beginsTurn || !calibration
          ? calibrationOf(view, thinking, facts)
          : learnNewest(view, thinking, calibration)
      const ports = portsFor(moment, settings, policies)
      return liveMoments(view, limitsFor(moment, settings, policies, calibration), { ports, policies })
    },
  }
}

async function* liveMoments(
  begin: View,
  limits: MomentLimits,
  { ports, policies }: Living,
): AsyncGenerator<Actions, void, View> {
  const arrived = await storeArrived(begin, policies.storage, ports)
  const view = arrived.length > 0 ? yield { entries: toEntries(arrived, ports) } : begin
  const first = yield* live(beforeRequest(toSession(view), withTools(limits, view), ports, NEVER), view, {
    ports,
    policies,
  })
  if (first.end.blocked === undefined) return
  // The turn ends here, and the engine tells the user to compact by hand. The user does, and starts the turn again.
  yield { entries: [], stopped: true }
  const compacted = yield* compactByHand(first, limits, { ports, policies })
  if (compacted === undefined) return
  yield* live(beforeRequest(toSession(compacted), withTools(limits, compacted), ports, NEVER), compacted, {
    ports,
    policies,
  })
}

/** Nothing interrupts a replay. */
const NEVER = new AbortController().signal

type MomentPorts = Pick<Ports, 'blobs' | 'clock' | 'trace' | 'flags' | 'newId'>

interface Living {
  readonly ports: MomentPorts
  readonly policies: EnginePolicies
}

interface Lived {
  readonly view: View
  readonly end: Readiness
}

/** Appends what the engine asks for, step by step, and hands it the updated session. */
async function* live(
  steps: AsyncGenerator<EngineStep, Readiness, Session>,
  begin: View,
  { ports, policies: { call } }: Living,
): AsyncGenerator<Actions, Lived, View> {
  let view = begin
  for (let next = await steps.next(toSession(view)); ; next = await steps.next(toSession(view))) {
    if (next.done) return { view, end: next.value }
    if ('append' in next.value) view = yield { entries: toEntries(next.value.append, ports) }
    else if (next.value.tell.type === 'compaction-start' && call) view = yield { entries: [], calls: [call] }
  }
}

/** Undefined if there was nothing to compact. */
async function* compactByHand(
  { view, end }: Lived,
  limits: MomentLimits,
  { ports, policies: { call } }: Living,
): AsyncGenerator<Actions, View | undefined, View> {
  const session = toSession(view)
  const setup = setupFor(session, { ...limits, source: 'main', cause: 'blocking', sizeTokens: end.tokens })
  const wish = { cause: 'asked', span: { kind: 'whole' } } as const
  const steps = compact(session, { wish, setup }, { ...ports, ...limits.compaction, sources: [] }, NEVER)
  let began = false
  const result = await drive(steps, ({ type }) => {
    began ||= type === 'compaction-start'
  })
  if (began && call) yield { entries: [], calls: [call] }
  return result.kind === 'compacted' ? yield { entries: toEntries(result.bodies, ports) } : undefined
}

/** Stores each result that no request has carried if it is over its limit. */
async function storeArrived(view: View, policy: StoragePolicy, ports: MomentPorts): Promise<NamedBody[]> {
  const bodies: NamedBody[] = []
  for (const { use, result } of unsent(view)) {
    const arrived = { content: result.content ?? '', ...boundOf(use) }
    const [, ...stored] = await onToolResult(
      use,
      { ...arrived, isError: result.is_error === true },
      policy,
      ports,
    )
    bodies.push(...stored)
  }
  return bodies
}

/** A file reader limits its own output. */
function boundOf({ name }: Pick<ToolUseBlock, 'name'>): { readonly resultCharsMax?: 'unlimited' } {
  return familyOf(name) === 'read' ? { resultCharsMax: 'unlimited' } : {}
}

interface Unsent {
  readonly use: ToolUseBlock
  readonly result: ToolResultBlock
}

/** Results after the newest answer that are in view unchanged. */
function unsent({ nodes }: View): Unsent[] {
  const newest = nodes.findLastIndex((node) => node.role === 'assistant')
  const uses = new Map(callsOf(nodes[newest]).map((use) => [use.id, use]))
  return nodes.slice(newest + 1).flatMap(({ blocks }) =>
    blocks.flatMap(({ block, original }): Unsent[] => {
      const use = isBlock(block, 'tool_result') ? uses.get(block.tool_use_id) : undefined
      return original && use && isBlock(block, 'tool_result') ? [{ use, result: block }] : []
    }),
  )
}

function callsOf(node: View['nodes'][number] | undefined): ToolUseBlock[] {
  return (node?.blocks ?? []).flatMap(({ block }) => (isBlock(block, 'tool_use') ? [block] : []))
}

type MomentLimits = RequestLimits & { readonly compaction: AutoCompaction }

function limitsFor(
  moment: Moment,
  settings: StrategySettings,
  policies: EnginePolicies,
  calibration: Calibration,
): MomentLimits {
  const { thresholds, scale, windowTokens } = settings
  return {
    facts: moment.facts,
    thinking: moment.thinking,
    calibration,
    thresholds,
    blockingTokens: thresholds.blocking,
    storage: policies.storage,
    micro: policies.micro,
    lifetime: moment.ttl,
    isMain: true,
    dropsWhenFull: false,
    compaction: {
      host: NO_HOST,
      isOn: true,
      scale,
      windowTokens,
      policy: policies.compaction,
      transcriptPath: policies.transcriptPath,
    },
  }
}

/** Adds what we know about the tools whose results wait to be sent. */
function withTools(limits: MomentLimits, { nodes }: View): MomentLimits {
  const calls = callsOf(nodes.findLast((node) => node.role === 'assistant'))
  return { ...limits, tools: calls.map((use) => ({ name: use.name, ...boundOf(use) })) }
}

function portsFor(moment: Moment, settings: StrategySettings, { off, on = [] }: EnginePolicies): MomentPorts {
  return {
    clock: { now: () => moment.now, sleep: async () => undefined, within: async (work) => await work },
    newId: settings.newId,
    blobs: {
      save: async (toolUseId, text) => ({ path: `tool-results/${toolUseId}.txt`, bytes: text.length }),
      locate: ({ path }) => path,
    },
    flags: flagsWith([...NOBODY_TO_ASK, ...off], on),
    trace: () => undefined,
  }
}

/** There is no provider that could write a summary. */
const NOBODY_TO_ASK: readonly SwitchName[] = ['server-compaction']

function flagsWith(off: readonly SwitchName[], on: readonly SwitchName[]): Flags {
  const values = new Map<string, FlagValue>([
    ...off.map((name) => [name, false] as const),
    ...on.map((name) => [name, true] as const),
  ])
  return createFlags([{ name: 'replay', find: (key) => values.get(key) }])
}

function toSession(view: View): Session {
  return { id: 'replayed', view }
}

/** Parents do not matter here: the view takes entries in order. */
function toEntries(bodies: readonly NamedBody[], { newId, clock }: MomentPorts): Entry[] {
  return bodies.map((body): Entry => ({ ...body, id: body.id ?? newId(), parent: null, at: clock.now() }))
}
