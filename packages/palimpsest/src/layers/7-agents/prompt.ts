import { NOTICE_CHARS_MAX } from './policy.ts'

// What the conversation is told about its agents. When a stored session is opened, these words show which agents it was told about.

export type AgentState = 'completed' | 'failed' | 'stopped'

/** An agent, as far as its parent knows it. */
export interface AgentFacts {
  readonly id: string
  /** `fork`, or the name of its type. */
  readonly type: string
  readonly description: string
}

export interface AgentReport extends AgentFacts {
  readonly state: AgentState
  /** Its last words. */
  readonly text: string
  /** Why it was not done. */
  readonly why?: string | undefined
  readonly calls: number
  /** What its type asks for and it did not get, and why. */
  readonly notes?: readonly string[] | undefined
}

const MARK = /\[agent ([\w-]+) (completed|failed|stopped)[.:]/g

/** Ids of agents whose end a text reports. */
export function toldEnds(text: string): readonly string[] {
  return [...text.matchAll(MARK)].flatMap(([, id]) => id ?? [])
}

/** The result of the call that started it. */
export function reportText({ id, state, text, why, calls, notes = [] }: AgentReport): string {
  const said = text.trim() === '' ? '(It said nothing.)' : text
  const about = [
    `agent ${id} ${state}${why === undefined ? '.' : `: ${why}.`}`,
    `${calls} tool ${calls === 1 ? 'call' : 'calls'}.`,
    ...notes.map((note) => `${note}.`),
  ]
  return `${said}\n\n[${about.join(' ')}]`
}

/** The same for one that worked in the background: nobody waits for its result. */
export function notificationText(report: AgentReport & { readonly path: string }): string {
  const { id, type, description, path } = report
  const shown = shortened(report, `TaskOutput with the id ${id} shows them, and ${path} has them`)
  return `<task-notification>\nThe agent ${id} (${type}: ${description}) that you started in the background has ended. Its report:\n\n${reportText(shown)}\n</task-notification>`
}

/** What comes as a message is not stored: a long report is shown only as far as it is worth its room, with the place of the rest. */
function shortened<T extends Pick<AgentReport, 'text'>>(report: T, where: string): T {
  const { text } = report
  if (text.length <= NOTICE_CHARS_MAX) return report
  // Never cuts a character in half.
  const head = text.slice(0, NOTICE_CHARS_MAX).replace(/[\uD800-\uDBFF]$/, '')
  return {
    ...report,
    text: `${head}\n…\n\n[The report has ${text.length - head.length} characters more: ${where}.]`,
  }
}

/** The result of a call that does not wait. */
export function startedText({ id, type, description }: AgentFacts): string {
  return `Agent ${id} (${type}: ${description}) works in the background. You are told when it ends; do something else meanwhile, and do not start it again. TaskOutput shows what it is at, TaskStop ends it.`
}

/** The result of a call that the user no longer waits for. */
export function movedText(agent: AgentFacts): string {
  return `The user moved this agent to the background. ${startedText(agent)}`
}

/** For an agent that the program's end cut off, or whose end was never reported: reported when the session is resumed. */
export function foundText(report: Omit<AgentReport, 'notes'> & { readonly path: string }): string {
  const { description, path } = report
  const shown = shortened(report, 'that file has them')
  return `<task-notification>\nAn agent of this conversation was under way when the program ended (${description}). What it did is in ${path}. The last it said:\n\n${reportText(shown)}\n</task-notification>`
}

/** After a compaction: agents that need not be started again. Empty if there are none. */
export function agentsAgain(
  agents: readonly (AgentFacts & { readonly state: AgentState | 'running' })[],
): string {
  if (agents.length === 0) return ''
  const lines = agents.map(({ id, type, description, state }) =>
    state === 'running'
      ? `- ${id} (${type}: ${description}) works in the background. You are told when it ends.`
      : `- ${id} (${type}: ${description}) ${state}. Its report stands above, or in the summary.`,
  )
  return `Agents of this conversation. Do not start them again:\n${lines.join('\n')}`
}
