import { COUNT_PATH, MESSAGES_PATH, prepareAnswer } from './answering/answer.ts'
import { handleControl } from './control.ts'
import { errorMessageOf, errorTypeOf, takeFault } from './faults.ts'
import { readCaller, type HeaderRecord } from './headers.ts'
import { listModels, modelInfo } from './models.ts'
import { errorBody, refuse, type Refusal } from './refusal.ts'
import { eventBody, jsonBody } from './answering/response-body.ts'
import { factsFor, newAsideId, type State } from './state.ts'

// Routing. Only the path counts: some clients add `?beta=true`.

const MODELS_PATH = '/v1/models'
const HELLO_PATH = '/api/hello'
const CONTROL_PREFIX = '/_sim/'

export async function handle(state: State, request: Request): Promise<Response> {
  const url = new URL(request.url)
  const path = url.pathname.length > 1 ? url.pathname.replace(/(?<!\/)\/+$/, '') : url.pathname
  if (path.startsWith(CONTROL_PREFIX)) return handleControl(state, request, path)
  if (path === HELLO_PATH) return new Response(null, { status: 200 })
  if (path === MESSAGES_PATH || path === COUNT_PATH)
    return request.method === 'POST'
      ? handleMessages(state, request, path)
      : refusalResponse(state, refuse('http.method'))
  if (path === MODELS_PATH || path.startsWith(`${MODELS_PATH}/`))
    return handleModels(state, request, path, url)
  return refusalResponse(state, refuse('http.route'))
}

async function handleMessages(
  state: State,
  request: Request,
  path: typeof MESSAGES_PATH | typeof COUNT_PATH,
): Promise<Response> {
  const prepared = prepareAnswer(state, path, headersOf(request), await request.text())
  await state.clock.sleep(prepared.delayMs)
  prepared.begin()
  if (prepared.streams)
    return new Response(eventBody(prepared, state.clock), {
      status: prepared.status,
      headers: {
        ...prepared.headers,
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-cache',
      },
    })
  return new Response(jsonBody(prepared, state.clock), {
    status: prepared.status,
    headers: { ...prepared.headers, 'content-type': 'application/json' },
  })
}

function handleModels(state: State, request: Request, path: string, url: URL): Response {
  if (request.method !== 'GET') return refusalResponse(state, refuse('http.method'))
  const { switches, keys, models } = state.settings
  const caller = readCaller(headersOf(request), { switches, keys })
  if ('rule' in caller) return refusalResponse(state, caller)
  const fault = takeFault(state.faults, { path, body: () => '' })
  if (fault?.type === 'status') {
    const body = errorBody({ type: errorTypeOf(fault), message: errorMessageOf(fault) }, newAsideId(state))
    return jsonResponse(state, body, fault.status)
  }
  if (path === MODELS_PATH) return jsonResponse(state, listModels(models, url.searchParams))
  const id = decodeId(path.slice(MODELS_PATH.length + 1))
  const facts = factsFor(state, id)
  return facts
    ? jsonResponse(state, modelInfo(facts))
    : refusalResponse(state, refuse('http.model-unknown', { model: id }))
}

/** A badly encoded id matches no model and is reported as it came. */
function decodeId(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function headersOf(request: Request): HeaderRecord {
  return Object.fromEntries(request.headers.entries())
}

function jsonResponse(state: State, body: unknown, status = 200): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json', 'request-id': newAsideId(state) },
  })
}

function refusalResponse(state: State, refusal: Refusal): Response {
  return jsonResponse(state, errorBody(refusal, newAsideId(state)), refusal.status)
}
