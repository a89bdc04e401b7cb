import { meterModel } from '../../accounts/meter-model.ts'
import { memoryStore } from './memory-store.ts'
import { oneByOne } from './one-by-one.ts'
import { RUNTIME_CLOCK } from './runtime-clock.ts'
import { changesOf, type PinOutcome, type RestoreOutcome, type UndoOutcome } from '../change-view.ts'
import { compactionOutcome, type CompactionOutcome } from '../compaction-outcome.ts'
import { describeView, type ViewDescription } from '../describe-view.ts'
import { UsageError } from '../../errors.ts'
import { BUILT_IN_FLAGS, type Flags } from '../../flags/create-flags.ts'
import { createCostOf } from '../../ledger/cost-of.ts'
import type { AgentStore, KeptConversation, StreamModel, TraceEvent } from '../../ports.ts'
import { recallById } from '../../recall/recall-by-id.ts'
import type { Recalled } from '../../recall/recalled.ts'
import { requireModel } from '../../tokens/require-model.ts'
import { requireWindow } from '../../tokens/require-window.ts'
import { situationOf, type WindowReading } from '../../situation/situation.ts'
import { computeThresholds } from '../../situation/thresholds.ts'
import { computeWindow } from '../../situation/window.ts'
import { NO_MODELS, resolveModel } from '../../tokens/models.ts'
import { parseModelName } from '../../wire/model-facts.ts'
import type { Session } from '../../situation/session.ts'
import { compactContext } from '../compact-context.ts'
import { grow, type ContextPolicy, type ContextSetup, type ContextState } from '../context-state.ts'
import { observe, type Observed } from '../observe.ts'
import { openContext } from '../open-context.ts'
import type { OwnerMessage } from '../owner-message.ts'
import type { PrepareInput } from '../owner-prefix.ts'
import { prepare, type PreparedRequest, type RequestPlan } from '../prepare.ts'
import { recover } from '../recover.ts'
import { sendModel, type SendOptions } from '../send-model.ts'

// For callers that own their history. The folder above does the work; this file only adds good defaults.

export interface ContextOptions {
  /** The provider's name for it, used for requests that do not name a model. `[1m]` after the name asks for the extended window. */
  readonly model: string
  /** Sends Palimpsest's own calls, for summaries. Absent: summaries are made without a model. */
  readonly send?: ((request: ManagedRequest, options: SendOptions) => Promise<object>) | undefined
  /** Most tokens in a request. Absent: a good default for the model. */
  readonly window?: number | undefined
  /** Where the conversation is stored. Absent: in memory. */
  readonly store?: AgentStore | undefined
  /** Id of a stored conversation to resume, or the id for a new one. */
  readonly id?: string | undefined
  /** Switches and numbers for the automatic mechanisms. Absent: the defaults. */
  readonly flags?: Flags | undefined
  /** Your settings for clearing, compaction and the cache. */
  readonly policy?: ContextPolicy | undefined
  /** Called with each decision and its numbers. */
  readonly onTrace?: ((event: TraceEvent) => void) | undefined
}

/** A block whose type is up to the client: it fits any block type of either major version of the SDK. */
export type OpaqueBlock = never

/** A request from Palimpsest, for `messages.create` of either major version of the SDK. */
export interface ManagedRequest {
  readonly model: string
  readonly max_tokens: number
  readonly messages: { readonly role: 'user' | 'assistant'; readonly content: OpaqueBlock[] }[]
  readonly system?: SystemBlock[]
  readonly tools?: OpaqueBlock[]
}

/** A block of the system prompt. */
export interface SystemBlock {
  readonly type: 'text'
  readonly text: string
  readonly cache_control?: { readonly type: 'ephemeral'; readonly ttl?: '5m' | '1h' }
}

/** Your parameters, with the messages to send. Literals that you write inline keep their types. */
export type PreparedParams<Input extends PrepareInput> = Writable<
  Omit<Input, 'model' | 'system' | 'messages'>
> & {
  readonly model: string
  readonly messages: SentMessage<Input['messages'][number]>[]
  readonly system?: SystemBlock[]
}

/** Keeps a message type of the client; the type of an inline message says nothing about what is sent instead. */
type SentMessage<Message extends OwnerMessage> = string extends Message['content']
  ? Message
  : { readonly role: Message['role']; readonly content: OpaqueBlock[] }

/** Parameters as the SDK declares them, without readonly lists. */
type Writable<Value> = Value extends string | ((...args: never[]) => unknown)
  ? Value
  : Value extends object
    ? { -readonly [Name in keyof Value]: Writable<Value[Name]> }
    : Value

