import type { Breaker, Breakers, ContextKind, EditEffect, Removal } from 'palimpsest/engine'
import type { Thresholds } from 'palimpsest/tokens'
import type { Totals } from 'palimpsest/transcript'

import { toPrintable, toPrintableJson } from '../agent/printable.ts'
import type { Settings } from '../agent/settings/settings-shape.ts'
import type { Command, CommandInput } from './command.ts'
import type { ViewDescription } from 'palimpsest/conversation'
import { historyTexts } from '../stored/history-texts.ts'
import { palimpsestHome } from '../run/palimpsest-home.ts'
import { checkedText } from '../run/compaction/checked-text.ts'
import type { SessionHistory } from '../stored/session-history.ts'
import { pathName } from '../stored/path-name.ts'
import { undoCommand } from '../stored/undo-command.ts'
import type { WindowReading } from '../run/window-settings.ts'
import { DONE, type ExitCode, type World } from '../world.ts'

/** The shape of `palimpsest context --json`. */
interface ContextDocument {
  readonly session: string
  readonly model: string
  readonly window: number
  /** The part of the window that thresholds are computed from. */
  readonly working: number
  readonly effective: number
  /** The most the conversation can hold; the screen shows its size as a share of this. */
  readonly room: number
  readonly used: number
  /** Part of it was not counted by the provider. */
  readonly used_estimated: boolean
  readonly percent_left: number
  readonly thresholds: Thresholds
  readonly flags: {
    readonly warning: boolean
    readonly error: boolean
    readonly auto: boolean
    readonly blocking: boolean
  }
  readonly by_kind: { readonly [kind in ContextKind]: number }
  readonly cache: {
    readonly hit_rate: number | null
    readonly breaks: number
    readonly last_break?: {
      readonly at: string
      readonly cause: string
      readonly path: string
      readonly expected_tokens: number
      readonly read_tokens: number
      readonly diagnosis?: string | undefined
    }
  }
  readonly cost_usd: number
  /** The part that was never billed to us: answers that were stopped. Absent if zero. */
  readonly cost_estimated_usd?: number
  /** The cost by source: the conversation, and calls beside it. */
  readonly cost_by_source: SessionHistory['costs']
  /** Over the whole session. */
  readonly compactions: { readonly total: number; readonly by_path: SessionHistory['compactions'] }
  readonly breakers: { readonly [name in keyof Breakers]: BreakerDocument }
  readonly removals: readonly {
    readonly id: string
    readonly at: string
    readonly layer: Removal['layer']
    readonly what: string
    readonly tokens: number
    /** The command that undoes it; null for a stored result, which can only be restored. */
    readonly undo: string | null
    /** For a compaction: who wrote the summary, and the result of its proof. */
    readonly path?: string | undefined
    readonly proof?: { readonly kept: number; readonly repaired: number; readonly invented: number }
    /** As billed with the request after it. */
    readonly realised?:
      | {
          readonly tokens: number
          readonly rewrite_tokens: number
          readonly rewrite_tokens_expected: number
          readonly rewrite_usd: number
          readonly rewrite_usd_expected: number
          readonly cold: boolean
        }
      | undefined
  }[]
}

interface BreakerDocument {
  readonly state: Breaker['state']
  readonly failures: number
  readonly retry_at?: string
}

export const context: Command = {
  name: 'context',
  usage: '[--session ID] [--json]',
  summary: 'show what fills the window, and how much room is left',
  options: { session: { type: 'string' }, json: { type: 'boolean' } },
  wordsMax: 0,
  run: runContext,
}

async function runContext({ flags }: CommandInput, world: World): Promise<ExitCode> {
  const { session } = flags
  const read = await readContext(typeof session === 'string' ? session : undefined, world)
  const text = flags['json'] === true ? `${toPrintableJson(read.document)}\n` : toPrintable(toText(read))
  world.print(text)
  return DONE
}

interface ReadContext {
  readonly document: ContextDocument
  readonly history: readonly string[]
  /** Undefined if nothing compacts it unasked. */
  readonly compactsAt: number | undefined
}

