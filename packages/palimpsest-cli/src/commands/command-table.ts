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
    summary: 'context management for any client of the Messages API',
  },
  { name: 'run', usage: '-- COMMAND …', summary: 'a proxy of its own for one command' },
  { name: 'mcp', usage: '[--http PORT]', summary: 'recall and memory as an MCP server' },
  { name: 'acp', usage: '', summary: 'the agent for editors that speak the Agent Client Protocol' },
]
