import { toBlocks, type Block, type Role, type WireMessage } from '../../wire/message.ts'

// Neighboring messages of one role are one turn, as the API merges them.

export interface TurnBlock {
  readonly block: Block
  /** Position in the request: message and block index. */
  readonly message: number
  readonly index: number
}

export interface Turn {
  readonly role: Role
  /** Index of the turn's first message. */
  readonly start: number
  readonly blocks: readonly TurnBlock[]
}

export function turnsOf(messages: readonly WireMessage[]): readonly Turn[] {
  const turns: { role: Role; start: number; blocks: TurnBlock[] }[] = []
  messages.forEach((message, i) => {
    let turn = turns.at(-1)
    if (!turn || turn.role !== message.role) {
      turn = { role: message.role, start: i, blocks: [] }
      turns.push(turn)
    }
    const blocks = toBlocks(message.content)
    for (let j = 0; j < blocks.length; j++) {
      const block = blocks[j]
      if (block) turn.blocks.push({ block, message: i, index: j })
    }
  })
  return turns
}

export function pathOf(at: TurnBlock): string {
  return `messages.${at.message}.content.${at.index}`
}
