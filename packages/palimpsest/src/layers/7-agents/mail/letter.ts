import { isJsonObject, type JsonObject } from '../../../wire/json.ts'

// What agents write to each other. Whatever comes from a disk or a socket is parsed here, and is only data until it has this form.

/** A question to another agent, or an answer, in a form that needs no interpretation. */
export interface MailRequest {
  readonly type: 'shutdown_request' | 'shutdown_response' | 'plan_approval_request' | 'plan_approval_response'
  /** An answer has the id of its question. */
  readonly request_id: string
  /** Set in an answer. */
  readonly approve?: boolean | undefined
  readonly reason?: string | undefined
}

export interface Letter {
  /** Unique. A receiver never takes in the same id twice. */
  readonly id: string
  readonly from: string
  readonly to: string
  /** Milliseconds since 1970, by the sender's clock. */
  readonly at: number
  /** One line for the screen. */
  readonly summary: string
  readonly message: string | MailRequest
}

export const LETTER_CHARS_MAX = 100_000
export const SUMMARY_CHARS_MAX = 200

/** No part of a path, and nothing that a screen would show as something else. */
const NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/i
const ID = /^[\w-]{1,128}$/

export function isAgentName(name: string): boolean {
  return NAME.test(name)
}

/** The letter, or what is wrong with it, as part of a sentence. */
export function parseLetter(value: unknown): Letter | string {
  if (!isJsonObject(value)) return 'it is no JSON object'
  const { id, from, to, at, summary, message } = value
  if (typeof id !== 'string' || !ID.test(id)) return 'it has no valid id'
  if (typeof from !== 'string' || !isAgentName(from)) return 'it does not say who sent it'
  if (typeof to !== 'string' || !isAgentName(to)) return 'it does not say who it is for'
  if (typeof at !== 'number' || !Number.isFinite(at)) return 'it does not say when it was sent'
  if (typeof summary !== 'string' || summary.includes('\n')) return 'it has no summary of one line'
  if (summary.length > SUMMARY_CHARS_MAX) return `its summary has more than ${SUMMARY_CHARS_MAX} characters`
  const read = typeof message === 'string' ? message : parseMailRequest(message)
  if (read === undefined) return 'its message is neither a text nor a request or response of a known type'
  if (sizeOf(read) > LETTER_CHARS_MAX) return `its message has more than ${LETTER_CHARS_MAX} characters`
  return { id, from, to, at, summary, message: read }
}

function sizeOf(message: string | MailRequest): number {
  return typeof message === 'string' ? message.length : JSON.stringify(message).length
}

/** Undefined if it is none. */
export function parseMailRequest(value: unknown): MailRequest | undefined {
  if (!isJsonObject(value)) return undefined
  const { request_id: requestId, approve, reason } = value
  const type = typeOf(value)
  if (type === undefined || typeof requestId !== 'string' || !ID.test(requestId)) return undefined
  if (reason !== undefined && typeof reason !== 'string') return undefined
  // A question has no `approve`; an answer must have it.
  const isAnswer = type === 'shutdown_response' || type === 'plan_approval_response'
  if (isAnswer ? typeof approve !== 'boolean' : approve !== undefined) return undefined
  return { type, request_id: requestId, approve: typeof approve === 'boolean' ? approve : undefined, reason }
}

function typeOf({ type }: JsonObject): MailRequest['type'] | undefined {
  switch (type) {
    case 'shutdown_request':
    case 'shutdown_response':
    case 'plan_approval_request':
    case 'plan_approval_response':
      return type
    default:
      return undefined
  }
}
