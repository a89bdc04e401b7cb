import type { Command, PlannedCommand } from './command.ts'
import { context } from './commands/context.ts'
import { doctor } from './commands/doctor.ts'
import { replay } from './commands/replay.ts'
import { sessions } from './commands/sessions.ts'
import { sim } from './commands/sim.ts'

export const COMMANDS: readonly Command[] = [replay, sim, sessions, context, doctor]

export const PLANNED: readonly PlannedCommand[] = [
  { name: 'demo', usage: '', summary: 'a long session, replayed live through all layers' },
  { name: 'compact', usage: '[instructions]', summary: 'compacts a stored session' },
  { name: 'recall', usage: 'QUERY', summary: 'searches all that ever left the window' },
  {
    name: 'proxy',
    usage: '--upstream URL',
    summary: 'context management for any client of the Messages API',
  },
  { name: 'memory', usage: 'list|show|log|undo|check', summary: 'long-term memory' },
  { name: 'dream', usage: '[--now]', summary: 'consolidates memory across sessions' },
]