async function readContext(sessionId: string | undefined, world: World): Promise<ReadContext> {
  const [{ viewOf }, { loadTranscript, sessionTotals }] = await Promise.all([
    import('palimpsest/transcript'),
    import('palimpsest/node'),
  ])
  const { findSession } = await import('../stored/find-session.ts')
  const { readWindow } = await import('../run/window-settings.ts')
  const { readModels } = await import('../run/models/known-models.ts')
  const { chooseModel } = await import('../run/models/choose-model.ts')
  const { createCostOf } = await import('palimpsest/ledger')
  const { readHistory } = await import('../stored/session-history.ts')
  const { describeView } = await import('palimpsest/conversation')
  const { modelOf } = await import('../stored/open-stored.ts')
  const { toModelName } = await import('palimpsest/wire')
  const { fullAt } = await import('palimpsest/tokens')
  const { id, path } = await findSession(sessionId, world)
  const loaded = await loadTranscript(path)
  const view = viewOf(loaded.entries, loaded.from)
  const model = modelOf(view)
  const settings = await settingsHere(world)
  const { endpoint } = chooseModel({ model, settings, userSettings: settings }, world)
  const models = await readModels(palimpsestHome(world), endpoint, world.now())
  const known = { models, endpoint }
  const unflagged = readWindow(toModelName(model, view.prefix?.betas ?? []), world, settings, known)
  const reading = await flagged(unflagged, { id, model, settings }, world)
  for (const warning of [...reading.warnings, ...loaded.warnings.map(({ text }) => text)]) {
    world.printError(`palimpsest: ${warning}\n`)
  }
  const totals = await sessionTotals(path, createCostOf())
  const history = await readHistory(path, loaded.from === null ? loaded.entries : undefined)
  const description = describeView(view, { model, reading, totals, now: world.now() })
  const fullTokens = fullAt(description.thresholds)
  const document = toDocument({ id, model, reading, fullTokens, totals, history }, description)
  const compactsAt = reading.autoEnabled ? fullTokens : undefined
  return { document, history: historyTexts(history, description.breakers), compactsAt }
}

/** The window with this session's flags. `palimpsest doctor` reports problems with them. */
async function flagged(
  reading: WindowReading,
  { id, model, settings }: { readonly id: string; readonly model: string; readonly settings: Settings },
  world: World,
): Promise<WindowReading> {
  const { openFlags } = await import('../flags/open-flags.ts')
  const { asFlagged } = await import('../run/window-settings.ts')
  const attributes = { id, model, version: world.version, platform: world.platform }
  const silent = { report: () => undefined, trace: () => undefined }
  const opened = await openFlags({ home: palimpsestHome(world), settings, attributes, ...silent }, world)
  opened.close()
  return asFlagged(reading, opened.flags)
}

interface About {
  readonly id: string
  readonly model: string
  readonly reading: WindowReading
  /** Where the window counts as full now. */
  readonly fullTokens: number
  readonly totals: Totals
  readonly history: SessionHistory
}

function toDocument(about: About, description: ViewDescription): ContextDocument {
  const { id, model, totals, history } = about
  const { window } = about.reading
  const { thresholds, used, isExact, report, byKind, removals, breakers } = description
  const { costUsd, estimatedUsd = 0 } = totals
  return {
    session: id,
    model,
    window: window.window,
    working: window.working,
    effective: window.effective,
    room: report.room,
    used,
    used_estimated: !isExact,
    percent_left: report.percentLeft,
    thresholds: { ...thresholds, auto: about.fullTokens },
    flags: {
      warning: report.isAboveWarning,
      error: report.isAboveError,
      auto: report.isAboveAuto,
      blocking: report.isAboveBlocking,
    },
    by_kind: byKind,
    cache: toCache(description),
    cost_usd: costUsd,
    ...(estimatedUsd > 0 && { cost_estimated_usd: estimatedUsd }),
    cost_by_source: history.costs,
    compactions: toCompactions(history),
    breakers: {
      summaries: toBreaker(breakers.summaries),
      refills: toBreaker(breakers.refills),
      notes: toBreaker(breakers.notes),
    },
    removals: removals.map(({ at, effect, canUndo, ...removal }) => ({
      ...removal,
      at: new Date(at).toISOString(),
      undo: canUndo ? undoCommand(removal.id, id) : null,
      realised: effect ? toRealised(effect) : undefined,
    })),
  }
}

function toCompactions({ compactions }: SessionHistory): ContextDocument['compactions'] {
  const total = Object.values(compactions).reduce((sum, count) => sum + count, 0)
  return { total, by_path: compactions }
}

function toBreaker({ state, failures, retryAt }: Breaker): BreakerDocument {
  return { state, failures, ...(retryAt !== undefined && { retry_at: new Date(retryAt).toISOString() }) }
}

