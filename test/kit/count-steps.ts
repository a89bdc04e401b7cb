import { Session } from 'node:inspector'

export interface StepCounter {
  /** How many steps of the folder's code run while `work` does; nothing else of it may run between two counts. */
  readonly count: (work: () => void) => number
  readonly close: () => void
}

/**
 * How often pieces of our own code run, counted by the engine itself: a measure of work that knows no clock. What the language does by
 * itself (searching a text, joining one) counts as nothing.
 */
export function openStepCounter(folder: string): StepCounter {
  const session = new Session()
  session.connect()
  post(session, 'Profiler.enable')
  post(session, 'Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  // Counts begin anew with each taking.
  post(session, 'Profiler.takePreciseCoverage')
  return {
    count: (work) => {
      work()
      return stepsIn(post(session, 'Profiler.takePreciseCoverage'), folder)
    },
    close: () => session.disconnect(),
  }
}

interface Coverage {
  readonly result: readonly {
    readonly url: string
    readonly functions: readonly { readonly ranges: readonly { readonly count: number }[] }[]
  }[]
}

/** The session is of this thread: it answers before it returns. */
function post(session: Session, method: string, parameters?: object): unknown {
  let answer: unknown
  session.post(method, parameters, (error, result) => {
    if (error) throw error
    answer = result
  })
  return answer
}

function stepsIn(coverage: unknown, folder: string): number {
  const { result } = coverage as Coverage
  const counts = result
    .filter(({ url }) => url.includes(folder))
    .flatMap(({ functions }) => functions.flatMap(({ ranges }) => ranges.map(({ count }) => count)))
  if (counts.length === 0) throw new Error(`nothing of ${folder} ran`)
  return counts.reduce((sum, count) => sum + count, 0)
}
