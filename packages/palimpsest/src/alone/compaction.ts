import { drive } from '../drive.ts'
import { BUILT_IN_FLAGS } from '../flags/create-flags.ts'
import { compact } from '../layers/4-compaction/compact.ts'
import { NO_HOST } from '../layers/4-compaction/compaction-host.ts'
import type { CompactPorts, CompactResult, SummarySource } from '../layers/4-compaction/compaction-setup.ts'
import type { AskModel } from '../ports.ts'
import { modelPolicy } from '../situation/model-policy.ts'
import { viewWith } from '../situation/session.ts'
import { factorOf, startCalibration } from '../tokens/calibrate.ts'
import { settle, tokensEnd } from '../transcript/settle.ts'
import type { View } from '../transcript/view.ts'
import { isJsonObject } from '../wire/json.ts'
import type { Usage } from '../wire/usage.ts'
import {
  isMessage,
  messagesOf,
  readingFor,
  viewOfHistory,
  type HistoryMessage,
  type LayerOptions,
} from './history.ts'

export interface CompactionOptions<M> extends LayerOptions {
  /** What the summary should keep. They have no effect without `summarize`. */
  readonly instructions?: string | undefined
  /** Writes the summary: receives messages that end in the request for it, returns the model's text. Absent: no model is needed. */
  readonly summarize?: ((messages: M[]) => Promise<string>) | undefined
  /** Notes about the whole history, as `sessionNotes` returns them: they become the summary if they say enough. */
  readonly notes?: string | undefined
  /** Tokens of system prompt and tools, which come before the messages. Absent: 0. */
  readonly prefixTokens?: number | undefined
}

export interface CompactionOutcome<M> {
  /** The history to continue with: the summary, what stays word for word, and the newest part as it was. */
  readonly messages: M[]
  /** False: nothing was done, and `why` gives the reason. */
  readonly compacted: boolean
  readonly why?: string | undefined
  /** Where the summary comes from. `fold`: no model; `plain`: your `summarize`; `notes`: your notes. */
  readonly path?: string | undefined
  readonly summary?: string | undefined
}

/**
 * Layer 4 alone: the history becomes a summary and its newest part. The summary is proved against the history: instructions, files, errors
 * and to-dos that it leaves out are added. You decide when it is time.
 *
 * @example
 * const { messages } = await compaction(history, { model: 'claude-sonnet-5-5', window: 60_000 })
 */
export async function compaction<M extends HistoryMessage>(
  history: readonly M[],
  options: CompactionOptions<M> = {},
): Promise<CompactionOutcome<M>> {
  const view = viewOfHistory(history)
  const result = await compactView(view, history, options)
  if (result.kind !== 'compacted') return { messages: [...history], compacted: false, why: result.why }
  const { bodies, path, summary } = result
  const messages = messagesOf(viewWith(view, bodies), history, options)
  return { messages, compacted: true, path, summary }
}

async function compactView<M extends HistoryMessage>(
  view: View,
  history: readonly M[],
  options: CompactionOptions<M>,
): Promise<CompactResult> {
  const { model, window, thresholds } = readingFor(options)
  const thinking = modelPolicy(options.model ?? '', model.facts)
  const calibration = startCalibration(model.facts.tokenizer)
  const { prefixTokens = 0, instructions } = options
  const sizeTokens = prefixTokens + factorOf(calibration) * tokensEnd(settle(view, thinking))
  const { facts } = model
  const setup = { thinking, calibration, thresholds, scale: window.scale, facts, source: 'main' }
  const wish = { cause: 'asked', span: { kind: 'whole' }, instructions } as const
  const job = { wish, setup: { ...setup, sizeTokens, prefixTokens } }
  return await drive(compact({ id: 'alone', view }, job, portsFor(history, options), NEVER))
}

const NEVER = new AbortController().signal

function portsFor<M extends HistoryMessage>(
  history: readonly M[],
  { summarize, notes }: CompactionOptions<M>,
): CompactPorts {
  let ids = 0
  const atHand: SummarySource[] =
    notes === undefined ? [] : [{ path: 'notes', find: ({ nodes }) => ({ text: notes, rest: nodes.length }) }]
  return {
    clock: { now: () => 0, sleep: async () => undefined, within: async (work) => await work },
    newId: () => `made-${ids++}`,
    flags: BUILT_IN_FLAGS,
    trace: () => undefined,
    host: NO_HOST,
    sources: summarize ? [...atHand, { path: 'plain' }] : atHand,
    askModel: summarize && asker(history, summarize),
  }
}

/** The caller pays the bill: nothing is counted here. */
const NO_USAGE: Usage = { input_tokens: 0, output_tokens: 0 }

/** The caller receives what `summarize` throws. */
function asker<M extends HistoryMessage>(
  history: readonly M[],

  summarize: NonNullable<CompactionOptions<M>['summarize']>,
): AskModel {
  return async ({ body, model }) => {
    const request: unknown = JSON.parse(body)
    const given = isJsonObject(request) && Array.isArray(request['messages']) ? request['messages'] : []
    const text = await summarize(given.filter((message): message is M => isMessage(message, history)))
    const content = [{ type: 'text', text }] as const
    const message = { id: '', type: 'message', role: 'assistant', model, content } as const
    const response = { ...message, stop_reason: 'end_turn', stop_sequence: null, usage: NO_USAGE } as const
    return { kind: 'answered', text, response, json: JSON.stringify(response) }
  }
}
