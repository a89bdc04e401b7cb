import { isBlock, toBlocks, type Block } from '../wire/message.ts'
import type { Entry } from './entry.ts'
import type { ViewNode } from './view.ts'

// Where forks of one answer part: all before the directive is the same in each of them, to the byte.

/** What a directive begins with. It stands in the history of a fork from then on. */
export const FORK_MARK = '<fork-directive>'

/** Whether the node is the one that only this fork has. */
export function isDirective(node: ViewNode | undefined): boolean {
  return node?.role === 'user' && isMarked(node.blocks[0]?.block)
}

/** Whether these entries are those of a fork, in view or not. */
export function isForked(log: readonly Entry[]): boolean {
  return log.some(
    (entry) =>
      entry.kind === 'message' &&
      entry.message.role === 'user' &&
      isMarked(toBlocks(entry.message.content)[0]),
  )
}

function isMarked(block: Block | undefined): boolean {
  return block !== undefined && isBlock(block, 'text') && block.text.startsWith(FORK_MARK)
}
