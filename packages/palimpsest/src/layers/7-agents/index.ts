// palimpsest/agents: agents that work for a conversation.

import '../../require-runtime.ts'

export { findAgentModel } from './agent-model.ts'
export { agentSource } from './agent-source.ts'
export { createConvoy } from './convoy.ts'
export type { JoinConvoy } from './convoy.ts'
export { findForkStart, forkDirective, PLACEHOLDER } from './fork.ts'
export type { ForkStart } from './fork.ts'
export { narrowTools } from './narrow-tools.ts'
export type { Narrowed, ToolChoice } from './narrow-tools.ts'
export { whyNoAgent } from './plan.ts'
export type { AgentMoment } from './plan.ts'
export {
  AGENT_DEPTH_MAX,
  AGENT_ROUNDS_MAX,
  AGENT_TOKENS_MAX,
  AGENT_USD_MAX,
  AGENTS_AT_ONCE_MAX,
  TASK_LEASE_MINUTES,
} from './policy.ts'
export type { AgentPolicy } from './policy.ts'
export {
  agentsAgain,
  foundText,
  movedText,
  notificationText,
  reportText,
  startedText,
  toldEnds,
} from './prompt.ts'
export type { AgentFacts, AgentReport, AgentState } from './prompt.ts'
export {
  isAgentName,
  LETTER_CHARS_MAX,
  parseLetter,
  parseMailRequest,
  SUMMARY_CHARS_MAX,
} from './mail/letter.ts'
export type { Letter, MailRequest } from './mail/letter.ts'
export { createLetters, refusedNotices } from './mail/create-letters.ts'
export type { LettersSetup } from './mail/create-letters.ts'
export { createMemoryMail } from './mail/memory-mailbox.ts'
export { createRequests } from './mail/requests.ts'
export type { Requests } from './mail/requests.ts'
export { knownLetters, letterText, takeMail } from './mail/take-mail.ts'
export type { TakenMail } from './mail/take-mail.ts'
export { blockersOf, foldTasks, freeTasks, hasEnded, isAllDone, ownerAt } from './team/fold-tasks.ts'
export type { Task, TaskBoard, TaskNote } from './team/fold-tasks.ts'
export { createMemoryTaskLog } from './team/memory-task-log.ts'
export type { TaskDraft, TaskWish } from './team/plan-task.ts'
export { parseTaskEvent, TASK_STATES } from './team/task.ts'
export type { TaskChanged, TaskCreated, TaskEvent, TaskState } from './team/task.ts'
export { taskLine, taskLines, taskText } from './team/task-lines.ts'
export type { TaskReader } from './team/task-lines.ts'
export { createTaskList } from './team/task-list.ts'
export type { TaskAnswer, TaskList, TaskListOptions } from './team/task-list.ts'
