import type { LoopTool } from 'palimpsest/loop'
import type { JsonObject } from 'palimpsest/wire'

import { Refusal } from '../refusal.ts'
import { defineTool } from './define-tool.ts'
import { optionalText, requiredObjects, requiredText } from './tool-input.ts'

const STATUSES = ['pending', 'in_progress', 'completed'] as const
/** A longer list is no longer a plan. */
const TODOS_MAX = 100

const DESCRIPTION = `Keeps the list of what is to be done, and shows it to the user.

- Use it for work of three steps or more; not for a single step or a question.
- Send the whole list each time: it replaces the one before.
- One item is in_progress at a time. Mark an item completed as soon as it is done, and only if it is.
- content says what to do ("Run the tests"), activeForm what is being done ("Running the tests").`

export interface Todo {
  readonly content: string
  readonly status: (typeof STATUSES)[number]
  readonly activeForm: string
}

/** The list lives in the conversation: in the input of the newest call, and in its result. */
export function createTodoWriteTool(): LoopTool {
  return defineTool<readonly Todo[]>({
    name: 'TodoWrite',
    description: DESCRIPTION,
    properties: {
      todos: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            content: { type: 'string' },
            status: { type: 'string', enum: STATUSES },
            activeForm: { type: 'string' },
          },
          required: ['content', 'status', 'activeForm'],
        },
      },
    },
    required: ['todos'],
    parse: parseTodos,
    isReadOnly: true,
    run: async (todos) => render(todos),
  })
}

export function parseTodos(input: JsonObject): readonly Todo[] {
  const items = requiredObjects(input, 'todos')
  if (items.length > TODOS_MAX)
    throw new Refusal(`The list has ${items.length} items; at most ${TODOS_MAX} are kept.`)
  return items.map((item) => {
    const content = requiredText(item, 'content')
    const status = STATUSES.find((candidate) => candidate === item['status'])
    if (status === undefined)
      throw new Refusal(`The status of "${content}" must be one of ${STATUSES.join(', ')}.`)
    return { content, status, activeForm: optionalText(item, 'activeForm') ?? content }
  })
}

const BOXES = { pending: '[ ]', in_progress: '[>]', completed: '[x]' } as const

function render(todos: readonly Todo[]): string {
  if (todos.length === 0) return 'The list is empty.'
  const lines = todos.map(({ content, status }, index) => `${index + 1}. ${BOXES[status]} ${content}`)
  return ['The list is now:', ...lines].join('\n')
}
