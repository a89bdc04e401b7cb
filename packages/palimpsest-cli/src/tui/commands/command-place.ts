import type { LoopEvent } from 'palimpsest/loop'

import type { RunWishes } from '../../run/set-scene.ts'
import type { TeamHost } from '../../team/leading/team-host.ts'
import type { World } from '../../world.ts'
import type { HostedConversation } from '../host/host-conversation.ts'
import { noteLines } from '../screen/turn-lines.ts'
import type { Ui } from '../ui.ts'

/** What a command of the conversation works on. */
export interface CommandPlace {
  readonly conversation: HostedConversation
  readonly wishes: RunWishes
  readonly ui: Ui
  readonly world: World
  /** The team that the conversation leads. */
  readonly team?: TeamHost | undefined
  readonly follow: <T>(events: AsyncGenerator<LoopEvent, T>) => Promise<T>
  /** `told`: what an interruption came to. */
  readonly interruptible: (work: (signal: AbortSignal) => Promise<void>, told?: string) => Promise<void>
}

/** Set: this conversation is left, for what stands in it. */
export type CommandEnd = { readonly next: RunWishes | undefined } | undefined

/** What went well. */
export function tell(text: string, { ui }: Pick<CommandPlace, 'ui'>): undefined {
  ui.show([...noteLines(text, 'plain', ui.columns()), []])
  return undefined
}

/** What did not, or what to do first. */
export function note(text: string, { ui }: Pick<CommandPlace, 'ui'>): undefined {
  ui.show([...noteLines(text, 'warning', ui.columns()), []])
  return undefined
}
