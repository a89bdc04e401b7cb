import { agentsAgain, reportText, toldEnds, type AgentFacts, type AgentReport } from 'palimpsest/agents'
import { agentTranscriptPath } from 'palimpsest/node'

import type { AgentOfTask, BackgroundTask } from '../tasks/background-task.ts'
import type { AgentBase, AgentParent } from './agent-base.ts'
import type { CallLink } from './call-link.ts'
import type { AgentType } from './kinds/agent-type.ts'
import type { AgentWish } from '../agent/tools/agent-tool.ts'

// A started agent, as others see it.

export interface StartedAgent extends AgentFacts {
  readonly toolUseId: string
  readonly isBackground: boolean
}

export interface Working {
  agent: StartedAgent
  readonly depth: number
  readonly link: CallLink
  readonly task: BackgroundTask
  readonly report: Promise<AgentReport>
  ended: AgentReport | undefined
}

export function outputOf({ agent, task, ended }: Working): string {
  if (ended) return reportText(ended)
  const { text, toolCount, turns } = task.status()
  return [
    `${agent.id} (${agent.type}: ${agent.description}) works: ${text}, ${toolCount} tool calls so far.`,
    ...turns,
  ].join('\n')
}

/** How many ended agents are named after a compaction. */
const NAMED_MAX = 8

/** What a compaction says about agents in the background. `mail`: news that has not reached the conversation yet. */
export function agentsSoFar(all: Iterable<Working>, mail: readonly string[]): string {
  const background = [...all].filter(({ agent }) => agent.isBackground)
  const ended = background.filter((one) => one.ended).slice(-NAMED_MAX)
  // The conversation only knows of an end once the report is in view.
  const untold = new Set(mail.flatMap((text) => toldEnds(text)))
  return agentsAgain(
    [...background.filter((one) => !one.ended), ...ended].map(({ agent, ended: report }) => ({
      ...agent,
      state: report && !untold.has(agent.id) ? report.state : 'running',
    })),
  )
}

interface AgentStart {
  readonly id: string
  readonly parent: AgentParent
  readonly wish: AgentWish
  readonly type: AgentType | undefined
}

/** What lists and screens show of it, whatever it is doing. */
export function taskOf(
  base: AgentBase,
  { id, wish, type, parent }: AgentStart,
  live: Pick<AgentOfTask, 'isBackground' | 'spent'>,
): Pick<BackgroundTask, 'id' | 'kind' | 'title' | 'transcript' | 'agent'> {
  const name = type?.name ?? 'fork'
  const about = { parent: parent.id, type: name, description: wish.description }
  const title = `agent ${wish.name ?? name}`
  return { id, kind: 'agent', title, transcript: pathOf(base, id), agent: { ...about, ...live } }
}

export function pathOf({ scene: { opened } }: AgentBase, id: string): string {
  return agentTranscriptPath(opened.project, opened.session.id, id)
}

const LINE_CHARS_MAX = 120

export function firstLine(text: string): string {
  return (text.trim().split('\n')[0] ?? '').slice(0, LINE_CHARS_MAX)
}
