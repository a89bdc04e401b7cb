import { onTestFinished } from 'vitest'

import { serve } from '../../packages/palimpsest/src/node/serving/serve.ts'
import { isJsonObject, type Json, type JsonObject } from '../../packages/palimpsest/src/wire/json.ts'

// A server of chat completions behind a real socket, as strict as the strictest templates of chat: one system message and at the
// beginning, user and assistant in turns, every call answered right behind it, no content that is empty. It caches whole messages of the request before.

export interface ChatReply {
  readonly reasoning?: string
  readonly text?: string
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly arguments: string }[]
  readonly finish?: string
  /** Instead of an answer. */
  readonly error?: {
    readonly status: number
    readonly body: string
    readonly headers?: { [name: string]: string }
  }
  /** Instead of chunks: what the stream holds. */
  readonly raw?: string
}

export interface ChatServerOptions {
  /** Beyond it a request is refused in the words of vLLM. */
  readonly window?: number
  readonly reportsUsage?: boolean
  /** What is answered when the script is at its end; without it, a refusal. */
  readonly pastScript?: ChatReply
}

export interface ChatServer {
  readonly url: string
  readonly replies: ChatReply[]
  readonly requests: ChatRequest[]
}

export interface ChatRequest {
  readonly headers: { readonly [name: string]: string }
  readonly body: JsonObject
  readonly promptTokens: number
  readonly cachedTokens: number
}

const CHARS_PER_TOKEN = 4

export async function openChatServer(
  replies: readonly ChatReply[],
  options: ChatServerOptions = {},
): Promise<ChatServer> {
  const server: Omit<ChatServer, 'url'> = { replies: [...replies], requests: [] }
  const served = await serve(async (request) => await answer(request, server, options))
  onTestFinished(async () => await served.close())
  return { ...server, url: `${served.url}/v1` }
}

