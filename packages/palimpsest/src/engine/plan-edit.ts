import type { EditLimits, PlannedEdit } from '../layers/2-micro-compaction/planned-edit.ts'
import { clearingEdit } from '../layers/2-micro-compaction/apply.ts'
import { planMedia, type MediaPlan } from '../layers/2-micro-compaction/media.ts'
import {
  planClearing,
  planUseless,
  tailStart,
  type ClearPlan,
  type CompactionOutlook,
  type MicroSituation,
  type Prices,
} from '../layers/2-micro-compaction/plan.ts'
import type { MicroPolicy } from '../layers/2-micro-compaction/policy.ts'
import { planSnip, type SnipPlan } from '../layers/2-micro-compaction/snip.ts'
import { planForced } from '../layers/4-compaction/when/plan-forced.ts'
import { TTL_MS } from '../ledger/cache.ts'
import { findTier } from '../ledger/prices.ts'
import { factorOf } from '../tokens/calibrate.ts'
import type { BlockRef, EditEntry } from '../transcript/entry.ts'
import { settle, type Settled } from '../transcript/settle.ts'
import type { View } from '../transcript/view.ts'
import { boughtLifetime } from '../request/choose-lifetime.ts'
import type { EntryBody } from '../situation/session.ts'
import { fullAt, isFull } from '../situation/is-full.ts'

// All edits due before one request, as one: each further one would cost another rewrite of what follows it.

const PRICE_TOKENS = 1_000_000
/** Share of the window that stays verbatim when it is full: on recorded sessions most of what is needed again is there. */
const TAIL_SHARE = 0.2

export interface EditMoment {
  readonly now: number
  /** Size of the next request. */
  readonly sizeTokens: number
  /** Tokens before the messages. */
  readonly prefixTokens: number
  /** The provider would be asked for a summary that keeps thinking. */
  readonly serverCompacts?: boolean
  /** Absent if nothing compacts. */
  readonly compaction?: CompactionOutlook | undefined
}

export function planEdit(view: View, moment: EditMoment, limits: EditLimits): PlannedEdit | undefined {
  if (!limits.isMain) return undefined
  const factor = factorOf(limits.calibration)
  const toTokens = (raw: number): number => raw * factor
  const settled = settle(view, limits.thinking)
  const rawBefore = settled.tokens
  const media = limits.micro.acts.media ? planMedia(view, bytesOf(view, settled)) : undefined
  const brokenFrom = media?.firstNode
  const situation = { ...situationOf(view, moment, { limits, toTokens, rawBefore }), brokenFrom }
  const plan = planClearing(view, situation, limits.micro)
  const cleared = plan && clearingEdit(view, plan, toTokens, limits.micro)
  // If clearing leaves the window full, it comes together with what makes room.
  const staysFull = isFull(moment.sizeTokens - (cleared?.freedTokens ?? 0), limits.thresholds)
  const forced = staysFull && limits.dropsWhenFull ? planFull(view, situation, limits) : undefined
  const left = plan && forced ? withoutDropped(plan, forced) : plan
  const clearing = left === plan ? cleared : left && clearingEdit(view, left, toTokens, limits.micro)
  if (!clearing && !forced && !media) return planSnipAlone(view, situation, limits.micro)
  const edit = merge(forced && clearing ? together(forced, clearing) : (forced ?? clearing), media)
  const range = { from: editPoint(view, edit), limit: tailStart(view, situation, limits.micro) }
  const snip = limits.micro.acts.snip ? planSnip(view, rawBefore, range) : undefined
  return {
    edit: snip ? withSnip(edit, snip, toTokens) : edit,
    why: forced ? 'the window is full' : plan && clearing ? plan.why : 'the request nears its limit of bytes',
    numbers: plan && clearing && !forced ? plan.numbers : undefined,
  }
}

/** Superseded rounds, if nothing else is due and removing them pays by itself. */
function planSnipAlone(view: View, situation: MicroSituation, micro: MicroPolicy): PlannedEdit | undefined {
  const { rawBefore, toTokens } = situation
  const range = { from: 0, limit: tailStart(view, situation, micro) }
  const snip = micro.acts.snip ? planSnip(view, rawBefore, range) : undefined
  if (!snip) return undefined
  const { firstNode, raw } = snip
  const numbers = planUseless(view, { firstNode, freedTokens: Math.round(toTokens(raw)) }, situation, micro)
  if (!numbers) return undefined
  // What follows is written again anyway, so stale results there are cleared too.
  const plan = planClearing(view, { ...situation, brokenFrom: firstNode }, micro)
  const cleared = plan && clearingEdit(view, plan, toTokens, micro)
  return { edit: withSnip(cleared ?? NO_EDIT, snip, toTokens), why: 'superseded rounds: it pays', numbers }
}

