import { ProviderError, UsageError } from '../errors.ts'
import { sizeOf } from '../situation/size-of.ts'
import { reportNow } from '../situation/after-undo.ts'
import { limitNamed, LIMIT_TOKENS_MIN } from '../tokens/doubt-limit.ts'
import { overflowFailure, type Overflow } from '../tokens/overflow.ts'
import type { ContextSetup, ContextState } from './context-state.ts'
import { takeBeside } from './open-context.ts'
import { buildNow, limitsOf, listen, type PreparedRequest } from './prepare.ts'
import { findOverflow } from './send-model.ts'
import { shorten } from './shorten.ts'

/** A shorter answer is useless: then the conversation must get shorter. */
const ANSWER_TOKENS_MIN = 1_024
/** Share of the window: servers count slightly differently from one request to the next. */
const ROOM_SHARE = 0.99

/** After a refusal because of size: the same request, smaller. Any other error is rethrown unchanged. */
export async function recover(
  state: ContextState,
  error: unknown,
  setup: ContextSetup,
  signal: AbortSignal,
): Promise<PreparedRequest> {
  const { sent } = state
  const overflow = findOverflow(error)
  if (!overflow) throw error
  if (!sent) throw new UsageError('No request was refused: call `prepare` first.', { cause: error })
  const told = listen()
  const limit = limitNamed(overflow, sent.tokens)
  const answerTokens = shorterAnswer(overflow, sent.head.maxTokens)
  const head = answerTokens === undefined ? sent.head : { ...sent.head, maxTokens: answerTokens }
  if (limit !== undefined && limit >= LIMIT_TOKENS_MIN)
    state.windowMax = Math.min(limit, state.windowMax ?? limit)
  const limits = limitsOf(state, head, setup)
  if (answerTokens === undefined) {
    const sizeTokens = overflow.used ?? sent.tokens
    const hearing = { ports: setup.ports, hear: told.hear }
    const isShorter = await shorten(state, { ...limits, sizeTokens }, hearing, signal)
    if (!isShorter) throw unhelped(error, overflow, told.notices)
  }
  const notices = [...told.notices, ...(await takeBeside(state, setup))]
  const tokens = sizeOf(state.session.view, limits)
  const { request } = buildNow(state, { head, marks: sent.marks, tokens }, limits, setup)
  const { percentLeft } = reportNow(tokens, state.session.view, limits.reading)
  const history = { change: 'appended', from: state.path.length - 1 } as const
  return { request, plan: { tokens, percentLeft, history, actions: told.actions, notices } }
}

/** A shorter answer, if prompt and answer together were too long and the prompt alone is not. */
function shorterAnswer({ kind, limit, used }: Overflow, maxTokens: number): number | undefined {
  if (kind !== 'input-and-output' || limit === undefined || used === undefined) return undefined
  const room = Math.floor(ROOM_SHARE * limit) - used
  return room >= ANSWER_TOKENS_MIN && room < maxTokens ? room : undefined
}

function unhelped(cause: unknown, overflow: Overflow, notices: readonly string[]): ProviderError {
  const said = cause instanceof Error ? cause.message : String(cause)
  const why = notices.length > 0 ? ` ${notices.join(' ')}` : ''
  return new ProviderError(
    overflowFailure(overflow),
    `The provider says that the request is too long, and nothing more can be removed from it: ${said}.${why} Send less, or choose a model with a larger window.`,
    { cause },
  )
}
