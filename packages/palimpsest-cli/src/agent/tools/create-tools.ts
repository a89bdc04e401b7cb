import type { LoopTool } from 'palimpsest/loop'

import type { MemoryGate } from '../files/memory-gate.ts'
import { createCheckpoints } from '../files/checkpoints.ts'
import type { Access } from '../paths/access.ts'
import type { Planning } from '../plan/create-planning.ts'
import { forbidsHost, privateHostsOf } from '../permissions/rule.ts'
import {
  commandEnvironment,
  readingEnvironment,
  withVariables,
  type Environment,
} from '../process/child-environment.ts'
import { gitEnvironment } from '../process/git-environment.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import type { SessionRecall } from '../../recall/recall-session.ts'
import type { Shells } from '../shell/shells.ts'
import { createAgentTool, createTaskOutputTool, createTaskStopTool, type AgentRunner } from './agent-tool.ts'
import { createAskUserTool, type AskUser } from './ask-user-tool.ts'
import { createBashOutputTool, createKillShellTool } from './background-tools.ts'
import { createBashTool } from './bash-tool.ts'
import { createEditTool } from './edit-tool.ts'
import { createExitPlanModeTool } from './exit-plan-mode-tool.ts'
import { createGlobTool } from './glob-tool.ts'
import { createGrepTool } from './grep-tool.ts'
import { createReadTool } from './read-tool.ts'
import { createRecallTool } from './recall-tool.ts'
import { findRipgrep } from './ripgrep.ts'
import { createSendMessageTool } from './send-message-tool.ts'
import { createTeamTaskTools, keepLeases, type TeamTasks } from './team-task-tools.ts'
import { createTodoWriteTool } from './todo-write-tool.ts'
import { createWebFetchTool } from './web-fetch-tool.ts'
import { watchTools, type ToolWatch } from './watch-tools.ts'
import { createWriteTool } from './write-tool.ts'

export interface ToolsOptions {
  /** The same object that the permit has. */
  readonly access: Access
  /** Folder for checkpoints. */
  readonly sessionFolder: string
  /** The caller ends them (`killAll`) when it leaves the conversation. */
  readonly shells: Shells
  /** The same object that the permit has. */
  readonly sandbox: Sandbox
  /** Environment of our own process; keys are removed before a command sees it. */
  readonly env: Environment
  readonly now: () => number
  /** Searches everything this conversation ever said. Absent outside a conversation. */
  readonly recall?: SessionRecall
  /** Runs agents. Absent outside a conversation. */
  readonly agents?: AgentRunner | undefined
  /** Absent: no user can answer. */
  readonly askUser?: AskUser
  /** Plan mode of the conversation. Absent for agents, and outside a conversation. */
  readonly planning?: Planning | undefined
  /** The team's task list, if the conversation belongs to a team. */
  readonly team?: TeamTasks | undefined
  /** Judges what Write and Edit do to memories. Absent outside a conversation. */
  readonly memory?: MemoryGate
  /** Sees what calls do. */
  readonly watch?: ToolWatch | undefined
}

/** The agent's tools, always in this order: it is part of the prompt's bytes. */
export function createTools(options: ToolsOptions): readonly LoopTool[] {
  const { access, shells, sandbox } = options
  const env = commandEnvironment(options.env, access.cwd)
  const reading = readingEnvironment(options.env, access.folders)
  const provenEnv = withVariables(reading, gitEnvironment('outside'))
  const changes = {
    access,
    memory: options.memory,
    checkpoints: createCheckpoints({ sessionFolder: options.sessionFolder, now: options.now }),
  }
  const search = { access, sandbox, env: reading, ripgrep: once(() => findRipgrep(reading, access.cwd)) }
  const { watch, team } = options
  const tools = [
    withNotes(createReadTool({ access }), options.memory),
    createWriteTool(changes),
    createEditTool(changes),
    createBashTool({ access, shells, sandbox, env, provenEnv, onOutput: watch?.printed }),
    createTaskOutputTool(shells, options.agents),
    createTaskStopTool(shells, options.agents),
    createGrepTool(search),
    createGlobTool(search),
    createWebFetchTool({
      privateHosts: privateHostsOf(access.rules),
      isForbidden: (url) => forbidsHost(access.rules, url),
    }),
    createTodoWriteTool(),
    createAskUserTool(options.askUser),
    createRecallTool(options.recall),
    createAgentTool(options.agents),
    createExitPlanModeTool(options.planning, changes),
    createSendMessageTool(options.agents),
    ...(team ? createTeamTaskTools(team) : []),
    // No longer offered, but conversations that began with them still call them.
    createBashOutputTool(shells),
    createKillShellTool(shells),
  ]
  const kept = team ? keepLeases(tools, team) : tools
  return watch ? watchTools(kept, watch) : kept
}

/** Tools that are only in the prefix of older conversations. */
const FORMER = new Set(['BashOutput', 'KillShell'])

/** The tools that a new conversation begins with. */
export function offeredTools(tools: readonly LoopTool[]): readonly LoopTool[] {
  return tools.filter(({ name }) => !FORMER.has(name))
}

/** Adds its age when a memory is read. */
function withNotes(read: LoopTool, memory: MemoryGate | undefined): LoopTool {
  if (memory === undefined) return read
  return {
    ...read,
    run: async (input, context) => {
      const output = await read.run(input, context)
      const path = output.files?.[0]?.path
      if (path === undefined || typeof output.content !== 'string' || !memory.covers(path)) return output
      const note = await memory.noteOf(path)
      return note === undefined ? output : { ...output, content: `${output.content}\n${note}` }
    },
  }
}

function once<T>(run: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined
  return () => (result ??= run())
}
