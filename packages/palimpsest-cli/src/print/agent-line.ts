import type { AgentEvent } from '../agents/agent-host.ts'

// What agents do, as lines of a stream. A message of an agent names the call that started it.

/** Undefined if a line would say nothing new. */
export function agentLine({ agent, ...told }: AgentEvent, sessionId: string): object | undefined {
  const { id, type, description, toolUseId } = agent
  const session_id = sessionId
  const about = { task_id: id, tool_use_id: toolUseId, subagent_type: type, description, session_id }
  switch (told.kind) {
    case 'started':
      return { type: 'system', subtype: 'task_started', ...about }
    case 'ended':
      return {
        type: 'system',
        subtype: 'task_notification',
        ...about,
        status: told.report.state,
        summary: told.report.why ?? told.report.text.split('\n')[0],
        output_file: told.path,
      }
    case 'progress':
      return { type: 'system', subtype: 'task_progress', ...about, summary: told.summary }
    case 'event': {
      const { event } = told
      if (event.type !== 'message' && event.type !== 'tool-end') return undefined
      const { message, id: uuid } = event.entry
      return {
        type: message.role === 'assistant' ? 'assistant' : 'user',
        message,
        session_id,
        parent_tool_use_id: toolUseId,
        uuid,
      }
    }
    default:
      return told satisfies never
  }
}