async function answer(
  request: Request,
  { replies, requests }: Omit<ChatServer, 'url'>,
  { window = Infinity, reportsUsage = true, pastScript }: ChatServerOptions,
): Promise<Response> {
  if (new URL(request.url).pathname !== '/v1/chat/completions')
    return new Response('404 page not found', { status: 404 })
  const body: unknown = await request.json()
  if (!isJsonObject(body)) return refuse('the body is no object')
  const problem = findProblem(body)
  if (problem !== undefined) return refuse(problem)
  const before = requests.at(-1)?.body['messages']
  const promptTokens = tokensOf(body)
  const cachedTokens = cachedOf(body['messages'], before)
  requests.push({ headers: Object.fromEntries(request.headers), body, promptTokens, cachedTokens })
  if (promptTokens > window)
    return refuse(
      `This model's maximum context length is ${window} tokens. However, your messages resulted in ${promptTokens} tokens. Please reduce the length of the messages.`,
    )
  const reply = replies.shift() ?? pastScript
  if (!reply) return refuse('the script has no answer left')
  if (reply.error) {
    const { status, body: text, headers } = reply.error
    return new Response(text, { status, headers: { 'content-type': 'application/json', ...headers } })
  }
  const usage = reportsUsage ? usageOf(reply, promptTokens, cachedTokens) : undefined
  const text =
    reply.raw ??
    [...chunksOf(reply, usage).map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`), 'data: [DONE]\n\n'].join(
      '',
    )
  return new Response(text, { headers: { 'content-type': 'text/event-stream' } })
}

function refuse(message: string): Response {
  return Response.json({ error: { message, type: 'invalid_request_error', code: 400 } }, { status: 400 })
}

function findProblem(body: JsonObject): string | undefined {
  const { messages, stream, stream_options: streamOptions, model, max_tokens: maxTokens } = body
  if (typeof model !== 'string' || model === '') return 'model must be a name'
  if (stream !== true) return 'only streams are served'
  if (!isJsonObject(streamOptions) || streamOptions['include_usage'] !== true) return 'no usage is asked for'
  if (maxTokens !== undefined) return 'max_tokens is not supported with this model'
  if (!Array.isArray(messages)) return 'messages must be a list'
  return findOrderProblem(messages)
}

function findOrderProblem(messages: readonly Json[]): string | undefined {
  let open = new Set<string>()
  let before = ''
  for (const [i, message] of messages.entries()) {
    if (!isJsonObject(message)) return `messages.${i} is no object`
    const { role, content, tool_calls: calls, tool_call_id: id } = message
    const at = `messages.${i} (${JSON.stringify(role)})`
    if (role === 'tool') {
      if (typeof id !== 'string' || !open.delete(JSON.stringify(id)))
        return `${at} answers no open call: ${JSON.stringify(id)}`
      if (typeof content !== 'string' || content === '') return `${at} has no text`
      before = 'tool'
      continue
    }
    if (open.size > 0) return `${at} comes before an answer to ${[...open].join(', ')}`
    if (role === 'system' && i > 0) return `${at}: system message must be at the beginning`
    if (role === before) return `${at}: roles must alternate`
    if (role !== 'system' && role !== 'user' && role !== 'assistant') return `${at}: unknown role`
    const ids = Array.isArray(calls)
      ? calls.map((call) => (isJsonObject(call) ? JSON.stringify(call['id']) : ''))
      : []
    if (ids.length === 0 && (content === '' || content === null || content === undefined))
      return `${at} is empty`
    open = new Set(ids)
    before = role
  }
  return open.size > 0 ? 'the last calls are not answered' : undefined
}

function tokensOf({ messages, tools }: JsonObject): number {
  return Math.ceil(JSON.stringify([messages, tools]).length / CHARS_PER_TOKEN)
}

/** Of the messages that both begin with. */
function cachedOf(messages: Json | undefined, before: Json | undefined): number {
  if (!Array.isArray(messages) || !Array.isArray(before)) return 0
  const differs = before.findIndex((one, i) => JSON.stringify(one) !== JSON.stringify(messages[i]))
  const shared = messages.slice(0, differs === -1 ? before.length : differs)
  return shared.length === 0 ? 0 : Math.floor(JSON.stringify(shared).length / CHARS_PER_TOKEN)
}

function usageOf(
  { text = '', calls = [] }: ChatReply,
  promptTokens: number,
  cachedTokens: number,
): JsonObject {
  const output = Math.ceil((text.length + JSON.stringify(calls).length) / CHARS_PER_TOKEN)
  return {
    prompt_tokens: promptTokens,
    completion_tokens: output,
    total_tokens: promptTokens + output,
    prompt_tokens_details: { cached_tokens: cachedTokens },
  }
}

/** Pieces of several calls come mixed, as some servers send them. */
function chunksOf(reply: ChatReply, usage: JsonObject | undefined): JsonObject[] {
  const { reasoning, text, calls = [], finish = calls.length > 0 ? 'tool_calls' : 'stop' } = reply
  const halves = calls.map(({ arguments: all }) => [
    all.slice(0, all.length >> 1),
    all.slice(all.length >> 1),
  ])
  const deltas: JsonObject[] = [
    ...(reasoning === undefined ? [] : [{ reasoning_content: reasoning }]),
    ...(text === undefined ? [] : [...text.matchAll(/[\s\S]{1,12}/g)].map(([piece]) => ({ content: piece }))),
    ...calls.map(({ id, name }, index) => ({
      tool_calls: [{ index, id, type: 'function', function: { name, arguments: halves[index]?.[0] ?? '' } }],
    })),
    ...calls.map((_, index) => ({
      tool_calls: [{ index, function: { arguments: halves[index]?.[1] ?? '' } }],
    })),
  ]
  const chunk = (choices: Json[], more: JsonObject = {}): JsonObject => ({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'served',
    choices,
    ...more,
  })
  return [
    chunk([{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }]),
    ...deltas.map((delta) => chunk([{ index: 0, delta, finish_reason: null }])),
    chunk([{ index: 0, delta: {}, finish_reason: finish }]),
    ...(usage ? [chunk([], { usage })] : []),
  ]
}
