import type { View, ViewNode } from '../../../transcript/view.ts'

/** The unit that leaves or stays: an answer with the results of its calls, or one other message. */
export interface Round {
  /** Nodes of the view: `from` inclusive, `end` exclusive. */
  readonly from: number
  readonly end: number
  /** Estimated tokens, before calibration. */
  readonly raw: number
  /** A message that the user wrote. */
  readonly isUser: boolean
}

export function roundsOf(view: View): Round[] {
  const rounds: Round[] = []
  view.nodes.forEach((node, index) => {
    const last = rounds.at(-1)
    const raw = rawTokens(node)
    if (last && node.answers !== undefined) {
      rounds[rounds.length - 1] = { ...last, end: index + 1, raw: last.raw + raw }
      return
    }
    const isUser = node.role === 'user' && node.source.origin === 'user'
    rounds.push({ from: index, end: index + 1, raw, isUser })
  })
  return rounds
}

/** Index of the newest answer's round, whose results no request has carried yet. It and everything after it always stay. */
export function firstNewRound(view: View, rounds: readonly Round[]): number {
  const newestAnswer = view.nodes.findLastIndex((node) => node.role === 'assistant')
  const index = rounds.findIndex((round) => round.end > newestAnswer)
  return index < 0 ? rounds.length : index
}

function rawTokens(node: ViewNode): number {
  return node.blocks.reduce((sum, block) => sum + block.tokens, 0)
}
