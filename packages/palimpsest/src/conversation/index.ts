// palimpsest/conversation: a running session, and the only code that appends to it.

import '../require-runtime.ts'

export { agentSetup, forkPrefix } from './agents/agent-setup.ts'
export type { AgentOwn } from './agents/agent-setup.ts'
export { isFullForAgents } from './agents/is-full-for-agents.ts'
export { runAgent } from './agents/run-agent.ts'
export type { AgentEnd, AgentRun, AgentWatch, OpenedAgent, Spent } from './agents/run-agent.ts'
export { changeSession } from '../context/change-view.ts'
export type {
  ChangeSetup,
  PinOutcome,
  PinTarget,
  RestoreOutcome,
  UndoOutcome,
  ViewChanges,
} from '../context/change-view.ts'
export type {
  ConversationCompaction,
  ConversationNotes,
  ConversationSetup,
  NotesWriter,
  ConversationStart,
  Spending,
} from './conversation-setup.ts'
export { describeView } from '../context/describe-view.ts'
export type { Described, ViewDescription } from '../context/describe-view.ts'
export { thresholdsInForce } from '../situation/after-undo.ts'
export { drive, relay } from '../drive.ts'
export { openConversation } from './open-conversation.ts'
export type { CompactionWish, Conversation, Said } from './open-conversation.ts'
export { outputTokensFor, requestPrefix } from './request-prefix.ts'
export { situationOf } from '../situation/situation.ts'
export type { Situation, WindowReading } from '../situation/situation.ts'