const NO_EDIT: EntryBody<EditEntry> = { kind: 'edit', cause: 'batch', replace: [], drop: [], freedTokens: 0 }

/** The first node that an edit changes: what comes before it is read from the cache. */
function editPoint({ nodes }: View, { replace, drop }: EntryBody<EditEntry>): number {
  const changed = new Set([...replace.map(({ at }) => at.entry), ...drop])
  return Math.max(
    0,
    nodes.findIndex(({ entries }) => entries.some((id) => changed.has(id))),
  )
}

function withoutDropped(plan: ClearPlan, { drop }: EntryBody<EditEntry>): ClearPlan {
  const gone = new Set(drop)
  return { ...plan, results: plan.results.filter(({ block }) => !gone.has(block.at.entry)) }
}

function together(forced: EntryBody<EditEntry>, clearing: EntryBody<EditEntry>): EntryBody<EditEntry> {
  return {
    ...forced,
    replace: clearing.replace,
    freedTokens: forced.freedTokens + clearing.freedTokens,
  }
}

function planFull(
  view: View,
  situation: MicroSituation,
  limits: EditLimits,
): EntryBody<EditEntry> | undefined {
  return planForced(view, situation.rawBefore, {
    autoTokens: fullAt(limits.thresholds),
    prefixTokens: situation.prefixTokens,
    tailShare: TAIL_SHARE,
    toTokens: situation.toTokens,
  })
}

function merge(edit: EntryBody<EditEntry> | undefined, media: MediaPlan | undefined): EntryBody<EditEntry> {
  if (edit && media)
    return { ...edit, replace: [...edit.replace, ...media.replace.filter((one) => !isIn(edit, one.at))] }
  if (edit) return edit
  return { kind: 'edit', cause: 'media', replace: media?.replace ?? [], drop: [], freedTokens: 0 }
}

function isIn(edit: EntryBody<EditEntry>, at: BlockRef): boolean {
  return edit.replace.some((one) => one.at.entry === at.entry && one.at.index === at.index)
}

/** A message that leaves whole needs no stand-in. */
function withSnip(
  edit: EntryBody<EditEntry>,
  snip: SnipPlan,
  toTokens: (raw: number) => number,
): EntryBody<EditEntry> {
  const gone = new Set(snip.drop)
  return {
    ...edit,
    replace: edit.replace.filter(({ at }) => !gone.has(at.entry)),
    drop: [...new Set([...edit.drop, ...snip.drop])],
    freedTokens: edit.freedTokens + Math.round(toTokens(snip.raw)),
  }
}

/** Counts characters as bytes: what makes a request large is base64. */
function bytesOf(view: View, settled: Settled): number {
  const prefix = view.prefix ? view.prefix.system.length + view.prefix.tools.length : 0
  return prefix + (settled.joined[settled.texts.length]?.length ?? 0)
}

function situationOf(
  view: View,
  moment: EditMoment,
  {
    limits,
    toTokens,
    rawBefore,
  }: {
    readonly limits: EditLimits
    readonly toTokens: (raw: number) => number
    readonly rawBefore: readonly number[]
  },
): MicroSituation {
  const { thresholds, lifetime, isMain } = limits
  return {
    ...moment,
    thresholds,
    toTokens,
    rawBefore,
    lifetimeMs: lastLifetime(view, lifetime),
    isMain,
    prices: pricesOf(limits, moment.sizeTokens),
    loses: losesThinking(view, limits),
    serverCompacts: moment.serverCompacts ?? false,
    isLastResort: moment.compaction === undefined && !limits.dropsWhenFull,
  }
}

/**
 * The lifetime that the newest answer with cache writes bought; if its usage does not show it, the one that is bought now.
 * Undefined: unknown.
 */
function lastLifetime({ nodes }: View, lifetime: EditLimits['lifetime']): number | undefined {
  if (lifetime === undefined) return undefined
  const written = nodes.findLast(({ source }) => (source.usage?.cache_creation_input_tokens ?? 0) > 0)
  const bought = written?.source.usage && boughtLifetime(written.source.usage)
  return TTL_MS[bought ?? lifetime]
}

function pricesOf({ facts, lifetime }: EditLimits, sizeTokens: number): Prices {
  const tier = findTier(facts.prices, sizeTokens)
  if (!tier) return { read: 0, write: 0, output: 0 }
  const write = lifetime === '1h' ? tier.write1h : tier.write5m
  return { read: tier.read / PRICE_TOKENS, write: write / PRICE_TOKENS, output: tier.output / PRICE_TOKENS }
}

/** In a running tool loop, an edit costs a model that binds thinking the thoughts of that loop. */
function losesThinking(view: View, { thinking }: EditLimits): boolean {
  return thinking.bindsPrefix && view.nodes.at(-1)?.answers !== undefined
}