export interface Prepared<Request> {
  /** Send it as it is and do not change it: later requests repeat it byte for byte. */
  readonly request: Request
  readonly plan: RequestPlan
}

/** Calls run one after the other. */
export interface Context {
  /**
   * Returns the request to send for your history as it is now: valid, inside the window, and with as much as possible read from the provider's
   * cache.
   *
   * @example
   * const { request, plan } = await context.prepare({ system, tools, messages, max_tokens: 8_000 })
   */
  readonly prepare: <const Input extends PrepareInput>(
    input: Input,
    options?: CallOptions,
  ) => Promise<Prepared<PreparedParams<Input>>>
  /**
   * Records the answer to the last request: what it cost, and what the cache did.
   *
   * @example
   * await context.observe(await client.messages.create(request))
   */
  readonly observe: (answer: object) => Promise<Observed>
  /**
   * After "prompt is too long": returns the same request, smaller. Rethrows any other error unchanged.
   *
   * @example
   * const answer = await client.messages.create(request).catch(async (error) =>
   *   client.messages.create((await context.recover(error)).request))
   */
  readonly recover: (error: unknown, options?: CallOptions) => Promise<Prepared<ManagedRequest>>
  /**
   * Describes what fills the window, what was removed from it, and how well the cache worked.
   *
   * @example
   * const { used, removals } = await context.describe()
   */
  readonly describe: () => Promise<ViewDescription>
  /**
   * Compacts the conversation now; `instructions` says what the summary should keep.
   *
   * @example
   * await context.compact('Keep the decisions about the schema.')
   */
  readonly compact: (instructions?: string, options?: CallOptions) => Promise<CompactionOutcome>
  /**
   * Undoes a compaction or a clearing, by an id from `plan.actions` or `describe`.
   *
   * @example
   * await context.undo(plan.actions[0].id)
   */
  readonly undo: (id: string) => Promise<UndoOutcome>
  /**
   * Keeps the message at this index of your history word for word through every clearing and compaction; `false` unpins it.
   *
   * @example
   * await context.pin(messages.length - 1)
   */
  readonly pin: (message: number, on?: boolean) => Promise<PinOutcome>
  /**
   * Restores a result or a message that left the window, word for word, at the end; for a compaction, call `undo`.
   *
   * @example
   * const outcome = await context.restore(clearing.id)
   */
  readonly restore: (id: string) => Promise<RestoreOutcome>
  /**
   * Returns what an id stands for, even if it left the window long ago: a message, the result of a tool call, or everything that a compaction removed.
   *
   * @example
   * const recalled = await context.recall(removal.id)
   */
  readonly recall: (id: string) => Promise<Recalled>
  /**
   * The id with which the conversation can be resumed.
   *
   * @example
   * const next = createContext({ model, store, id: await context.id() })
   */
  readonly id: () => Promise<string>
  /**
   * Ends the background work and closes the conversation.
   *
   * @example
   * await context.close()
   */
  readonly close: () => Promise<void>
}

export interface CallOptions {
  /** Ends the call early. */
  readonly signal?: AbortSignal | undefined
}

const CLOSED = 'This context is closed: create another, with the same `store` and `id` to continue.'
/** Most characters that `recall` shows at once. */
const RECALL_CHARS_MAX = 100_000

interface Opened {
  readonly state: ContextState
  readonly setup: ContextSetup
}