function toCache({ cache, hitRate }: ViewDescription): ContextDocument['cache'] {
  const { breaks, lastBreak } = cache
  const rate = { hit_rate: hitRate ?? null, breaks }
  if (!lastBreak) return rate
  const { at, cause, path, expectedTokens, readTokens, diagnosis } = lastBreak
  return {
    ...rate,
    last_break: {
      at: new Date(at).toISOString(),
      cause,
      path,
      expected_tokens: expectedTokens,
      read_tokens: readTokens,
      diagnosis,
    },
  }
}

type Realised = NonNullable<ContextDocument['removals'][number]['realised']>

function toRealised(effect: EditEffect): Realised {
  return {
    tokens: effect.freedTokens,
    rewrite_tokens: effect.realisedRewriteTokens,
    rewrite_tokens_expected: effect.expectedRewriteTokens,
    rewrite_usd: effect.realisedUsd,
    rewrite_usd_expected: effect.expectedUsd,
    cold: effect.wasCold,
  }
}

/** The user's settings, and in a trusted folder the project's. */
async function settingsHere(world: World): Promise<Settings> {
  const { loadSettings } = await import('../agent/settings/load-settings.ts')
  const { isTrusted } = await import('../agent/settings/trust.ts')
  const { mainWorktree } = await import('palimpsest/node')
  const home = palimpsestHome(world)
  const projectFolder = await mainWorktree(world.cwd)
  const trusted = await isTrusted(home, projectFolder)
  return (await loadSettings({ home, projectFolder, isTrusted: trusted })).settings
}

/** Words for newcomers, by layer. */
const REMOVED_BY = { 1: 'stored', 2: 'cleared', 3: 'compacted by notes', 4: 'compacted' } as const

function toText({ document, history, compactsAt }: ReadContext): string {
  const { session, model, used, room, percent_left, thresholds, by_kind, cache, removals } = document
  const { cost_usd, cost_estimated_usd, used_estimated } = document
  const hits = cache.hit_rate === null ? '' : `, ${Math.round(cache.hit_rate * 100)}% read from the cache`
  const dollars = `${cost_estimated_usd === undefined ? '' : '~'}$${cost_usd.toFixed(2)}`
  const broken = cache.last_break
  const lines = [
    `${session}  ${model}`,
    `${used_estimated ? '~' : ''}${used} of ${room} tokens, ${percent_left}% left; ${dollars}${hits}`,
    ...history,
    ...(broken ? [breakLine(cache.breaks, broken)] : []),
    '',
    ...Object.entries(by_kind)
      .filter(([, tokens]) => tokens > 0)
      .map(([kind, tokens]) => `  ${kind.replace('_', ' ').padEnd(14)} ${String(tokens).padStart(8)}`),
    '',
    ...(compactsAt === undefined ? [] : [thresholdLine('compacts at', compactsAt, used)]),
    thresholdLine('full at', thresholds.blocking, used),
    ...(removals.length > 0 ? ['', 'removed:'] : []),
    ...removals.flatMap(({ id, layer, what, tokens, undo, path, proof, realised }) => [
      `  ${id}  ${REMOVED_BY[layer]}: ${what}, ${tokens} tokens${undo === null ? '; cannot be undone' : ''}`,
      ...(path === undefined ? [] : [`    by ${pathName(path)}${proof ? `; ${checkedText(proof)}` : ''}`]),
      ...(realised ? [`    ${realisedText(realised)}`] : []),
    ]),
    ...(removals.length > 0
      ? ['`palimpsest undo ID` undoes one; `palimpsest restore ID` appends what was removed to the end']
      : []),
  ]
  return `${lines.join('\n')}\n`
}

function breakLine(
  breaks: number,
  { at, path, expected_tokens, read_tokens }: NonNullable<ContextDocument['cache']['last_break']>,
): string {
  const times = breaks === 1 ? 'broke once' : `broke ${breaks} times`
  return `the cache ${times}, last at ${at}: ${path}, ${read_tokens} of ${expected_tokens} tokens read`
}

function realisedText({ tokens, rewrite_tokens, rewrite_usd, rewrite_usd_expected, cold }: Realised): string {
  const wrote = `${tokens} fewer tokens in the next request; ${rewrite_tokens} written again`
  if (cold) return `${wrote}, as they had to be: the cache had expired`
  return `${wrote} for $${rewrite_usd.toFixed(4)}, $${rewrite_usd_expected.toFixed(4)} expected`
}

function thresholdLine(name: string, at: number, used: number): string {
  const distance = at > used ? `in ${at - used} tokens` : `passed by ${used - at} tokens`
  return `  ${name.padEnd(14)} ${String(at).padStart(8)}  ${distance}`
}
