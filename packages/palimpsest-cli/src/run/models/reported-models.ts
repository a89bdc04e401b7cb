import { realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'

import type { TraceEvent } from 'palimpsest'
import type { ListModels } from 'palimpsest/providers/anthropic'
import { NO_MODELS, withReportedModels, type Models } from 'palimpsest/tokens'
import { findModelFacts, isJsonObject, type Json, type JsonObject } from 'palimpsest/wire'
import { readPlainText } from 'palimpsest/node'

import { placeOwnFile } from '../../agent/files/place-own-file.ts'

// What a provider says about its models. If what we know is older than a day, we ask again beside the first request of a run. Nothing waits
// for the answer, and failures only appear in the trace.

const NAME = 'reported-models.json'
/** A list has a few dozen models, and each takes about a hundred bytes. */
const FILE_BYTES_MAX = 1_000_000
const ENDPOINTS_MAX = 20
const FRESH_MS = 24 * 3_600_000
/** Older reports do not count: endpoints change. */
const USED_MS = 30 * FRESH_MS

type Reported = Models['reported']

interface Known {
  readonly at: number
  readonly reported: Reported
}

type KnownByEndpoint = { readonly [endpoint: string]: Known }

/** What this endpoint said about its models; empty if it was not asked, or too long ago. A damaged file counts as empty. */
export async function readReported(home: string, endpoint: string, now: number): Promise<Reported> {
  const known = (await readKnown(home))[endpoint]
  return known && isYoung(known, now, USED_MS) ? known.reported : {}
}

export interface ModelListOptions {
  readonly home: string
  readonly endpoint: string
  /** Absent if the endpoint has no such list. */
  readonly listModels: ListModels | undefined
  readonly isOn: () => boolean
  readonly now: () => number
  readonly trace: (event: TraceEvent) => void
  /** Called when something new is known. */
  readonly arrived: (reported: Reported) => void
}

export interface ModelListKeeper {
  /** Asks if that is due. Returns at once; a second call does nothing. */
  readonly begin: () => void
  /** Cancels a question under way; an answer that already came is kept. */
  readonly close: () => Promise<void>
}

export function createModelListKeeper(options: ModelListOptions): ModelListKeeper {
  const stop = new AbortController()
  let working: Promise<void> | undefined
  return {
    begin: () => {
      const { listModels } = options
      if (working || !listModels) return
      working = ask(listModels, options, stop.signal).catch((error: unknown) => {
        const reason = error instanceof Error ? error.message : String(error)
        if (!stop.signal.aborted) options.trace({ name: 'model-list', reason })
      })
    },
    close: async () => {
      stop.abort()
      await working
    },
  }
}

async function ask(listModels: ListModels, options: ModelListOptions, signal: AbortSignal): Promise<void> {
  const { home, endpoint, isOn, now, trace } = options
  const before = (await readKnown(home))[endpoint]
  if (!isOn() || (before && isYoung(before, now(), FRESH_MS))) return
  const list = await listModels(signal)
  if (list.kind === 'failed') return trace({ name: 'model-list', reason: list.reason })
  // An endpoint without a list is not asked again right away; its earlier answer stays valid.
  const reported = list.kind === 'list' ? sizesIn(list.body) : (before?.reported ?? {})
  traceDifferences(reported, trace)
  trace({ name: 'model-list', reason: list.kind, models: Object.keys(reported).length })
  if (list.kind === 'list') options.arrived(reported)
  await save(home, endpoint, { at: now(), reported })
}

/** How many tokens each model accepts and returns. The rest shapes requests, and comes from the table. */
function sizesIn(body: unknown): Reported {
  const { reported } = withReportedModels(NO_MODELS, body)
  return Object.fromEntries(Object.entries(reported).map(([id, one]) => [id, sizesOf(one)]))
}

function sizesOf({
  maxInput,
  maxOutput,
}: {
  readonly maxInput?: number | undefined
  readonly maxOutput?: number | undefined
}): { readonly maxInput?: number | undefined; readonly maxOutput?: number | undefined } {
  return { maxInput, maxOutput }
}

/** The table may be outdated, or the endpoint may report a wrong number. */
function traceDifferences(reported: Reported, trace: ModelListOptions['trace']): void {
  for (const [model, { maxInput }] of Object.entries(reported)) {
    const facts = findModelFacts(model)
    const tableTokens = facts && Math.min(facts.contextWindow, facts.maxInput ?? Infinity)
    if (maxInput === undefined || tableTokens === undefined || maxInput === tableTokens) continue
    trace({
      name: 'model-window',
      reason: 'the provider says otherwise',
      model,
      tableTokens,
      reportedTokens: maxInput,
    })
  }
}

function isYoung({ at }: Known, now: number, msMax: number): boolean {
  // A future or unreadable time does not count as young.
  return now - at >= 0 && now - at < msMax
}

async function readKnown(home: string): Promise<KnownByEndpoint> {
  const path = join(home, NAME)
  try {
    const { size } = await stat(path)
    const value: unknown = size > FILE_BYTES_MAX ? undefined : JSON.parse(await readPlainText(path))
    const endpoints = isJsonObject(value) ? value['endpoints'] : undefined
    return isJsonObject(endpoints) ? knownIn(endpoints) : {}
  } catch {
    return {}
  }
}

function knownIn(endpoints: JsonObject): KnownByEndpoint {
  return Object.fromEntries(
    Object.entries(endpoints).flatMap(([endpoint, value]) => {
      if (!isJsonObject(value) || typeof value['at'] !== 'number' || !isJsonObject(value['models'])) return []
      return [[endpoint, { at: value['at'], reported: reportedIn(value['models']) }] as const]
    }),
  )
}

function reportedIn(models: JsonObject): Reported {
  return Object.fromEntries(
    Object.entries(models).flatMap(([id, value]) => {
      if (!isJsonObject(value)) return []
      const { maxInput, maxOutput } = value
      const found = sizesOf({ maxInput: countIn(maxInput), maxOutput: countIn(maxOutput) })
      return [[id, found] as const]
    }),
  )
}

function countIn(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : undefined
}

async function save(home: string, endpoint: string, known: Known): Promise<void> {
  // Another process may have asked meanwhile.
  const others = Object.entries(await readKnown(home)).filter(([name]) => name !== endpoint)
  const newest = others.toSorted(([, a], [, b]) => b.at - a.at).slice(0, ENDPOINTS_MAX - 1)
  const endpoints = Object.fromEntries(
    [[endpoint, known] as const, ...newest].map(([name, one]) => [name, toJson(one)]),
  )
  const document: Json = { endpoints }
  await placeOwnFile(join(await realpath(home), NAME), Buffer.from(`${JSON.stringify(document)}\n`))
}

function toJson({ at, reported }: Known): JsonObject {
  const models = Object.fromEntries(Object.entries(reported).map(([id, one]) => [id, sizesOf(one)]))
  return { at, models }
}
