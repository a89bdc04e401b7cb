import { digest, DIGEST_CHARS_MAX, identifiersOf } from '../../../layers/2-micro-compaction/digest.ts'
import { isClearableTool } from '../../../layers/2-micro-compaction/clearable-tools.ts'
import { standIn } from '../../../layers/2-micro-compaction/stand-in.ts'
import type { MessageEntry } from '../../../transcript/entry.ts'
import type { View } from '../../../transcript/view.ts'
import { isBlock, toBlocks, type Block } from '../../../wire/message.ts'
import { clearingEdit, resultText, shownResults, type ShownResult } from './clear.ts'
import { FALLBACK_SHARE, planDrop } from './drop-oldest.ts'
import { NO_ACTIONS, type Strategy, type StrategySettings } from './strategy.ts'
import { isFull } from '../../../situation/is-full.ts'

/** Newest results that a clearing leaves alone. */
const KEEP_RESULTS = 5

/** When the window fills, all clearable results except the newest five get a stand-in at once. If none is left, the oldest rounds go. */
export const batch: Strategy = {
  name: 'batch',
  create: (settings) =>
    createBatch(
      settings,
      () =>
        ({ result }) =>
          standIn(result),
    ),
}

/** The same, with a digest in each stand-in of what the result was the first to say. */
export const batchDigest: Strategy = {
  name: 'batch+digest',
  create(settings) {
    const firsts = createFirsts()
    const charsMax = Math.round(DIGEST_CHARS_MAX * settings.scale)
    return createBatch(settings, (view) => {
      firsts.read(view)
      return ({ at, result, call }) => {
        const text = resultText(result)
        const isNew = (identifier: string): boolean => firsts.entryOf(identifier) === at.at.entry
        return standIn(result, { call, chars: text.length, digest: digest(text, isNew, charsMax) })
      }
    })
  },
}

function createBatch(
  settings: StrategySettings,
  standInFor: (view: View) => (result: ShownResult) => string,
): ReturnType<Strategy['create']> {
  return {
    before(view, moment) {
      if (!isFull(moment.sizeTokens, settings.thresholds)) return NO_ACTIONS
      const old = shownResults(view)
        .filter(({ call }) => isClearableTool(call.name))
        .slice(0, -KEEP_RESULTS)
        .filter(({ result, isSeen }) => isSeen && result.is_error !== true)
      const edit = clearingEdit(old, standInFor(view), moment, settings)
      return edit ? { entries: [edit] } : planDrop(view, moment, settings, FALLBACK_SHARE)
    },
  }
}

interface Firsts {
  /** Reads what the transcript gained since the last call. */
  readonly read: (view: View) => void
  /** The message that first had an identifier. */
  readonly entryOf: (identifier: string) => string | undefined
}

function createFirsts(): Firsts {
  const first = new Map<string, string>()
  let read = 0
  return {
    read(view) {
      for (const entry of view.log.slice(read))
        if (entry.kind === 'message')
          for (const identifier of identifiersOf(messageText(entry)))
            if (!first.has(identifier)) first.set(identifier, entry.id)
      read = view.log.length
    },
    entryOf: (identifier) => first.get(identifier),
  }
}

function messageText(entry: MessageEntry): string {
  return toBlocks(entry.message.content).map(plainText).join('\n')
}

function plainText(block: Block): string {
  if (isBlock(block, 'text')) return block.text
  if (isBlock(block, 'tool_result')) return resultText(block)
  return isBlock(block, 'tool_use') ? JSON.stringify(block.input) : ''
}
