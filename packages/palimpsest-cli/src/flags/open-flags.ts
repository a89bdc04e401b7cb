import { join } from 'node:path'

import { createFlags, type Flags, type FlagSource, type TraceEvent } from 'palimpsest'

import type { Settings } from '../agent/settings/settings-shape.ts'
import { urlProblem } from '../agent/settings/url-problem.ts'
import type { World } from '../world.ts'
import { hasRules, type FlagAttributes } from './evaluate-features.ts'
import { createFileSource } from './file-source.ts'
import type { Payload } from './read-payload.ts'
import { openRemoteSource, type RemoteSource } from './remote-source.ts'
import { statedFlags } from './stated-flags.ts'

// Every source of flags, strongest first: environment, settings, the user's file, the service, built-in values. A project has no file of
// its own: it must neither turn off what keeps a conversation safe, nor make us call an address.

export interface OpenFlagsOptions {
  /** PALIMPSEST_HOME. */
  readonly home: string
  readonly settings: Partial<Pick<Settings, 'autoCompactEnabled' | 'sessionMemory' | 'memory' | 'flagsUrl'>>
  readonly attributes: FlagAttributes
  /** Receives sentences for the user, each only once. */
  readonly report: (problem: string) => void
  readonly trace: (event: TraceEvent) => void
}

export interface OpenedFlags {
  readonly flags: Flags
  readonly sources: readonly FlagSource[]
  readonly remote?: Pick<RemoteSource, 'name' | 'fetchedAt'> | undefined
  /** Every name that a file or a service mentions. */
  readonly keys: () => readonly string[]
  /** Whether some values depend on the session. */
  readonly hasRules: () => boolean
  /** Starts asking the service, in the background. */
  readonly start: () => void
  readonly close: () => void
}

export async function openFlags(
  options: OpenFlagsOptions,
  world: Pick<World, 'env' | 'now'>,
): Promise<OpenedFlags> {
  const { home, settings, attributes, trace } = options
  const report = onlyOnce(options.report)
  const stated = statedFlags(world, settings)
  for (const warning of stated.warnings) report(warning)
  const file = createFileSource(join(home, 'flags.json'), { attributes, report, trace })
  await file.settled()
  const url = addressOf(world, settings, report)
  const remote =
    url === undefined
      ? undefined
      : await openRemoteSource({ url, home, now: world.now, attributes, report, trace })
  const payloads = (): readonly Payload[] =>
    [file.payload(), remote?.payload()].filter((payload) => payload !== undefined)
  const sources = [...stated.sources, file, ...(remote ? [remote] : [])]
  return {
    flags: createFlags(sources),
    sources,
    remote,
    keys: () => payloads().flatMap(({ features }) => Object.keys(features)),
    hasRules: () => payloads().some(hasRules),
    start: () => remote?.start(),
    close: () => remote?.close(),
  }
}

/** An empty variable turns the service off for one run. */
function addressOf(
  { env }: Pick<World, 'env'>,
  { flagsUrl }: Partial<Pick<Settings, 'flagsUrl'>>,
  report: (problem: string) => void,
): string | undefined {
  const url = env['PALIMPSEST_FLAGS_URL'] ?? flagsUrl
  if (url === undefined || url === '') return undefined
  const problem = urlProblem(url)
  if (problem === undefined) return url
  report(`PALIMPSEST_FLAGS_URL ${problem}. It is ignored`)
  return undefined
}

/** Most reports of one run. A service that is down all day is reported once. */
const REPORTS_MAX = 50
/** Longest report, in characters: it may quote long names and values from others. */
const REPORT_CHARS = 500

function onlyOnce(report: (problem: string) => void): (problem: string) => void {
  const told = new Set<string>()
  return (words) => {
    const problem = words.slice(0, REPORT_CHARS)
    if (told.has(problem) || told.size >= REPORTS_MAX) return
    told.add(problem)
    report(problem)
  }
}
