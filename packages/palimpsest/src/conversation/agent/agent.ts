import type { LoopEvent } from '../../loop/events.ts'
import type { Recalled } from '../../recall/recalled.ts'
import type { EntryId } from '../../transcript/entry.ts'
import type { RestoreOutcome, UndoOutcome } from '../change-view.ts'
import type { CompactionOutcome } from '../compaction-outcome.ts'
import type { ViewDescription } from '../describe-view.ts'
import type { Said } from '../open-conversation.ts'
import type { MessageHandler } from './agent-mail.ts'
import type { Spawn } from './spawn.ts'

export interface SendOptions {
  /** Ends the turn early; what came of the answer is kept. */
  readonly signal?: AbortSignal | undefined
}

/** Turns, and all else that writes, run one after the other. */
export interface Agent {
  /**
   * Says something and yields what happens, to the answer that calls no tool. Leaving the loop ends the turn. Without words it answers
   * what other agents wrote; where nobody wrote, no request is made.
   *
   * @example
   * for await (const event of agent.send('Make the tests pass')) console.log(event.type)
   */
  readonly send: (said?: string | Said, options?: SendOptions) => AsyncGenerator<LoopEvent, undefined>
  /**
   * What fills the window now, what was taken out of it, and how well the cache served.
   *
   * @example
   * const { used, removals } = await agent.context()
   */
  readonly context: () => Promise<ViewDescription>
  /**
   * Compacts the conversation now; `instructions` say what the summary should keep.
   *
   * @example
   * await agent.compact('Keep the decisions about the schema.')
   */
  readonly compact: (instructions?: string, options?: SendOptions) => Promise<CompactionOutcome>
  /**
   * Takes a compaction or a clearing back, by an id that `context` tells.
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
   * What an id stands for, in the window or long out of it: a message, the result of a tool use, or all that left with a compaction.
   *
   * @example
   * const recalled = await agent.recall(removals[0].id)
   */
  readonly recall: (id: string) => Promise<Recalled>
  /**
   * Another agent that knows all of the conversation as it is now, from the cache. It ends with this one.
   *
   * @example
   * const other = await agent.fork()
   */
  readonly fork: () => Promise<Agent>
  /**
   * Lets an agent do one task in a conversation of its own, and waits for its report. The type is `fork`, or one of `agents.types`.
   *
   * @example
   * const { text, costUsd } = await agent.spawn('reviewer', 'Review the last commit.')
   */
  readonly spawn: Spawn
  /**
   * Writes to another agent by name. It joins the end of that agent's conversation before its next request, as the words of this one.
   *
   * @example
   * await agent.message('ben', 'The parser is done: your turn.')
   */
  readonly message: (to: string, text: string) => Promise<void>
  /**
   * Calls the handler once for each message of another agent, when it has joined the conversation. Returns what removes the handler.
   *
   * @example
   * const remove = agent.onMessage(({ from, summary }) => console.log(from, summary))
   */
  readonly onMessage: (handler: MessageHandler) => () => void
  /**
   * The id to resume the conversation by.
   *
   * @example
   * const later = createAgent({ client, model, store, id: await agent.id() })
   */
  readonly id: () => Promise<string>
  /**
   * Ends what runs beside the turns and closes the conversation.
   *
   * @example
   * await agent.close()
   */
  readonly close: () => Promise<void>
}
