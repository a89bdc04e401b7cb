import type { LoopEvent } from '../loop/events.ts'
import { appendTo, type EntryBody, type Session } from '../situation/session.ts'
import { titleBody } from '../situation/title.ts'
import type { MessageEntry, PrefixEntry } from '../transcript/entry.ts'
import { toModelName } from '../wire/model-facts.ts'
import type { ConversationSetup } from './conversation-setup.ts'
import { fitForSwitch } from './switch-model.ts'

// What stands before the first message of a run: the session fits the model, and its prefix is the one that is asked for.

export interface Begun {
  readonly session: Session
  /** What the first message of this run comes after. */
  readonly opening: readonly EntryBody<MessageEntry>[]
}

/** `prompt`: the first words, for the list of sessions. */
export async function* begin(
  session: Session,
  prompt: string,
  setup: ConversationSetup,
  signal: AbortSignal,
): AsyncGenerator<LoopEvent, Begun> {
  const opening = [...firstOf(session, setup), ...setup.opening.always]
  const fitted = yield* fitForSwitch(session, setup, signal)
  return { session: await withPrefix(fitted, prompt, setup), opening }
}

/** Another agent's session tells nothing of the instructions and the place: what was never sent from here begins with them. */
function firstOf({ view: { prefix, nodes } }: Session, { opening }: ConversationSetup): Begun['opening'] {
  return prefix === undefined || nodes.length === 0 ? opening.first : []
}

/** A stored session keeps its prefix, byte for byte; only what was asked for explicitly changes it, and says so. */
async function withPrefix(session: Session, prompt: string, setup: ConversationSetup): Promise<Session> {
  const had = session.view.prefix
  const { prefix, ports } = setup
  if (had && isSameModel(had, prefix) && prefix.reason !== 'asked')
    return await afterIdle(session, had, setup)
  const kept =
    had && prefix.reason !== 'asked'
      ? { ...prefix, system: had.system, tools: had.tools, reason: 'model' }
      : prefix
  const title = had ? [] : [titleBody(prompt)]
  return (await appendTo(session, [kept, ...title], ports)).session
}

/** With another window it is another one: the provider must be told. */
function isSameModel(had: PrefixEntry, wanted: EntryBody<PrefixEntry>): boolean {
  return toModelName(had.model, had.betas) === toModelName(wanted.model, wanted.betas)
}

/** After an hour nothing is cached, so what the provider clears of thinking may change: only its newest is kept from then on. */
async function afterIdle(
  session: Session,
  had: PrefixEntry,
  { prefix, ports }: ConversationSetup,
): Promise<Session> {
  const clears = prefix.parameters[CONTEXT_MANAGEMENT]
  const isIdle = clears?.includes('"thinking_turns"') ?? false
  const before = had.parameters[CONTEXT_MANAGEMENT]
  if (!isIdle || clears === undefined || before === undefined || before === clears) return session
  const parameters = { ...had.parameters, [CONTEXT_MANAGEMENT]: clears }
  const { id: _id, parent: _parent, at: _at, ...kept } = had
  return (await appendTo(session, [{ ...kept, parameters, reason: 'idle' }], ports)).session
}

const CONTEXT_MANAGEMENT = 'context_management'
