import type { Conversation } from 'palimpsest/conversation'
import { toModelName } from 'palimpsest/wire'

import { isToldPlanMode } from '../../agent/plan/plan-texts.ts'
import { saveChoices, type SessionChoices } from '../../run/open-session.ts'
import type { PreparedRun } from '../../run/prepare-run.ts'

// What the user chose reaches the transcript with the next message. Until then a small file beside it holds the choice.

export interface ChoiceKeeper {
  readonly keep: () => void
  /** Writes the current choices, without what the transcript recorded meanwhile. Returns when that is done. */
  readonly settle: () => Promise<void>
}

interface Chosen extends Pick<PreparedRun, 'opened' | 'permissions'> {
  /** The model the user chose. Another one may answer: without a key, the offline model does. */
  readonly model: string | undefined
}

export function createChoiceKeeper(
  chosen: Chosen,
  conversation: Pick<Conversation, 'view' | 'isKept'>,
): ChoiceKeeper {
  let hasChosen = false
  let writing = Promise.resolve()
  const write = (): void => {
    // A session in which nothing was said leaves nothing behind.
    if (!hasChosen || !conversation.isKept()) return
    const view = conversation.view()
    const choices = untold(chosen, view)
    // If this fails, the choice still holds for this run.
    writing = writing.then(async () => await saveChoices(chosen.opened, choices, view)).catch(() => undefined)
  }
  return {
    keep: () => {
      hasChosen = true
      write()
    },
    settle: async () => {
      write()
      await writing
    },
  }
}

function untold({ model, permissions }: Chosen, view: ReturnType<Conversation['view']>): SessionChoices {
  const toldModel = view.prefix && toModelName(view.prefix.model, view.prefix.betas)
  const isPlanning = permissions.mode() === 'plan'
  return {
    model: model === toldModel ? undefined : model,
    isPlanning: isPlanning === isToldPlanMode(view) ? undefined : isPlanning,
  }
}
