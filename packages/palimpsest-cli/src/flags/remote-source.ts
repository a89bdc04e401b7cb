import { setTimeout as sleep } from 'node:timers/promises'

import type { FlagSource } from 'palimpsest'

import { fetchPayload } from './fetch-payload.ts'
import { readLastKnown, saveLastKnown, type LastKnown } from './last-known.ts'
import { createPayloadSource, type PayloadSource, type PayloadSourceOptions } from './payload-source.ts'
import { readPayload } from './read-payload.ts'

// A flag service. The last known payload counts from the start; newer ones come in the background, and nothing ever waits for them.

export interface RemoteSource extends FlagSource, Pick<PayloadSource, 'payload'> {
  /** When the current payload was fetched; undefined before the first. */
  readonly fetchedAt: () => number | undefined
  /** Starts asking: now if the last known payload is old, then at intervals. Returns at once. */
  readonly start: () => void
  /** Ends whatever is under way. */
  readonly close: () => void
}

export interface RemoteOptions extends Omit<PayloadSourceOptions, 'name'> {
  readonly url: string
  readonly home: string
  readonly now: () => number
  readonly refreshMs?: number
  readonly answerMsMax?: number
}

/** How old a payload may get: a kill switch takes effect within this time. */
const REFRESH_MS = 5 * 60_000
const ANSWER_MS_MAX = 10_000

/** Reads the stored payload; does not ask the service. */
export async function openRemoteSource(options: RemoteOptions): Promise<RemoteSource> {
  const { url, home, now, refreshMs = REFRESH_MS } = options
  const name = URL.parse(url)?.host ?? 'flag service'
  const report = (problem: string): void => options.report(`flags of ${name}: ${problem}`)
  const source = createPayloadSource({ ...options, name, report })
  const stop = new AbortController()
  let known = await readLastKnown(home, url).catch((error: unknown) => {
    report(`the last known values are not used (${String(error)})`)
    return undefined
  })
  if (known) source.take(known.payload)
  await source.settled()
  const dueInMs = (): number => {
    const age = known ? now() - known.fetchedAt : Number.NaN
    // A future or unreadable time means that it is due.
    return age >= 0 && age < refreshMs ? refreshMs - age : 0
  }
  const run = async (): Promise<void> => {
    for (let waitMs = dueInMs(); ; waitMs = refreshMs) {
      await sleep(waitMs, undefined, { signal: stop.signal, ref: false })
      known = (await refresh({ options, known, source, report }, stop.signal)) ?? known
    }
  }
  return {
    name,
    find: source.find,
    payload: source.payload,
    fetchedAt: () => known?.fetchedAt,
    start: () =>
      void run().catch((error: unknown) => {
        if (!stop.signal.aborted) report(`they are no longer refreshed (${String(error)})`)
      }),
    close: () => stop.abort(),
  }
}

interface Refreshing {
  readonly options: RemoteOptions
  readonly known: LastKnown | undefined
  readonly source: PayloadSource
  readonly report: (problem: string) => void
}

/** The new payload; undefined if there is nothing new. */
async function refresh(
  { options, known, source, report }: Refreshing,
  signal: AbortSignal,
): Promise<LastKnown | undefined> {
  const { url, home, now, answerMsMax = ANSWER_MS_MAX } = options
  const fetched = await fetchPayload({ url, etag: known?.etag, answerMsMax }, signal)
  signal.throwIfAborted()
  if (fetched.kind === 'failed') return void report(`${fetched.reason}. ${standing(known)}`)
  if (fetched.kind === 'unchanged') return known && (await keep({ ...known, fetchedAt: now() }, home, report))
  const { payload, problems, unknown } = readPayload(fetched.text, source.payload())
  if (unknown.length > 0) options.trace({ name: 'flags-unknown', from: source.name, count: unknown.length })
  for (const { message } of problems) report(`${message}. ${standing(known)}`)
  if (!payload) return undefined
  source.take(payload)
  // With its ETag, a partly wrong payload would silently count as unchanged next time.
  const etag = problems.length === 0 ? fetched.etag : undefined
  return await keep({ url, payload, fetchedAt: now(), etag }, home, report)
}

async function keep(known: LastKnown, home: string, report: (problem: string) => void): Promise<LastKnown> {
  await saveLastKnown(home, known).catch((error: unknown) => {
    report(`they apply to this session only, because they cannot be stored (${String(error)})`)
  })
  return known
}

function standing(known: LastKnown | undefined): string {
  return known ? 'The last known values apply' : 'The built-in values apply'
}
