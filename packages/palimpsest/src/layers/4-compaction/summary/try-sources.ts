import { factorOf } from '../../../tokens/calibrate.ts'
import { estimateText } from '../../../tokens/estimate.ts'
import { settle } from '../../../transcript/settle.ts'
import type { View } from '../../../transcript/view.ts'
import type { CompactEvent, CompactPorts, CompactSetup, SummarySource } from '../compaction-setup.ts'
import { countMessages, keepFor, type KeepWish } from '../keep/keep-for.ts'
import { rawOf } from '../proof/judge-summary.ts'
import { strictTarget } from '../proof/size-rule.ts'
import { proveText, tracePhase } from './make-summary.ts'
import { compactOnServer, NOT_TRIED, type ServerAttempt, type ServerWish } from './server-compaction.ts'

// What can serve before a new summary is asked for: the provider's own, and texts at hand that cost nothing, which are the notes or a
// summary prepared earlier. What such a text does not cover stays; if that is too much, the text does not serve, and a new summary leaves
// less.

/** In the order of the sources. */
export async function* trySources(
  job: ServerWish,
  mayAsk: boolean,
  ports: CompactPorts,
  signal: AbortSignal,
): AsyncGenerator<CompactEvent, ServerAttempt> {
  let tried = NOT_TRIED
  for (const source of ports.sources) {
    let served: ServerAttempt['served']
    if ('find' in source) {
      served = fromText(source, job)
      if (served) yield { type: 'compaction-path', path: source.path }
    } else if (source.path === 'server' && mayAsk) {
      tried = yield* compactOnServer(job, ports, signal)
      for (const reason of tried.outcomes) tracePhase(ports.trace, 'summary', { path: 'server', reason })
      served = tried.served
    }
    if (!served) continue
    tracePhase(ports.trace, 'summary', { path: source.path, reason: 'served' })
    return { ...tried, served }
  }
  return tried
}

/**
 * Uses a text at hand as the summary and keeps everything that it does not cover; no model is asked. Instructions are only for a summary
 * that is made now.
 */
function fromText(
  { path, find }: Extract<SummarySource, { find: unknown }>,
  { view, keep, instructions, setup }: ServerWish,
): ServerAttempt['served'] {
  const found = instructions === '' && keep.span.kind === 'whole' ? find(view, setup) : undefined
  if (!found) return undefined
  const plan = keepFor(view, settle(view, setup.thinking).tokens, { ...keep, tailFrom: found.rest })
  const proven = proveText(path, found.text, { view, plan, setup })
  if (!proven || !leavesRoom(keep, setup, { plan, made: proven })) return undefined
  if (path !== 'notes') return { plan, made: proven }
  return { plan, made: { ...proven, writer: { kind: 'notes', ...ageOf(view, found.rest, setup) } } }
}

/** What came after the notes. */
function ageOf(
  view: View,
  rest: number,
  { calibration }: CompactSetup,
): { readonly messages: number; readonly tokens: number } {
  const since = view.nodes.slice(rest)
  const raw = since.reduce((sum, node) => sum + rawOf(node), 0)
  return { messages: countMessages(since), tokens: factorOf(calibration) * raw }
}

function leavesRoom(
  keep: KeepWish,
  setup: CompactSetup,
  { plan, made }: NonNullable<ServerAttempt['served']>,
): boolean {
  const texts = estimateText(plan.quotes) + estimateText(made.text)
  const left = setup.prefixTokens + plan.keptTokens + factorOf(setup.calibration) * texts
  return left <= Math.min(keep.targetTokens, strictTarget(setup))
}
