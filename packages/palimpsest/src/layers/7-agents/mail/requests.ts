import type { Letter, MailRequest } from './letter.ts'

// Questions that agents ask each other in a form that needs no interpretation, and their answers. An answer belongs to one question, by its
// id, and counts only from the agent that was asked.

export interface Requests {
  /** Why this may not be sent; undefined if it may. */
  readonly whyNot: (request: MailRequest, to: string) => string | undefined
  /** Called once it was sent. */
  readonly sent: (request: MailRequest, to: string) => void
  /** What the model is told about a message besides its text: how to answer, or that it answers nothing. */
  readonly remarkOn: (letter: Pick<Letter, 'from' | 'message'>) => string | undefined
  /** Called once it has joined. Returns the answer, if it is one to something that was asked. */
  readonly taken: (letter: Pick<Letter, 'from' | 'message'>) => MailRequest | undefined
}

/** Most open questions; beyond that the oldest are forgotten. */
const OPEN_MAX = 1_000

interface Question {
  readonly type: MailRequest['type']
  /** The agent that asked, or that was asked. */
  readonly who: string
}

const ANSWER_TO: { readonly [type in MailRequest['type']]?: MailRequest['type'] } = {
  shutdown_response: 'shutdown_request',
  plan_approval_response: 'plan_approval_request',
}

export function createRequests(): Requests {
  const asked = new Map<string, Question>()
  const open = new Map<string, Question>()
  return {
    whyNot: (request, to) => {
      const { type, request_id: id } = request
      const question = ANSWER_TO[type]
      if (question === undefined)
        return asked.has(id) ? `The request_id ${id} is taken: choose another one.` : undefined
      const found = open.get(id)
      if (found?.type === question && found.who === to) return undefined
      if (found) return `${found.who} asked ${id}, and it is a ${found.type}: answer that, there.`
      const ids = [...open]
        .filter(([, { type: is }]) => is === question)
        .map(([is, { who }]) => `${is} of ${who}`)
      return `Nobody asked: there is no ${question} with the id ${id} to answer. Open are: ${ids.join(', ') || 'none'}.`
    },
    sent: (request, to) => {
      if (ANSWER_TO[request.type] === undefined)
        keep(asked, request.request_id, { type: request.type, who: to })
      else open.delete(request.request_id)
    },
    remarkOn: ({ from, message }) => {
      if (typeof message === 'string') return undefined
      const { type, request_id: id } = message
      if (ANSWER_TO[type] !== undefined) return whyNoAnswer(message, from, asked)
      const answer = type === 'shutdown_request' ? 'shutdown_response' : 'plan_approval_response'
      return `To answer, call SendMessage with to "${from}" and message {"type":"${answer}","request_id":"${id}","approve":true or false,"reason":"…"}.`
    },
    taken: ({ from, message }) => {
      if (typeof message === 'string') return undefined
      const { type, request_id: id } = message
      if (ANSWER_TO[type] === undefined) {
        // The first to ask under an id keeps it.
        if (!open.has(id)) keep(open, id, { type, who: from })
        return undefined
      }
      if (whyNoAnswer(message, from, asked) !== undefined) return undefined
      asked.delete(id)
      return message
    },
  }
}

function whyNoAnswer(
  { type, request_id: id }: MailRequest,
  from: string,
  asked: ReadonlyMap<string, Question>,
): string | undefined {
  const found = asked.get(id)
  if (!found || found.type !== ANSWER_TO[type])
    return `This answers nothing: no ${ANSWER_TO[type] ?? 'request'} with the id ${id} was asked. It has no effect.`
  if (found.who !== from)
    return `This answers nothing: ${id} was asked of ${found.who}, not of ${from}. It has no effect.`
  return undefined
}

function keep(all: Map<string, Question>, id: string, question: Question): void {
  all.set(id, question)
  const [oldest] = all.keys()
  if (all.size > OPEN_MAX && oldest !== undefined) all.delete(oldest)
}
