import { refusedBlock } from './answers/refused-block.ts'
import type { NamedBody, Session } from '../situation/session.ts'
import { unsealed } from '../engine/unsealed.ts'
import { ProviderError, type ProviderFailure } from '../errors.ts'
import { factorOf } from '../tokens/calibrate.ts'
import { limitNamed } from '../tokens/doubt-limit.ts'
import { settle, tokensEnd } from '../transcript/settle.ts'
import { promptTokens } from '../wire/usage.ts'
import { exchange, type Asking, type AskSetup, type Exchange } from './exchange.ts'
import type { LoopEvent } from './events.ts'
import type { LearnedLimit, LimitKeeper } from './limit-keeper.ts'

// A refusal does not surface while something can be done about it: an implausible limit is tried once more, a requested answer that was too
// long is asked for shorter, a conversation that is too long is compacted, a block that the provider does not accept is removed. Each
// remedy is tried once, or a few times; only then does the error surface.

/** What a turn can do about refusals. */
export interface Remedies {
  readonly append: (bodies: readonly NamedBody[]) => AsyncGenerator<LoopEvent>
  /** Leaves the same session object if nothing could be done. */
  readonly compact: (sizeTokens: number) => AsyncGenerator<LoopEvent>
  readonly learned: (learned: LearnedLimit) => void
}

export interface Recovering extends Asking {
  session: Session
  /** Longest answer to ask for, in tokens; a refusal may lower it. */
  maxTokens: number
}

export interface RecoverSetup extends AskSetup {
  /** Learns of each refusal because of size. */
  readonly limits?: LimitKeeper | undefined
}

/** Most blocks removed for one request. A provider that refuses more has another problem. */
const BLOCKS_LEFT_OUT_MAX = 5
/** Shortest useful answer, in tokens. With less room than this, the conversation must get shorter. */
const ANSWER_TOKENS_MIN = 1_024
/** Usable share of the window, because servers count a little differently from one request to the next. */
const ROOM_SHARE = 0.99

const NO_USE: ProviderFailure = { kind: 'invalid-request', status: 400 }

type Overflow = Extract<ProviderFailure, { kind: 'context-overflow' }>

interface Tried {
  blocks: number
  /** Thinking was among them. */
  thoughtBefore: boolean
  unsealed: boolean
  shortened: boolean
  compacted: boolean
  /** Limits that errors named and that we did not believe. */
  readonly doubted: number[]
  /** A sentence that explains more than the provider's own. */
  told?: string
}

export async function* askOrRecover(
  state: Recovering,
  tokens: number,
  setup: RecoverSetup & { readonly remedies: Remedies },
  signal: AbortSignal,
): AsyncGenerator<LoopEvent, Exchange> {
  const tried: Tried = {
    blocks: 0,
    thoughtBefore: false,
    unsealed: false,
    shortened: false,
    compacted: false,
    doubted: [],
  }
  for (;;) {
    try {
      return yield* exchange(state, { ...setup, maxTokens: state.maxTokens }, signal)
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error
      const { failure } = error
      const isHelped =
        failure.kind === 'context-overflow'
          ? yield* makeFit(state, { failure, said: error.message, tokens, tried }, setup)
          : yield* makeValid(state, error, tried, setup)
      // A failure kind for which no one offers a compaction, because none would help.
      if (!isHelped && tried.told !== undefined) throw new ProviderError(NO_USE, tried.told, { cause: error })
      if (!isHelped) throw error
    }
  }
}

/** True if the request changed: what the provider does not accept has left it. */
async function* makeValid(
  { session, situation: { thinking } }: Recovering,
  error: ProviderError,
  tried: Tried,
  { ports, remedies }: RecoverSetup & { readonly remedies: Remedies },
): AsyncGenerator<LoopEvent, boolean> {
  const plain = tried.unsealed ? undefined : unsealed(session.view, error.failure, ports.newId)
  if (plain) {
    tried.unsealed = true
    yield* remedies.append(plain)
    return true
  }
  const { thoughtBefore } = tried
  const refused =
    tried.blocks < BLOCKS_LEFT_OUT_MAX
      ? refusedBlock(session.view, error, { thinking, thoughtBefore })
      : undefined
  if (!refused) return false
  tried.blocks++
  tried.thoughtBefore ||= refused.type.endsWith('thinking')
  ports.trace({ name: 'block-refused', reason: refused.type, path: refused.path })
  yield* remedies.append(refused.bodies)
  yield { type: 'notice', text: refused.notice }
  return true
}

