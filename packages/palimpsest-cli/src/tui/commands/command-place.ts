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
  /** `told`: what to say if the user interrupts the work. */
  readonly interruptible: (work: (signal: AbortSignal) => Promise<void>, told?: string) => Promise<void>
}

/** Set: leave this conversation for what it holds. */
export type CommandEnd = { readonly next: RunWishes | undefined } | undefined

/** Reports what went well. */
export function tell(text: string, { ui }: Pick<CommandPlace, 'ui'>): undefined {
  ui.show([...noteLines(text, 'plain', ui.columns()), []])
  return undefined
}

/** Reports what failed, or what to do first. */
export function note(text: string, { ui }: Pick<CommandPlace, 'ui'>): undefined {
  ui.show([...noteLines(text, 'warning', ui.columns()), []])
  return undefined
}
