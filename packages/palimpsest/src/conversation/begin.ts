import type { LoopEvent } from '../loop/events.ts'
import { appendTo, type EntryBody, type Session } from '../situation/session.ts'
import { titleBody } from '../situation/title.ts'
import type { MessageEntry, PrefixEntry } from '../transcript/entry.ts'
import { toModelName } from '../wire/model-facts.ts'
import type { ConversationSetup } from './conversation-setup.ts'
import { fitForSwitch } from './switch-model.ts'

// What happens before the first message of a run: the session is made to fit the model, and its prefix is the requested one.

export interface Begun {
  readonly session: Session
  /** What comes before the first message of this run. */
  readonly opening: readonly EntryBody<MessageEntry>[]
}

/** `prompt`: the user's first words, for the list of sessions. */
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

/**
 * A session of another agent contains nothing about instructions and environment, so a session that never sent a request from here begins
 * with them.
 */
function firstOf({ view: { prefix, nodes } }: Session, { opening }: ConversationSetup): Begun['opening'] {
  return prefix === undefined || nodes.length === 0 ? opening.first : []
}

/** A stored session keeps its prefix, byte for byte; only an explicit request changes it, and the entry says so. */
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

/** Another window makes it another model: the provider must be told. */
function isSameModel(had: PrefixEntry, wanted: EntryBody<PrefixEntry>): boolean {
  return toModelName(had.model, had.betas) === toModelName(wanted.model, wanted.betas)
}

/**
 * After an hour nothing is cached, so the rule for which thinking the provider clears may change: from then on it keeps only the newest.
 */
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
