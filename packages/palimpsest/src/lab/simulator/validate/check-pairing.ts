import { isBlock, isServerToolResult } from '../../../wire/message.ts'
import { refuse, type Refusal } from '../refusal.ts'
import { pathOf, type Turn, type TurnBlock } from '../turns.ts'
import type { JudgedModel } from './judged.ts'

// Every tool use must be answered exactly once, in the next message, and nothing else may be answered.

const ID_FORM = /^[a-zA-Z0-9_-]+$/
const NAME_CHARS_MAX = 200

export function checkPairing(turns: readonly Turn[], judged: JudgedModel): Refusal | undefined {
  const seen = new Set<string>()
  let asked: Asked = { ids: new Set(), index: -1 }
  for (const turn of turns) {
    const refusal = turn.role === 'user' ? checkAnswers(turn, asked, judged) : checkUnanswered(asked)
    if (refusal) return refusal
    if (turn.role !== 'assistant') {
      asked = { ids: new Set(), index: -1 }
      continue
    }
    const uses = askedBy(turn, seen)
    if ('rule' in uses) return uses
    asked = uses
  }
  return checkUnanswered(asked) ?? checkServerTools(turns)
}

interface Asked {
  readonly ids: ReadonlySet<string>
  /** Index of the message that asks. */
  readonly index: number
}

function askedBy(turn: Turn, seen: Set<string>): Asked | Refusal {
  const ids = new Set<string>()
  let index = turn.start
  for (const at of turn.blocks) {
    if (!isBlock(at.block, 'tool_use')) continue
    const { id, name } = at.block
    const path = `${pathOf(at)}.tool_use`
    if (!ID_FORM.test(id)) return refuse('pairing.id-form', { path })
    if (name.length > NAME_CHARS_MAX) return refuse('pairing.name-length', { path })
    if (seen.has(id)) return refuse('pairing.id-again', { path: pathOf(at) })
    seen.add(id)
    ids.add(id)
    index = at.message
  }
  return { ids, index }
}

function checkAnswers(turn: Turn, asked: Asked, { switches }: JudgedModel): Refusal | undefined {
  const answered = new Set<string>()
  let other = false
  for (const at of turn.blocks) {
    if (!isBlock(at.block, 'tool_result')) {
      other = true
      continue
    }
    const id = at.block.tool_use_id
    if (!asked.ids.has(id)) return refuse('pairing.unexpected', { path: pathOf(at), id })
    if (answered.has(id)) return refuse('pairing.twice', { path: pathOf(at), id })
    if (other && switches.textBeforeResults === 'refuse')
      return refuse('pairing.not-first', { path: pathOf(at) })
    answered.add(id)
  }
  const open = [...asked.ids].filter((id) => !answered.has(id))
  return checkUnanswered({ ids: new Set(open), index: asked.index })
}

function checkUnanswered({ ids, index }: Asked): Refusal | undefined {
  return ids.size === 0 ? undefined : refuse('pairing.unanswered', { index, ids: [...ids].join(', ') })
}

/** A server tool's result must follow its use, in the same turn or, if client tools ran in between, in a later one. */
function checkServerTools(turns: readonly Turn[]): Refusal | undefined {
  const lastAssistant = turns.findLast((turn) => turn.role === 'assistant')
  const open = new Map<string, TurnBlock>()
  for (const turn of turns) {
    for (const at of turn.blocks) {
      if (isServerToolResult(at.block)) open.delete(at.block.tool_use_id)
      else if (turn !== lastAssistant && isServerUse(at)) open.set(at.block.id, at)
    }
  }
  for (const [id, at] of open) {
    const name = isServerUse(at) ? at.block.name : ''
    return refuse('pairing.server-unanswered', { path: pathOf(at), name, id })
  }
  return undefined
}

function isServerUse(at: TurnBlock): at is TurnBlock & {
  readonly block: {
    readonly id: string
    readonly name: string
    readonly type: 'server_tool_use' | 'mcp_tool_use'
  }
} {
  return isBlock(at.block, 'server_tool_use') || isBlock(at.block, 'mcp_tool_use')
}
