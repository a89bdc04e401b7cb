import type { CacheHealth, ContextDescription, ContextKind, EditEffect } from 'palimpsest/engine'
import type { Thresholds, Window } from 'palimpsest/tokens'

import { toPrintable, toPrintableJson } from '../agent/printable.ts'
import type { Settings } from '../agent/settings/load-settings.ts'
import { CACHE_LIFETIMES } from '../cache-lifetimes.ts'
import type { Command, CommandInput } from '../command.ts'
import { palimpsestHome } from '../palimpsest-home.ts'
import { proofText } from '../proof-text.ts'
import { undoCommand } from '../stored/undo-command.ts'
import { DONE, type ExitCode, type World } from '../world.ts'

/** The shape of `palimpsest context --json`. */
interface ContextDocument {
  readonly session: string
  readonly model: string
  readonly window: number
  readonly effective: number
  readonly used: number
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
      readonly diagnosis?: string
    }
  }
  readonly cost_usd: number
  /** Of that, what nobody billed us for: answers that were stopped. Left out where it is nothing. */
  readonly cost_estimated_usd?: number
  /** Of that, by who asked: the conversation, and calls beside it. */
  readonly cost_by_source: { readonly [source: string]: number }
  readonly removals: readonly {
    readonly id: string
    readonly at: string
    readonly layer: number
    readonly what: string
    readonly tokens: number
    /** What takes it back; null for a stored result, which can only be brought back. */
    readonly undo: string | null
    /** Of a compaction: who wrote its summary, and how that was proved. */
    readonly path?: string
    readonly proof?: { readonly kept: number; readonly repaired: number; readonly invented: number }
    /** As the request behind it was billed. */
    readonly realised?: {
      readonly tokens: number
      readonly rewrite_tokens: number
      readonly rewrite_tokens_expected: number
      readonly rewrite_usd: number
      readonly rewrite_usd_expected: number
      readonly cold: boolean
    }
  }[]
}

export const context: Command = {
  name: 'context',
  usage: '[--session ID] [--json]',
  summary: 'what fills the window now, by kind, and how far each threshold is',
  options: { session: { type: 'string' }, json: { type: 'boolean' } },
  wordsMax: 0,
  run: runContext,
}

async function runContext({ flags }: CommandInput, world: World): Promise<ExitCode> {
  const { session } = flags
  const document = await readContext(typeof session === 'string' ? session : undefined, world)
  world.print(flags['json'] === true ? `${toPrintableJson(document)}\n` : toPrintable(toText(document)))
  return DONE
}

async function readContext(sessionId: string | undefined, world: World): Promise<ContextDocument> {
  const [{ calibrationOf, describeContext, modelPolicy }, { viewOf }, { loadTranscript, sessionTotals }] =
    await Promise.all([
      import('palimpsest/engine'),
      import('palimpsest/transcript'),
      import('palimpsest/node'),
    ])
  const { findSession } = await import('../find-session.ts')
  const { readWindow } = await import('../window-settings.ts')
  const { readModels } = await import('../known-models.ts')
  const { chooseModel } = await import('../headless/choose-model.ts')
  const { createCostOf } = await import('../cost-of.ts')
  const { costBySource } = await import('../cost-by-source.ts')
  const { modelOf } = await import('../stored/open-stored.ts')
  const { toModelName } = await import('palimpsest/wire')
  const { id, path } = await findSession(sessionId, world)
  const loaded = await loadTranscript(path)
  const view = viewOf(loaded.entries, loaded.from)
  const model = modelOf(view)
  const settings = await settingsHere(world)
  const { endpoint } = chooseModel({ model, settings, userSettings: settings }, world)
  const models = await readModels(palimpsestHome(world), endpoint, world.now())
  const reading = readWindow(toModelName(model, view.prefix?.betas ?? []), world, settings, {
    models,
    endpoint,
  })
  const { facts } = reading.model
  const thinking = modelPolicy(model, facts)
  const description = describeContext(view, {
    window: reading.window,
    thresholds: reading.thresholds,
    autoEnabled: reading.autoEnabled,
    calibration: calibrationOf(view, thinking, facts),
    thinking,
    lifetimes: CACHE_LIFETIMES,
  })
  const { costUsd, estimatedUsd = 0 } = await sessionTotals(path, createCostOf())
  for (const warning of [...reading.warnings, ...loaded.warnings.map(({ text }) => text)]) {
    world.printError(`palimpsest: ${warning}\n`)
  }
  const { window, thresholds } = reading
  const costs = await costBySource(path, loaded.from === null ? loaded.entries : undefined)
  return toDocument({ id, model, costUsd, estimatedUsd, costs, window, thresholds }, description)
}

