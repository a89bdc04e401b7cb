import type { LoopTool, ToolContext, ToolOutput } from 'palimpsest/loop'
import type { JsonObject } from 'palimpsest/wire'

import { Refusal } from '../refusal.ts'
import type { Shells } from '../shell/shells.ts'
import { createBashOutputTool, createKillShellTool } from './background-tools.ts'
import { defineTool } from './define-tool.ts'
import type { Messenger } from './send-message-tool.ts'
import { optionalFlag, optionalText, requiredText } from './tool-input.ts'

// The same bytes in every folder: the first message names types that a folder adds, this text does not.

const DESCRIPTION = `Starts an agent: a conversation of its own that does one task. Its report is the result.

- subagent_type: "search" finds and reads, "plan" plans a change, "general" works with all tools; the first message may name more. Such an agent knows nothing of this conversation: put all it needs into the prompt.
- Without subagent_type (or with "fork") it is a fork of this conversation: it knows all that was said here, from the cache. Use forks to split work.
- Agents called in one answer work side by side. Give them parts that touch different files. Do small things yourself.
- With run_in_background the call returns at once; you are told when the agent ends.`

export interface AgentWish {
  /** A few words, for the screen. */
  readonly description: string
  readonly prompt: string
  readonly name: string | undefined
  /** Undefined: a fork. */
  readonly type: string | undefined
  readonly isBackground: boolean
  readonly model: string | undefined
  /** In its own git worktree. Undefined: as its type says. */
  readonly isolation: 'worktree' | undefined
}

/** Runs the agents of a conversation. */
export interface AgentRunner extends Messenger {
  readonly start: (wish: AgentWish, context: ToolContext) => Promise<ToolOutput>
  /** What an agent is doing, or its outcome. Undefined: no agent has that id. */
  readonly output: (id: string) => string | undefined
  /** Ends an agent and returns its outcome. Undefined: no agent has that id. */
  readonly stop: (id: string) => Promise<string> | undefined
  readonly ids: () => readonly string[]
}

/** Without a runner, the tool tells the model that there are no agents. */
export function createAgentTool(runner: AgentRunner | undefined): LoopTool {
  return defineTool<AgentWish>({
    name: 'Agent',
    description: DESCRIPTION,
    properties: {
      description: { type: 'string', description: 'Three to five words' },
      prompt: { type: 'string', description: 'The task' },
      name: { type: 'string' },
      subagent_type: { type: 'string' },
      run_in_background: { type: 'boolean' },
      model: { type: 'string', description: 'Not for a fork' },
      isolation: { type: 'string', enum: ['worktree'], description: 'In a git worktree of its own' },
    },
    required: ['description', 'prompt'],
    parse: parseWish,
    // Agents of one answer run in parallel; each of their own calls is judged separately.
    isReadOnly: true,
    run: async (wish, context) => {
      if (runner === undefined) throw new Refusal('No agents can be started here. Do the work yourself.')
      return await runner.start(wish, context)
    },
  })
}

function parseWish(input: JsonObject): AgentWish {
  const prompt = requiredText(input, 'prompt')
  if (prompt.trim() === '') throw new Refusal('"prompt" is empty: say what the agent is to do.')
  const type = optionalText(input, 'subagent_type')?.trim()
  return {
    description: requiredText(input, 'description').replaceAll(/\s+/g, ' ').trim().slice(0, WORDS_CHARS_MAX),
    prompt,
    name: optionalText(input, 'name')?.trim().slice(0, WORDS_CHARS_MAX),
    type: type === '' || type === 'fork' ? undefined : type,
    isBackground: optionalFlag(input, 'run_in_background'),
    model: optionalText(input, 'model')?.trim(),
    isolation: isolationIn(input),
  }
}

function isolationIn(input: JsonObject): AgentWish['isolation'] {
  const text = optionalText(input, 'isolation')?.trim()
  if (text === undefined || text === '' || text === 'none') return undefined
  if (text === 'worktree') return text
  throw new Refusal('"isolation" is "worktree", or left out.')
}

const WORDS_CHARS_MAX = 120

export function createTaskOutputTool(shells: Shells, runner: AgentRunner | undefined): LoopTool {
  const shellTool = createBashOutputTool(shells)
  return defineTool({
    name: 'TaskOutput',
    description:
      'Shows what a command in the background printed since the last look, or what an agent is at. Takes the id that Bash or Agent returned.',
    properties: { task_id: { type: 'string', description: 'The id, for example shell_1' } },
    required: ['task_id'],
    parse: (input) => requiredText(input, 'task_id'),
    isReadOnly: false,
    run: async (id, context) => {
      if (shells.find(id)) return await shellTool.run({ bash_id: id }, context)
      return runner?.output(id) ?? refuse(id, shells, runner)
    },
  })
}

export function createTaskStopTool(shells: Shells, runner: AgentRunner | undefined): LoopTool {
  const shellTool = createKillShellTool(shells)
  return defineTool({
    name: 'TaskStop',
    description:
      'Ends a command in the background and everything it started, or an agent. Takes the id that Bash or Agent returned.',
    properties: { task_id: { type: 'string', description: 'The id, for example shell_1' } },
    required: ['task_id'],
    parse: (input) => requiredText(input, 'task_id'),
    isReadOnly: false,
    run: async (id, context) => {
      if (shells.find(id)) return await shellTool.run({ shell_id: id }, context)
      return (await runner?.stop(id)) ?? refuse(id, shells, runner)
    },
  })
}

function refuse(id: string, shells: Shells, runner: AgentRunner | undefined): never {
  const ids = [...(runner?.ids() ?? []), ...shells.ids()]
  const known =
    ids.length === 0 ? 'Nothing was started in this run of the program.' : `There are: ${ids.join(', ')}.`
  throw new Refusal(`There is no task ${id} in the background. ${known}`)
}
