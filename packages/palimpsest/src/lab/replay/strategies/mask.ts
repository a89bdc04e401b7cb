import { standIn } from '../../../layers/2-micro-compaction/stand-in.ts'
import { clearingEdit, shownResults } from './clear.ts'
import { FALLBACK_SHARE, planDrop } from './drop-oldest.ts'
import type { Strategy } from './strategy.ts'

/** At every step, masks all tool results except the newest, whatever the tool. If that is not enough, the oldest rounds go. */
export function mask(keep: number): Strategy {
  return {
    name: `mask-${keep}`,
    create: (settings) => ({
      before(view, moment) {
        const old = shownResults(view)
          .slice(0, -keep)
          .filter((one) => one.isSeen)
        const edit = clearingEdit(old, ({ result }) => standIn(result), moment, settings)
        return edit ? { entries: [edit] } : planDrop(view, moment, settings, FALLBACK_SHARE)
      },
    }),
  }
}