function toDocument(
  about: {
    readonly id: string
    readonly model: string
    readonly costUsd: number
    readonly estimatedUsd: number
    readonly costs: { readonly [source: string]: number }
    readonly window: Window
    readonly thresholds: Thresholds
  },
  { used, report, byKind, cache, removals }: ContextDescription,
): ContextDocument {
  return {
    session: about.id,
    model: about.model,
    window: about.window.window,
    effective: about.window.effective,
    used,
    percent_left: report.percentLeft,
    thresholds: about.thresholds,
    flags: {
      warning: report.isAboveWarning,
      error: report.isAboveError,
      auto: report.isAboveAuto,
      blocking: report.isAboveBlocking,
    },
    by_kind: byKind,
    cache: toCache(cache),
    cost_usd: about.costUsd,
    ...(about.estimatedUsd > 0 && { cost_estimated_usd: about.estimatedUsd }),
    cost_by_source: about.costs,
    removals: removals.map(({ at, effect, canUndo, ...removal }) => ({
      ...removal,
      at: new Date(at).toISOString(),
      undo: canUndo ? undoCommand(removal.id, about.id) : null,
      ...(effect ? { realised: toRealised(effect) } : {}),
    })),
  }
}

function toCache({ hitRate, breaks, lastBreak }: CacheHealth): ContextDocument['cache'] {
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
      ...(diagnosis === undefined ? {} : { diagnosis }),
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

/** The user's, and in a trusted folder the project's. */
async function settingsHere(world: World): Promise<Settings> {
  const { loadSettings } = await import('../agent/settings/load-settings.ts')
  const { isTrusted } = await import('../agent/settings/trust.ts')
  const { mainWorktree } = await import('palimpsest/node')
  const home = palimpsestHome(world)
  const projectFolder = await mainWorktree(world.cwd)
  const trusted = await isTrusted(home, projectFolder)
  return (await loadSettings({ home, projectFolder, isTrusted: trusted })).settings
}

function toText(document: ContextDocument): string {
  const { session, model, used, window, percent_left, thresholds, by_kind, cache, cost_usd, removals } =
    document
  const hits = cache.hit_rate === null ? '' : `, ${Math.round(cache.hit_rate * 100)}% read from the cache`
  const broken = cache.last_break
  const lines = [
    `${session}  ${model}`,
    `${used} of ${window} tokens, ${percent_left}% left before compaction; $${cost_usd.toFixed(2)}${hits}`,
    ...(broken ? [breakLine(cache.breaks, broken)] : []),
    '',
    ...Object.entries(by_kind)
      .filter(([, tokens]) => tokens > 0)
      .map(([kind, tokens]) => `  ${kind.replace('_', ' ').padEnd(14)} ${String(tokens).padStart(8)}`),
    '',
    ...Object.entries(thresholds).map(
      ([name, tokens]) => `  ${name.padEnd(14)} ${String(tokens).padStart(8)}  ${distance(tokens - used)}`,
    ),
    ...(removals.length > 0 ? ['', 'taken out:'] : []),
    ...removals.flatMap(({ id, layer, what, tokens, undo, path, proof, realised }) => [
      `  ${id}  layer ${layer}: ${what}, ${tokens} tokens${undo === null ? '; no undo' : ''}`,
      ...(path === undefined ? [] : [`    by ${path}${proofText(proof)}`]),
      ...(realised ? [`    ${realisedText(realised)}`] : []),
    ]),
    ...(removals.length > 0
      ? [
          '`palimpsest undo ID` takes one back, `palimpsest restore ID` brings what was cleared, or a message, to the end',
        ]
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
  const wrote = `${tokens} tokens less in the next request; ${rewrite_tokens} written again`
  if (cold) return `${wrote}, as they had to be: the cache had expired`
  return `${wrote} for $${rewrite_usd.toFixed(4)}, $${rewrite_usd_expected.toFixed(4)} expected`
}

function distance(tokens: number): string {
  return tokens > 0 ? `${tokens} to go` : `passed by ${-tokens}`
}
