import { isJsonObject } from '../../wire/json.ts'
import { addFaults, parseFaults } from './faults.ts'
import { isIntegerFrom } from './match-body.ts'
import { renderLog, statsOf } from './request-log.ts'
import { addSteps, parseSteps } from './answering/script.ts'
import { resetState, type State } from './state.ts'

// The control plane: everything under `/_sim`, all JSON.

export async function handleControl(state: State, request: Request, path: string): Promise<Response> {
  switch (`${request.method} ${path}`) {
    case 'GET /_sim/requests':
      return json(textStream(renderLog(state.log)))
    case 'GET /_sim/stats':
      return json(JSON.stringify(statsOf(state.log)))
    case 'POST /_sim/script': {
      const steps = parseSteps(await bodyOf(request))
      if (typeof steps === 'string') return wrong(steps)
      addSteps(state.script, steps)
      return done()
    }
    case 'POST /_sim/faults': {
      const rules = parseFaults(await bodyOf(request))
      if (typeof rules === 'string') return wrong(rules)
      addFaults(state.faults, rules)
      return done()
    }
    case 'POST /_sim/clock':
      return advanceClock(state, await bodyOf(request))
    case 'POST /_sim/reset':
      resetState(state)
      return done()
    default:
      return json(JSON.stringify({ error: `no such call: ${request.method} ${path}` }), 404)
  }
}

/** The latest time that a `Date` can have. */
const LATEST_MS = 8.64e15

function advanceClock(state: State, body: unknown): Response {
  const ms = isJsonObject(body) ? body['advance_ms'] : undefined
  if (!isIntegerFrom(ms, 0)) return wrong('advance_ms: expected an integer from 0')
  if (state.clock.now() + ms > LATEST_MS) return wrong('advance_ms: there is no such date')
  if (!state.clock.advance(ms)) return wrong('the clock is real; start the simulator with a virtual one')
  return json(JSON.stringify({ ok: true, now: new Date(state.clock.now()).toISOString() }))
}

async function bodyOf(request: Request): Promise<unknown> {
  try {
    return JSON.parse(await request.text())
  } catch {
    // The caller says what it expected instead.
    return undefined
  }
}

function done(): Response {
  return json('{"ok":true}')
}

function wrong(message: string): Response {
  return json(JSON.stringify({ error: message }), 400)
}

function textStream(texts: Generator<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  return new ReadableStream({
    pull: (controller) => {
      const next = texts.next()
      if (next.done) controller.close()
      else controller.enqueue(encoder.encode(next.value))
    },
  })
}

function json(body: string | ReadableStream<Uint8Array>, status = 200): Response {
  return new Response(body, { status, headers: { 'content-type': 'application/json' } })
}
