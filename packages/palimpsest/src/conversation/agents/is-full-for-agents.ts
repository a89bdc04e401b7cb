import { situationOf } from '../../situation/situation.ts'
import { sizeOf } from '../../situation/size-of.ts'
import type { View } from '../../transcript/view.ts'
import type { ConversationSetup } from '../conversation-setup.ts'

/** Share of the effective window. In collapse mode there is little room left after what it folds. */
const FULL_SHARE = 0.95

/** Whether an agent's report would no longer fit. */
export function isFullForAgents(
  view: View,
  setup: Pick<ConversationSetup, 'ports' | 'reading' | 'prefix'>,
): boolean {
  const { flags } = setup.ports
  if (!flags.value('collapse') || !flags.value('auto-compact')) return false
  const reading = setup.reading()
  const size = sizeOf(view, situationOf(view, view.prefix?.model ?? setup.prefix.model, reading))
  return size >= FULL_SHARE * reading.window.effective
}
