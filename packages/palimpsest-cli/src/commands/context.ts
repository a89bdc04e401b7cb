import type { ContextDescription, ContextKind } from 'palimpsest/engine'
import type { Thresholds, Window } from 'palimpsest/tokens'

import type { Settings } from '../agent/settings/load-settings.ts'
import type { Command, CommandInput } from '../command.ts'
import { palimpsestHome } from '../palimpsest-home.ts'
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
  readonly cache: { readonly hit_rate: number | null }
  readonly cost_usd: number
  readonly removals: readonly {
    readonly id: string
    readonly at: string
    readonly layer: number
    readonly what: string
    readonly tokens: number
    /** Whether an undo of it is still possible. */
    readonly undo: boolean
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
  world.print(flags['json'] === true ? `${JSON.stringify(document, null, 2)}\n` : toText(document))
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
  const { createCostOf } = await import('../cost-of.ts')
  const { id, path } = await findSession(sessionId, world)
  const loaded = await loadTranscript(path)
  const view = viewOf(loaded.entries, loaded.from)
  const answered = view.log.findLast((entry) => entry.kind === 'message' && entry.model !== undefined)
  const model = view.prefix?.model ?? (answered?.kind === 'message' ? answered.model : undefined) ?? 'unknown'
  const reading = readWindow(model, world, await userSettings(world))
  const { facts } = reading.model
  const thinking = modelPolicy(model, facts)
  const description = describeContext(view, {
    window: reading.window,
    thresholds: reading.thresholds,
    autoEnabled: reading.autoEnabled,
    calibration: calibrationOf(view, thinking, facts),
    thinking,
  })
  const { costUsd } = await sessionTotals(path, createCostOf())
  for (const warning of [...reading.warnings, ...loaded.warnings.map(({ text }) => text)]) {
    world.printError(`palimpsest: ${warning}\n`)
  }
  const { window, thresholds } = reading
  return toDocument({ id, model, costUsd, window, thresholds }, description)
}

function toDocument(
  about: {
    readonly id: string
    readonly model: string
    readonly costUsd: number
    readonly window: Window
    readonly thresholds: Thresholds
  },
  { used, report, byKind, hitRate, removals }: ContextDescription,
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
    cache: { hit_rate: hitRate ?? null },
    cost_usd: about.costUsd,
    removals: removals.map(({ at, ...removal }) => ({
      ...removal,
      at: new Date(at).toISOString(),
      undo: removal.layer !== 1,
    })),
  }
}

/** The user's own: what a project asks for counts where its agent runs. */
async function userSettings(world: World): Promise<Pick<Settings, 'workingWindow'>> {
  const { loadSettings } = await import('../agent/settings/load-settings.ts')
  const home = palimpsestHome(world)
  return (await loadSettings({ home, projectFolder: world.cwd, isTrusted: false })).settings
}

function toText(document: ContextDocument): string {
  const { session, model, used, window, percent_left, thresholds, by_kind, cache, cost_usd, removals } =
    document
  const hits = cache.hit_rate === null ? '' : `, ${Math.round(cache.hit_rate * 100)}% read from the cache`
  const lines = [
    `${session}  ${model}`,
    `${used} of ${window} tokens, ${percent_left}% left before compaction; $${cost_usd.toFixed(2)}${hits}`,
    '',
    ...Object.entries(by_kind)
      .filter(([, tokens]) => tokens > 0)
      .map(([kind, tokens]) => `  ${kind.replace('_', ' ').padEnd(14)} ${String(tokens).padStart(8)}`),
    '',
    ...Object.entries(thresholds).map(
      ([name, tokens]) => `  ${name.padEnd(14)} ${String(tokens).padStart(8)}  ${distance(tokens - used)}`,
    ),
    ...(removals.length > 0 ? ['', 'taken out:'] : []),
    ...removals.map(({ id, layer, what, tokens }) => `  ${id}  layer ${layer}: ${what}, ${tokens} tokens`),
  ]
  return `${lines.join('\n')}\n`
}

function distance(tokens: number): string {
  return tokens > 0 ? `${tokens} to go` : `passed by ${-tokens}`
}
