import type { ConversationSetup } from 'palimpsest/conversation'
import type { AgentPolicy } from 'palimpsest/agents'

import type { PermissionMode } from '../agent/permissions/permission-mode.ts'
import type { ReadPolicy } from '../run/notes/notes-policy.ts'
import type { AgentPlace } from '../run/isolate-agent.ts'
import type { Scene } from '../run/set-scene.ts'
import type { Tasks } from '../tasks/background-task.ts'
import type { World } from '../world.ts'
import type { SessionPost } from '../team/session-post.ts'
import type { AgentTypes } from './kinds/agent-type.ts'

/** What agents get from the run that they work for. */
export interface AgentBase {
  readonly scene: Scene
  /** Setup of the user's conversation. */
  readonly setup: ConversationSetup
  readonly types: AgentTypes
  readonly policy: AgentPolicy
  readonly noting: ReadPolicy
  /** The instruction files as they were at the start of the conversation. */
  readonly shown: string
  readonly tasks: Tasks
  /** Set if other sessions can write to this one, or have done so before. */
  readonly sessions: SessionPost | undefined
  readonly report: (text: string) => void
  readonly world: World
}

/** The parent of a new agent: the user's conversation, or an agent. */
export interface AgentParent {
  readonly depth: number
  readonly mode: () => PermissionMode
  /** Names of its tools. */
  readonly tools: readonly string[]
  readonly isForked: boolean
  /** The asker's name for the user; undefined for the conversation itself. */
  readonly label: string | undefined
  /** Undefined for the conversation itself. */
  readonly id: string | undefined
  /** The git worktree it works in, its own or its parent's. */
  readonly place: AgentPlace | undefined
}
