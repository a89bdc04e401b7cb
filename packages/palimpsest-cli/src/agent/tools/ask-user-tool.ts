import type { LoopTool } from 'palimpsest/loop'
import type { JsonObject } from 'palimpsest/wire'

import { Refusal } from '../refusal.ts'
import { defineTool } from './define-tool.ts'
import { optionalFlag, optionalText, requiredObjects, requiredText } from './tool-input.ts'

const OPTIONS_MAX = 8

const DESCRIPTION = `Asks the user a question and waits for the answer.

- Use it when the task cannot be understood or decided from what is there, and a wrong guess would be costly. Otherwise choose what is sensible, say so, and go on.
- Offer two to four options, the one you recommend first. The user can always answer in own words.
- Do not ask for permission to use tools: that is asked for by itself.`

export interface Question {
  readonly question: string
  readonly options: readonly { readonly label: string; readonly description?: string | undefined }[]
  readonly allowsSeveral: boolean
}

/** The user's words. Undefined: no answer. */
export type AskUser = (question: Question, signal: AbortSignal) => Promise<string | undefined>

/** Without `ask`, the tool tells the model that no user is there. */
export function createAskUserTool(ask: AskUser | undefined): LoopTool {
  return defineTool<Question>({
    name: 'AskUser',
    description: DESCRIPTION,
    properties: {
      question: { type: 'string', description: 'The question, with what is needed to answer it' },
      options: {
        type: 'array',
        items: {
          type: 'object',
          properties: { label: { type: 'string' }, description: { type: 'string' } },
          required: ['label'],
        },
      },
      multi_select: { type: 'boolean', description: 'Several options may be chosen. Default: false' },
    },
    required: ['question'],
    parse: parseQuestion,
    // One question at a time.
    isReadOnly: false,
    run: async (question, { signal }) => {
      if (ask === undefined)
        throw new Refusal(
          'Nobody is there to answer: the program runs without a user. Decide yourself, say what you assumed, and go on.',
        )
      const answer = await ask(question, signal)
      if (answer === undefined)
        throw new Refusal('The user gave no answer. Go on without it, or stop and say what is missing.')
      return { content: answer, origin: 'user' }
    },
  })
}

function parseQuestion(input: JsonObject): Question {
  const options = input['options'] === undefined ? [] : requiredObjects(input, 'options')
  if (options.length > OPTIONS_MAX)
    throw new Refusal(`There are ${options.length} options; at most ${OPTIONS_MAX} can be shown.`)
  return {
    question: requiredText(input, 'question'),
    options: options.map((option) => {
      const description = optionalText(option, 'description')
      return { label: requiredText(option, 'label'), description }
    }),
    allowsSeveral: optionalFlag(input, 'multi_select'),
  }
}
