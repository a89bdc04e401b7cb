import { isBlock, toBlocks, type Block } from '../wire/message.ts'
import type { Entry } from './entry.ts'
import type { ViewNode } from './view.ts'

// Where forks of one answer diverge: everything before the directive is identical in all of them, to the byte.

/** The beginning of every directive. It stays in the fork's history. */
export const FORK_MARK = '<fork-directive>'

/** Whether this node is the fork's directive, which no other fork has. */
export function isDirective(node: ViewNode | undefined): boolean {
  return node?.role === 'user' && isMarked(node.blocks[0]?.block)
}

/** Whether these entries belong to a fork, in view or not. */
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
