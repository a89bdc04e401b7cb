import { createRunner, mayCallBeside } from 'palimpsest/engine'
import { priceOf } from 'palimpsest/ledger'
import { createAskModel } from 'palimpsest/loop'
import type { ConversationSetup, Spent } from 'palimpsest/conversation'
import { estimateText } from 'palimpsest/tokens'
import { findModelFacts, isClaudeId, MODEL_FACTS, type ModelFacts } from 'palimpsest/wire'

import { toPrintable } from '../../agent/printable.ts'
import { sentenceOf } from '../../report-error.ts'
import type { AgentBase } from '../agent-base.ts'

// What an agent is doing, in a model's words. Asks either a fork of the agent's last request, which the cache holds, or the cheapest model
// with only the last rounds, whichever costs less. The text answers no one: nothing waits for it, and its cost stays within the background
// share.

type ModelRequest = Parameters<ConversationSetup['ports']['streamModel']>[0]

/** The newest request of an agent, and its size. */
export interface SentRequest {
  readonly request: ModelRequest
  readonly tokens: number
  readonly at: number
}

export interface SummaryWish {
  readonly sent: SentRequest | undefined
  /** What the agent said and called, newest last. */
  readonly turns: readonly string[]
}

/** Asks one question at a time. Undefined if a model has nothing to say, now or for the rest of the session. Never rejects. */
export type AskSummary = (wish: SummaryWish, signal: AbortSignal) => Promise<string | undefined>

export interface AskSetup {
  readonly setup: Pick<ConversationSetup, 'ports' | 'totals' | 'spending'>
  readonly model: string
  readonly now: () => number
  readonly spend: (spent: Spent) => void
}

const SOURCE = 'agent-summary'
const ASKED =
  'In three to five words: what is this agent doing right now? Present tense, a verb in -ing first, and name the thing: a file, a function, a command. Call no tool, and answer with these words alone. For example: Tracing timeout in queue.ts'
/** The most allowed, and the usual cost of a few words. */
const OUTPUT_TOKENS = 64
const EXPECTED_TOKENS = 12
const ROUNDS = 6
/** How long the cache keeps a prompt. */
const CACHED_MS = 5 * 60_000

/** One for all agents of a session: if it fails, it fails for all. Undefined: the setting asks for none. */
export function summaryAsker(
  { setup, scene, world }: AgentBase,
  spend: AskSetup['spend'],
): AskSummary | undefined {
  if (scene.ground.settings.agents.summary !== 'model') return undefined
  return createAskSummary({ setup, model: setup.prefix.model, now: world.now, spend })
}

export function createAskSummary({ setup, model, now, spend }: AskSetup): AskSummary {
  const { ports, totals, spending } = setup
  const ask = createAskModel(ports)
  const runner = createRunner<Asked, string>(
    {
      name: SOURCE,
      maySpend: ({ way: { facts, tokens } }) => {
        const { costUsd: totalUsd, besideUsd = 0 } = totals()
        const elsewhere = spending?.elsewhere?.()
        return mayCallBeside({ totalUsd, besideUsd, outputTokens: EXPECTED_TOKENS, elsewhere }, facts, tokens)
      },
      run: async ({ way: { request }, signal }) => {
        try {
          const outcome = await ask(request, signal)
          if (outcome.kind !== 'failed')
            spend({ kind: 'spent', source: SOURCE, model: request.model, usage: outcome.response.usage })
          const made = outcome.kind === 'answered' ? wordsIn(outcome.text) : undefined
          if (made !== undefined) return { made, hasFailed: false }
          return { reason: `no words: ${outcome.kind}`, hasFailed: true }
        } catch (error) {
          // Either the agent has ended and the words are no longer needed, or something failed and the computed words will do.
          return signal.aborted ? { hasFailed: false } : { reason: sentenceOf(error), hasFailed: true }
        }
      },
    },
    { ports },
  )
  return async (wish, signal) =>
    await runner.consider(() => {
      const way = ports.flags.value('background-calls') ? cheapest(wish, model, now()) : undefined
      return way && { way, signal }
    })
}

interface Asked {
  readonly way: Way
  /** Aborted when the agent has ended. */
  readonly signal: AbortSignal
}

interface Way {
  readonly request: ModelRequest
  readonly facts: ModelFacts
  readonly tokens: number
  readonly usd: number
}

/** By the prices of the ledger. Undefined: the model's price is unknown. */
function cheapest({ sent, turns }: SummaryWish, model: string, now: number): Way | undefined {
  const own = findModelFacts(sent?.request.model ?? model)
  const plain = plainWay(turns, sent?.request.model ?? model)
  const fork = own && sent && now - sent.at < CACHED_MS ? forkWay(sent, own) : undefined
  return fork && (!plain || fork.usd < plain.usd) ? fork : plain
}

/** The same bytes, with one message after them. */
function forkWay({ request, tokens }: SentRequest, facts: ModelFacts): Way | undefined {
  if (!request.body.endsWith(END)) return undefined
  const asked = JSON.stringify({ role: 'user', content: ASKED })
  const body = `${request.body.slice(0, -END.length)},${asked}${END}`
  const usd = usdOf(facts, { read: tokens, uncached: estimateText(ASKED) })
  return { request: { ...request, body, source: SOURCE }, facts, tokens, usd }
}

const END = ']}'

function plainWay(turns: readonly string[], own: string): Way | undefined {
  const facts = cheapestModel(own)
  if (!facts) return undefined
  const content = `${ASKED}\n\nThe last that it said and called, the newest last:\n${turns.slice(-ROUNDS).join('\n')}`
  const body = JSON.stringify({
    model: facts.id,
    max_tokens: OUTPUT_TOKENS,
    stream: true,
    messages: [{ role: 'user', content }],
  })
  const tokens = estimateText(content)
  const usd = usdOf(facts, { read: 0, uncached: tokens })
  return { request: { body, betas: [], model: facts.id, source: SOURCE }, facts, tokens, usd }
}

/** From the same maker: another maker's model has another endpoint. */
function cheapestModel(own: string): ModelFacts | undefined {
  const facts = findModelFacts(own)
  const others = isClaudeId(own) ? MODEL_FACTS.filter(({ id }) => isClaudeId(id)) : []
  const [first] = [...others, ...(facts ? [facts] : [])].toSorted(
    (a, b) => usdOf(a, { read: 0, uncached: 1 }) - usdOf(b, { read: 0, uncached: 1 }),
  )
  return first
}

function usdOf(
  facts: ModelFacts,
  { read, uncached }: { readonly read: number; readonly uncached: number },
): number {
  return priceOf({ read, uncached, written5m: 0, written1h: 0, output: EXPECTED_TOKENS }, facts.prices)
}

const WORDS_MIN = 2
const WORDS_MAX = 8
const CHARS_MAX = 60

/** Undefined unless the text is a few words. */
function wordsIn(text: string): string | undefined {
  const line = toPrintable(text.trim()).replaceAll(/^["'`]+|(?<!["'`.])["'`.]+$/g, '')
  const count = line.split(/\s+/).length
  const fits = count >= WORDS_MIN && count <= WORDS_MAX && line.length <= CHARS_MAX && !line.includes('\n')
  return fits ? line : undefined
}
