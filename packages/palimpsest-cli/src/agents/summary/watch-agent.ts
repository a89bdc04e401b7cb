import type { ConversationSetup } from 'palimpsest/conversation'
import { promptTokens } from 'palimpsest/wire'

import { isRunning } from '../../tasks/background-task.ts'
import { watchTurn, type TurnWatch } from '../../tasks/watch-turn.ts'
import type { AskSummary, SentRequest } from './ask-summary.ts'
import { createCallSummary } from './summarise-calls.ts'
import { createSummaryPace, laterByTimer, type PaceSetup } from './summary-pace.ts'

type StreamModel = ConversationSetup['ports']['streamModel']

export interface AgentWatchSetup {
  /** `fork`, or the name of its type. */
  readonly name: string
  readonly now: () => number
  readonly later?: PaceSetup['later'] | undefined
  readonly onChange: () => void
  /** Called now and then with a few words on what it is doing. */
  readonly tell: (summary: string) => void
  /** Asks a model for the words, from the second time on. Absent: they are computed. */
  readonly ask?: AskSummary | undefined
}

export interface WatchedAgent extends TurnWatch {
  /** The agent's model, with a look at each request. */
  readonly watched: (streamModel: StreamModel) => StreamModel
}

/** Tracks what an agent is doing: readable at any time, and reported through `tell`. */
export function watchAgent(setup: AgentWatchSetup): WatchedAgent {
  const { name, now, later = laterByTimer, onChange, tell, ask } = setup
  const watch = watchTurn({ text: `Starting ${name}`, now, onChange, summarise: createCallSummary() })
  const ending = new AbortController()
  let sent: SentRequest | undefined
  /** A model's words hold until newer ones come. */
  let said: string | undefined
  let isFirst = true
  const askAndTell = async (computed: string, asked: AskSummary): Promise<void> => {
    said = await asked({ sent, turns: watch.status().turns }, ending.signal)
    if (ending.signal.aborted) return
    tell(said ?? computed)
    onChange()
  }
  const pace = createSummaryPace({
    now,
    later,
    tell: (computed) => {
      if (ask && !isFirst) void askAndTell(computed, ask)
      else tell(computed)
      isFirst = false
    },
  })
  return {
    status: () => {
      const status = watch.status()
      return said !== undefined && isRunning(status) ? { ...status, text: said } : status
    },
    see: (event) => {
      watch.see(event)
      if (event.type === 'message' && event.entry.usage && sent)
        sent = { ...sent, tokens: promptTokens(event.entry.usage) }
      if (event.type === 'tool-start') pace.changed(watch.status().text)
    },
    end: (state, text) => {
      pace.end()
      ending.abort()
      watch.end(state, text)
    },
    watched: (streamModel) =>
      ask
        ? (request, signal) => {
            if (request.source.startsWith('subagent:')) sent = { request, tokens: 0, at: now() }
            return streamModel(request, signal)
          }
        : streamModel,
  }
}
