import { isJsonObject } from '../../../wire/json.ts'
import { isBlock, type ToolUseBlock } from '../../../wire/message.ts'
import { blockText } from './block-text.ts'
import type { Corpus } from './corpus.ts'

/** The open items from a line on, until the next state. */
export interface TodoState {
  readonly line: number
  readonly open: readonly string[]
}

interface Item {
  readonly id: string
  readonly text: string
  readonly done: boolean
}

/** Tools that rewrite the whole list, with the member that contains it. */
const LIST_TOOLS: { readonly [name: string]: string } = {
  todowrite: 'todos',
  update_plan: 'plan',
  write_todos: 'todos',
}
const DONE = new Set(['completed', 'done', 'cancelled', 'deleted'])

export function findTodos(corpus: Corpus): TodoState[] {
  const states: TodoState[] = []
  const created = new Map<string, ToolUseBlock>()
  let items: readonly Item[] = []
  for (const { block, firstLine } of corpus.blocks) {
    if (isBlock(block, 'tool_use')) {
      const next = afterCall(items, block)
      if (block.name === 'TaskCreate') created.set(block.id, block)
      if (next === items) continue
      items = next
    } else if (isBlock(block, 'tool_result') && created.has(block.tool_use_id)) {
      const call = created.get(block.tool_use_id)
      const number = /#(\d+)/.exec(blockText(block))?.[1]
      if (!call || number === undefined) continue
      items = [...items, { id: number, text: textMember(call.input, 'subject'), done: false }]
    } else continue
    const open = items.filter((item) => !item.done && item.text !== '').map((item) => item.text)
    states.push({ line: firstLine, open })
  }
  return states
}

function afterCall(items: readonly Item[], call: ToolUseBlock): readonly Item[] {
  const member = LIST_TOOLS[call.name.toLowerCase()]
  if (member !== undefined && isJsonObject(call.input)) return wholeList(call.input[member]) ?? items
  if (call.name !== 'TaskUpdate' || !isJsonObject(call.input)) return items
  const id = textMember(call.input, 'taskId')
  const status = textMember(call.input, 'status')
  if (status === '') return items
  return items.map((item) => (item.id === id ? { ...item, done: DONE.has(status) } : item))
}

function wholeList(list: unknown): Item[] | undefined {
  if (!Array.isArray(list)) return undefined
  return list.filter(isJsonObject).map((item, index) => ({
    id: String(index),
    text: textMember(item, 'content') || textMember(item, 'step'),
    done: DONE.has(textMember(item, 'status')),
  }))
}

/** The first line identifies an item. */
function textMember(value: unknown, name: string): string {
  const text = isJsonObject(value) ? value[name] : undefined
  return typeof text === 'string' ? (text.split('\n')[0]?.trim() ?? '') : ''
}
