import type { Command, PlannedCommand } from './command.ts'
import { context } from './commands/context.ts'
import { sessions } from './commands/sessions.ts'
import { sim } from './commands/sim.ts'

export const COMMANDS: readonly Command[] = [sim, sessions, context]

/** What `palimpsest` does without a command. */
export const AGENT: PlannedCommand = { name: '', usage: '[prompt]', summary: 'the interactive agent' }

export const PLANNED: readonly PlannedCommand[] = [
  { name: 'demo', usage: '', summary: 'a long session, replayed live through all layers' },
  { name: 'replay', usage: '[FILE…]', summary: 'recorded sessions through context-management strategies' },
  { name: 'compact', usage: '[instructions]', summary: 'compacts a stored session' },
  { name: 'recall', usage: 'QUERY', summary: 'searches all that ever left the window' },
  {
    name: 'proxy',
    usage: '--upstream URL',
    summary: 'context management for any client of the Messages API',
  },
  { name: 'memory', usage: 'list|show|log|undo|check', summary: 'long-term memory' },
  { name: 'dream', usage: '[--now]', summary: 'consolidates memory across sessions' },
  { name: 'doctor', usage: '', summary: 'what is misconfigured and how to mend it' },
]
