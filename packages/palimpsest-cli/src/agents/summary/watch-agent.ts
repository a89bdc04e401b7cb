import { watchTurn, type TurnWatch } from '../../tasks/watch-turn.ts'
import { createCallSummary } from './summarise-calls.ts'
import { createSummaryPace, laterByTimer } from './summary-pace.ts'

export interface AgentWatchSetup {
  /** `fork`, or the name of its type. */
  readonly name: string
  readonly now: () => number
  readonly onChange: () => void
  /** Told in a few words what it is at, once in a while. */
  readonly tell: (summary: string) => void
}

/** What an agent is at: for whoever looks at any time, and for whoever is told. */
export function watchAgent({ name, now, onChange, tell }: AgentWatchSetup): TurnWatch {
  const watch = watchTurn({ text: `Starting ${name}`, now, onChange, summarise: createCallSummary() })
  const pace = createSummaryPace({ now, later: laterByTimer, tell })
  return {
    status: watch.status,
    see: (event) => {
      watch.see(event)
      if (event.type === 'tool-start') pace.changed(watch.status().text)
    },
    end: (state, text) => {
      pace.end()
      watch.end(state, text)
    },
  }
}