/** Manages the history that you keep: your messages stay yours, and each request fits, is valid and reads what it can from the cache. */
export function createContext(options: ContextOptions): Context {
  requireModel(options.model)
  requireWindow(options.window)
  const ending = new AbortController()
  const calls = oneByOne()
  let opening: Promise<Opened> | undefined
  let isClosed = false
  const within = async <T>(work: (opened: Opened) => Promise<T>): Promise<T> => {
    if (isClosed) throw new UsageError(CLOSED)
    return await calls.run(async () => await work(await (opening ??= open(options, ending.signal))))
  }
  const signalOf = ({ signal }: CallOptions = {}): AbortSignal =>
    signal ? AbortSignal.any([signal, ending.signal]) : ending.signal
  return {
    prepare: async (input, call) =>
      await within(async ({ state, setup }) => asAsked(await prepare(state, input, setup, signalOf(call)))),
    observe: async (answer) => await within(async ({ state, setup }) => await observe(state, answer, setup)),
    recover: async (error, call) =>
      await within(async ({ state, setup }) => asAsked(await recover(state, error, setup, signalOf(call)))),
    describe: async () => await within(async (opened) => describe(opened)),
    compact: async (instructions, call) =>
      await within(async ({ state, setup }) => {
        const result = await compactContext(state, instructions, setup, signalOf(call))
        return compactionOutcome(result, state.session.view)
      }),
    undo: async (id) => await within(async (opened) => await changes(opened).undo(id)),
    pin: async (message, on = true) =>
      await within(async (opened) => await changes(opened).pin([{ entry: entryOf(message, opened) }], on)),
    restore: async (id) => await within(async (opened) => await changes(opened).restore(id)),
    recall: async (id) =>
      await within(async ({ setup }) => await recallById(id, setup.stored.history, RECALL_CHARS_MAX)),
    id: async () => await within(async ({ setup }) => setup.stored.id),
    close: async () => {
      if (isClosed) return
      isClosed = true
      ending.abort()
      await calls.run(async () => await (await opening)?.setup.stored.close())
    },
  }
}

/** Casts to the client's types: the members are those that were asked for, and messages are in the client's form. */
function asAsked<Request>(prepared: PreparedRequest): Prepared<Request> {
  if (!isAsked<Request>(prepared)) throw new UsageError('The request has no messages.')
  return prepared
}

function isAsked<Request>(prepared: PreparedRequest | Prepared<Request>): prepared is Prepared<Request> {
  return hasMessages(prepared.request)
}

function hasMessages(request: unknown): request is ManagedRequest {
  return (
    typeof request === 'object' &&
    request !== null &&
    'messages' in request &&
    Array.isArray(request.messages)
  )
}

function entryOf(message: number, { state }: Opened): string {
  const entry = state.path[message + 1]?.entry
  if (entry) return entry
  throw new UsageError(`There is no message ${message} in the history of the last request.`)
}

function changes({ state, setup }: Opened): ReturnType<typeof changesOf> {
  const replace = (session: Session): void => {
    state.watch = undefined
    grow(state, session)
  }
  const holder = { get: () => state.session, grow: (session: Session) => grow(state, session), replace }
  const { ports, stored, readingOf, model } = setup
  return changesOf(holder, {
    ports,
    history: stored.history,
    situation: ({ view }) => {
      const name = view.prefix?.model ?? model
      return situationOf(view, name, readingOf(name, state.windowMax))
    },
  })
}

function describe({ state, setup }: Opened): ViewDescription {
  const { view } = state.session
  const model = view.prefix?.model ?? setup.model
  const reading = setup.readingOf(model, state.windowMax)
  return describeView(view, { model, reading, totals: setup.stored.totals(), now: setup.ports.clock.now() })
}

async function open(options: ContextOptions, signal: AbortSignal): Promise<Opened> {
  const store = options.store ?? memoryStore()
  const stored = await store.open(options.id, createCostOf())
  try {
    const setup = setupOf(options, stored, signal)
    return { setup, state: await openContext(setup) }
  } catch (error) {
    await stored.close()
    throw error
  }
}

function setupOf(options: ContextOptions, stored: KeptConversation, signal: AbortSignal): ContextSetup {
  const { send, model, window, flags, policy, onTrace } = options
  const metered = send && meterModel(sendModel(async (request, call) => await send(asRequest(request), call)))
  return {
    stored,
    model,
    windowMax: window,
    readingOf,
    metered,
    policy: policy ?? {},
    signal,
    ports: {
      clock: RUNTIME_CLOCK,
      newId: () => crypto.randomUUID(),
      random: () => Math.random(),
      streamModel: metered?.streamModel ?? asksNobody,
      transcript: stored,
      blobs: stored.blobs,
      flags: flags ?? BUILT_IN_FLAGS,
      trace: onTrace ?? (() => undefined),
    },
  }
}

function asRequest(request: object): ManagedRequest {
  if (!hasMessages(request)) throw new UsageError('The request has no messages.')
  return request
}

/** Never called: without a model, nothing starts that needs one. */
const asksNobody: StreamModel = () => {
  throw new UsageError('This context has no `send`.')
}

function readingOf(name: string, windowMax: number | undefined): WindowReading {
  const { id, extended } = parseModelName(name)
  const model = resolveModel(NO_MODELS, id, '')
  const window = computeWindow(model, { extended, windowMax })
  return { model, window, thresholds: computeThresholds(window), autoEnabled: true, compactEnabled: true }
}
