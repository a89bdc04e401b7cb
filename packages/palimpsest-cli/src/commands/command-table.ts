import type { Command, PlannedCommand } from './command.ts'
import { agents } from './agents.ts'
import { compact } from './compact.ts'
import { context } from './context.ts'
import { demo } from './demo.ts'
import { dream } from './dream.ts'
import { doctor } from './doctor.ts'
import { memory } from './memory.ts'
import { pin } from './pin.ts'
import { purge } from './purge.ts'
import { recall } from './recall.ts'
import { replay } from './replay.ts'
import { restore } from './restore.ts'
import { sessions } from './sessions.ts'
import { sim } from './sim.ts'
import { team } from './team.ts'
import { undo } from './undo.ts'

export const COMMANDS: readonly Command[] = [
  demo,
  replay,
  sim,
  sessions,
  context,
  compact,
  undo,
  pin,
  restore,
  recall,
  memory,
  dream,
  agents,
  team,
  purge,
  doctor,
]

export const PLANNED: readonly PlannedCommand[] = [
  {
    name: 'proxy',
    usage: '--upstream URL',
    summary: 'manage the context of any client of the Messages API',
  },
  { name: 'run', usage: '-- COMMAND …', summary: 'run one command with its own proxy' },
  { name: 'mcp', usage: '[--http PORT]', summary: 'serve recall and memory over MCP' },
  { name: 'acp', usage: '', summary: 'serve editors that speak the Agent Client Protocol' },
]
