import type { LoopEvent } from '../../loop/events.ts'
import type { Recalled } from '../../recall/recalled.ts'
import type { EntryId } from '../../transcript/entry.ts'
import type { RestoreOutcome, UndoOutcome } from '../../context/change-view.ts'
import type { CompactionOutcome } from '../../context/compaction-outcome.ts'
import type { ViewDescription } from '../../context/describe-view.ts'
import type { Said } from '../open-conversation.ts'
import type { MessageHandler } from './agent-mail.ts'
import type { Spawn } from './spawn.ts'

export interface SendOptions {
  /** Ends the turn early; the part of the answer that arrived is kept. */
  readonly signal?: AbortSignal | undefined
}

/** Turns, and everything else that writes, run one after the other. */
export interface Agent {
  /**
   * Sends a message and yields what happens, until an answer calls no tool. Leaving the loop ends the turn. Without a message it
   * answers messages from other agents; if there are none, it makes no request.
   *
   * @example
   * for await (const event of agent.send('Make the tests pass')) console.log(event.type)
   */
  readonly send: (said?: string | Said, options?: SendOptions) => AsyncGenerator<LoopEvent, undefined>
  /**
   * Describes what fills the window now, what was removed from it, and how well the cache worked.
   *
   * @example
   * const { used, removals } = await agent.context()
   */
  readonly context: () => Promise<ViewDescription>
  /**
   * Compacts the conversation now; `instructions` says what the summary should keep.
   *
   * @example
   * await agent.compact('Keep the decisions about the schema.')
   */
  readonly compact: (instructions?: string, options?: SendOptions) => Promise<CompactionOutcome>
  /**
   * Undoes a compaction or a clearing, by an id from `context`.
   *
   * @example
   * await agent.undo(removals[0].id)
   */
  readonly undo: (id: EntryId) => Promise<UndoOutcome>
  /**
   * Restores a result or a message that left the window, word for word, at the end; for a compaction, call `undo`.
   *
   * @example
   * const outcome = await agent.restore(clearing.id)
   */
  readonly restore: (id: string) => Promise<RestoreOutcome>
  /**
   * Returns what an id stands for, even if it left the window long ago: a message, the result of a tool call, or everything that a
   * compaction removed.
   *
   * @example
   * const recalled = await agent.recall(removals[0].id)
   */
  readonly recall: (id: string) => Promise<Recalled>
  /**
   * Creates another agent that knows the whole conversation as it is now, from the cache. It ends when this agent closes.
   *
   * @example
   * const other = await agent.fork()
   */
  readonly fork: () => Promise<Agent>
  /**
   * Starts an agent for one task, in a conversation of its own, and waits for its report. The type is `fork`, or one of `agents.types`.
   *
   * @example
   * const { text, costUsd } = await agent.spawn('reviewer', 'Review the last commit.')
   */
  readonly spawn: Spawn
  /**
   * Writes to another agent by name. Before that agent's next request, the message joins the end of its conversation, marked as written
   * by this agent.
   *
   * @example
   * await agent.message('ben', 'The parser is done: your turn.')
   */
  readonly message: (to: string, text: string) => Promise<void>
  /**
   * Calls the handler once for each message from another agent, after it has joined the conversation. Returns a function that removes the
   * handler.
   *
   * @example
   * const remove = agent.onMessage(({ from, summary }) => console.log(from, summary))
   */
  readonly onMessage: (handler: MessageHandler) => () => void
  /**
   * The id with which the conversation can be resumed.
   *
   * @example
   * const later = createAgent({ client, model, store, id: await agent.id() })
   */
  readonly id: () => Promise<string>
  /**
   * Ends the background work and closes the conversation.
   *
   * @example
   * await agent.close()
   */
  readonly close: () => Promise<void>
}
