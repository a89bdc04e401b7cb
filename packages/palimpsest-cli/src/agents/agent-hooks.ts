import type { AgentReport } from 'palimpsest/agents'

import type { HookCall } from '../agent/hooks/create-hooks.ts'
import { isRunning } from '../tasks/background-task.ts'
import type { AgentBase } from './agent-base.ts'

// Hooks at the start and the end of an agent. Neither stops it: text from a start hook joins the task, and text from an end hook is shown
// to the user.

/** An agent, as hooks see it. */
export interface HookedAgent {
  readonly id: string
  readonly type: string
  readonly description: string
  readonly prompt: string
}

const TEXT_CHARS_MAX = 10_000

/** What hooks add to its task. */
export async function hookStart(
  { scene: { hooks }, report }: AgentBase,
  agent: HookedAgent,
  signal: AbortSignal,
): Promise<readonly string[]> {
  hooks.tell(taskCall('TaskCreated', agent))
  const answers = await hooks.run(
    { event: 'SubagentStart', value: agent.type, input: aboutAgent(agent) },
    signal,
  )
  for (const { notice, objection } of answers) {
    const said = notice ?? objection
    if (said !== undefined) report(said)
  }
  return answers.flatMap(({ text }) =>
    text === undefined
      ? []
      : [
          `<system-reminder>\nA SubagentStart hook of the user's settings adds:\n${text.slice(0, TEXT_CHARS_MAX)}\n</system-reminder>`,
        ],
  )
}

/** Nothing waits for these hooks. */
export function hookEnd(
  { scene: { hooks }, tasks }: AgentBase,
  agent: HookedAgent,
  { state, text }: Pick<AgentReport, 'state' | 'text'>,
  path: string,
): void {
  const running = tasks.list().filter((task) => task.id !== agent.id && isRunning(task.status()))
  hooks.tell({
    event: 'SubagentStop',
    value: agent.type,
    input: {
      ...aboutAgent(agent),
      agent_transcript_path: path,
      stop_hook_active: false,
      last_assistant_message: text,
      background_tasks: running.map(({ id, kind, title }) => ({ id, type: kind, description: title })),
      session_crons: [],
    },
  })
  hooks.tell(taskCall('TaskCompleted', agent, { status: state }))
}

function aboutAgent({ id, type }: HookedAgent): HookCall['input'] {
  return { agent_id: id, agent_type: type }
}

function taskCall(
  event: 'TaskCreated' | 'TaskCompleted',
  agent: HookedAgent,
  more: HookCall['input'] = {},
): HookCall {
  const { id, type, description, prompt } = agent
  const about = { task_id: id, task_subject: description, task_description: prompt }
  return { event, value: type, input: { ...about, ...aboutAgent(agent), ...more } }
}
