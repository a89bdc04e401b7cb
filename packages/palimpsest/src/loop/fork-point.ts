import { forkRequest, type ForkParent } from '../request/fork-request.ts'
import { TTL_MS } from '../ledger/cache.ts'
import type { Fork, ForkOutcome, ModelRequest, Ports, RunFork, TraceEvent } from '../ports.ts'
import { estimatePrompt } from '../tokens/plausible-usage.ts'
import { findModelFacts } from '../wire/model-facts.ts'
import type { MessagesResponse } from '../wire/response.ts'
import { promptTokens, type Usage } from '../wire/usage.ts'
import type { OwnIds } from './answers/own-ids.ts'
import { askOnce } from './ask-once.ts'
import { unlessAborted } from '../background/unless-aborted.ts'

// Where forks of a conversation begin: its last answered request. The cache entry of a request can be read once its answer begins, so forks
// that start together would all pay for the same prefix. Unless the entry can be read already, one fork goes first and the others wait
// until its answer begins.

export interface ForkPoint {
  /** A request was answered: new forks extend it. Forks in progress keep their parent. */
  readonly moveTo: (parent: ForkParent, startedAt: number) => void
  readonly runFork: RunFork
  /** Forks of the request that is the last answered one now, whatever is answered later. For a fork that takes several responses. */
  readonly hold: (ids?: OwnIds) => RunFork
}

export interface ForkSetup {
  readonly ports: Pick<Ports, 'streamModel' | 'clock' | 'trace'>
  /** Receives every complete answer, for the bill. */
  readonly onAnswer?: (response: MessagesResponse, fork: Fork) => void
}

export function createForkPoint({ ports, onAnswer }: ForkSetup): ForkPoint {
  let run: Run = async () => ({ kind: 'unfit' })
  return {
    moveTo: (parent, startedAt) => {
      const ways = createWays(startedAt + TTL_MS[parent.lifetime])
      run = async (fork, signal, ids) => {
        const isReadable = ways.isReadable(ports.clock.now())
        const forked = forkRequest(parent, fork)
        if (!forked || (fork.needsCache && !isReadable)) return { kind: 'unfit' }
        const request = { ...forked, expected: expectedOf(forked, parent, isReadable) }
        const lifetimeMs = TTL_MS[parent.lifetime]
        const outcome = await ways.go((fork.shared ?? []).join(','), ports.clock.now, signal, (begun) => {
          const startedAt = ports.clock.now()
          return askOnce(request, ports, signal, { onBegin: () => begun(startedAt + lifetimeMs), ids })
        })
        if ('response' in outcome) onAnswer?.(outcome.response, fork)
        // Nothing was sent and nothing failed.
        if (outcome.kind === 'failed' && outcome.failure.kind === 'over-budget') return { kind: 'unfit' }
        ports.trace(traceOf(fork, outcome))
        return outcome
      }
    },
    runFork: (fork, signal) => run(fork, signal),
    hold: (ids) => {
      const held = run
      return (fork, signal) => held(fork, signal, ids)
    },
  }
}

type Run = (fork: Fork, signal: AbortSignal, ids?: OwnIds) => Promise<ForkOutcome>

/** The parent's part is read from the cache if it can be, otherwise written again; what follows it is neither. */
function expectedOf({ body, model }: ModelRequest, parent: ForkParent, isReadable: boolean): Usage {
  const facts = findModelFacts(model)
  const tokens = estimatePrompt(parent.body, facts)
  const more = Math.max(0, estimatePrompt(body, facts) - tokens)
  const [read, written] = isReadable ? [tokens, 0] : [0, tokens]
  return {
    input_tokens: more,
    output_tokens: 0,
    cache_read_input_tokens: read,
    cache_creation_input_tokens: written,
  }
}

/** The answer has begun: what its request wrote or read stays in the cache until then. */
type Begun = (readableUntil: number) => void

interface Ways {
  /** Whether the cache entry that the parent wrote can be read. */
  readonly isReadable: (now: number) => boolean
  /** Does the work once its cache entry can be read, or at once if it goes first. */
  readonly go: <T>(
    shared: string,
    now: () => number,
    signal: AbortSignal,
    work: (begun: Begun) => Promise<T>,
  ) => Promise<T>
}

/** The state of the forks that share the same text after the parent. */
interface Way {
  readableUntil: number
  /** Settles when the answer of the fork in front begins, or when that fork ends without an answer. */
  ahead?: Promise<void> | undefined
}

/** One way for the parent itself, under the empty text, and one for each text that forks share after it. */
function createWays(readableUntil: number): Ways {
  const ways = new Map<string, Way>([['', { readableUntil }]])
  return {
    isReadable: (now) => now < (ways.get('')?.readableUntil ?? 0),
    go: async (shared, now, signal, work) => {
      const way = ways.get(shared) ?? { readableUntil: 0 }
      ways.set(shared, way)
      // If the fork in front ended before its answer began, the next one goes first.
      while (way.ahead && now() >= way.readableUntil) await unlessAborted(way.ahead, signal)
      signal.throwIfAborted()
      let settle: () => void = () => undefined
      if (now() >= way.readableUntil) {
        const own = new Promise<void>((resolve) => {
          settle = () => {
            if (way.ahead === own) way.ahead = undefined
            resolve()
          }
        })
        way.ahead = own
      }
      try {
        return await work((until) => {
          way.readableUntil = Math.max(way.readableUntil, until)
          settle()
        })
      } finally {
        settle()
      }
    },
  }
}

function traceOf({ source }: Fork, outcome: ForkOutcome): TraceEvent {
  const event = { name: 'fork', source, reason: outcome.kind }
  if (!('response' in outcome)) return event
  const { usage } = outcome.response
  return {
    ...event,
    inputTokens: promptTokens(usage),
    readTokens: usage.cache_read_input_tokens ?? 0,
    outputTokens: usage.output_tokens,
  }
}
