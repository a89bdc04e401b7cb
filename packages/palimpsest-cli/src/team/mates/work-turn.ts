import type { LoopEvent, TurnEnd } from 'palimpsest/loop'

import { ownNatureOf } from '../../agent/tools/tool-natures.ts'

/** The result of one turn of a teammate. */
export interface WorkTurn {
  readonly end: TurnEnd | undefined
  /** Something was changed, run, or said to another member. */
  readonly hasProgress: boolean
}

/** Tools that only look: a turn that uses nothing else has changed nothing. */
const LOOKING = new Set(['TaskList', 'TaskOutput', 'BashOutput', 'TodoWrite', 'Recall'])

/** Drives a turn to its end; the turn waits while `see` works. */
export async function driveWork(
  events: AsyncGenerator<LoopEvent, unknown>,
  see: (event: LoopEvent) => Promise<void>,
): Promise<WorkTurn> {
  let [end, hasProgress]: [TurnEnd | undefined, boolean] = [undefined, false]
  for await (const event of events) {
    if (event.type === 'turn-end') end = event.end
    if (event.type === 'tool-end' && event.denied === undefined) hasProgress ||= isProgress(event.name)
    await see(event)
  }
  return { end, hasProgress }
}

function isProgress(tool: string): boolean {
  const nature = ownNatureOf(tool)
  return nature !== 'read' && nature !== 'search' && nature !== 'fetch' && !LOOKING.has(tool)
}