interface TooLong {
  readonly failure: Overflow
  readonly said: string
  /** Our own count. */
  readonly tokens: number
  readonly tried: Tried
}

/** Whether it is worth asking again: unchanged, for a shorter answer, or with a shorter conversation. */
async function* makeFit(
  state: Recovering,
  { failure, said, tokens, tried }: TooLong,
  setup: RecoverSetup & { readonly remedies: Remedies },
): AsyncGenerator<LoopEvent, boolean> {
  const { remedies, ports } = setup
  const limit = limitNamed(failure, tokens)
  const isRepeated = limit !== undefined && tried.doubted.includes(limit)
  const prefixTokens = prefixTokensOf(state, tokens)
  const verdict = (await setup.limits?.refused({
    failure,
    said,
    sentTokens: tokens,
    outputTokens: state.maxTokens,
    prefixTokens,
    answeredTokens: mostAnswered(state.session),
    isRepeated,
  })) ?? { kind: 'nothing' }
  if (verdict.kind === 'doubted' && verdict.why === 'no-room')
    tried.told = noRoomText(verdict.limit, prefixTokens, state.session)
  if (verdict.kind === 'learned') {
    remedies.learned(verdict.learned)
    yield { type: 'notice', text: verdict.learned.notice }
  }
  // The error may be a slip: of another model at the same address, or of the server's author. Asking again costs nothing.
  if (verdict.kind === 'doubted' && !isRepeated && !tried.compacted) {
    tried.doubted.push(verdict.limit)
    return true
  }
  const shorter = tried.shortened ? undefined : shorterAnswer(failure, state.maxTokens)
  if (shorter !== undefined) {
    tried.shortened = true
    state.maxTokens = shorter
    return true
  }
  if (tried.compacted) return false
  tried.compacted = true
  const before = state.session
  const usedTokens = usedOf(failure, tokens)
  ports.trace({ name: 'overflow', reason: 'refused', sentTokens: tokens, usedTokens })
  yield* remedies.compact(usedTokens)
  return state.session !== before
}

function noRoomText(limit: number, prefixTokens: number, { view }: Session): string {
  const [said, needed] = [limit, Math.ceil(prefixTokens)].map((tokens) => tokens.toLocaleString('en'))
  return `The provider says that ${view.prefix?.model ?? 'the model'} takes ${said} tokens, and the system prompt and tools alone take about ${needed}. Choose a model with a larger window (--model), or check the base URL.`
}

/** What the error says was used, if that is plausible for what was sent. */
function usedOf({ used }: Overflow, tokens: number): number {
  return used !== undefined && used >= tokens / USED_ERROR_MAX && used <= tokens * USED_ERROR_MAX
    ? used
    : tokens
}

/** Our own count is off by at most this factor. */
const USED_ERROR_MAX = 3

/** If prompt and answer together were too long and the prompt alone is not: the answer length that fits. */
function shorterAnswer({ limit, used, outputDecides }: Overflow, maxTokens: number): number | undefined {
  if (!outputDecides || limit === undefined || used === undefined) return undefined
  const room = Math.floor(ROOM_SHARE * limit) - used
  return room >= ANSWER_TOKENS_MIN && room < maxTokens ? room : undefined
}

function prefixTokensOf(
  { session, situation: { thinking, calibration } }: Recovering,
  tokens: number,
): number {
  return Math.max(0, tokens - factorOf(calibration) * tokensEnd(settle(session.view, thinking)))
}

/** The largest prompt that this model answered. Whether it was at the same address is unknown; this only raises doubts about a limit. */
function mostAnswered({ view: { log, prefix } }: Session): number {
  let most = 0
  for (const entry of log)
    if (entry.kind === 'message' && entry.usage && entry.model === prefix?.model)
      most = Math.max(most, promptTokens(entry.usage))
  return most
}
