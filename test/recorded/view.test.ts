import { afterAll, describe, expect, test } from 'vitest'

import { buildRequest, type BuiltRequest } from '../../packages/palimpsest/src/request/build-request.ts'
import { interruptedResults } from '../../packages/palimpsest/src/situation/interrupted.ts'
import type { RecordedSession } from '../../packages/palimpsest/src/lab/replay/read/recorded-session.ts'
import { unroll } from '../../packages/palimpsest/src/lab/replay/read/unroll.ts'
import { shapeRequest } from '../../packages/palimpsest/src/lab/simulator/validate/request-shape.ts'
import { validateRequest } from '../../packages/palimpsest/src/lab/simulator/validate/validate.ts'
import { DEFAULT_SWITCHES } from '../../packages/palimpsest/src/lab/simulator/switches.ts'
import type { Entry, PrefixEntry } from '../../packages/palimpsest/src/transcript/entry.ts'
import { emptyView, step, type View } from '../../packages/palimpsest/src/transcript/view.ts'
import { isBlock, toBlocks } from '../../packages/palimpsest/src/wire/message.ts'
import { findModelFacts } from '../../packages/palimpsest/src/wire/model-facts.ts'
import {
  hasRecorded,
  OF_EACH_FORMAT,
  readRecorded,
  recordedNote,
  recordedSome,
  type RecordedRow,
} from '../kit/recorded.ts'

// Recorded conversations go through our own view, as recorded (with their compactions) and unrolled, and the requests made of them
// are judged by the simulator. Sessions of other models are sent to a Claude model.

/** A body is parsed and judged whole, so not at every response of a session. */
const EVERY = process.env['SOAK'] ? 1 : 60

const FALLBACK_MODEL = 'claude-opus-4-6'
const MAX_TOKENS = 8_000

const rows = recordedSome(OF_EACH_FORMAT)

/** Each is read once for both ways. */
const read = new Map<RecordedRow, Promise<RecordedSession>>()
afterAll(() => read.clear())

function readOnce(row: RecordedRow): Promise<RecordedSession> {
  const session = read.get(row) ?? readRecorded(row)
  read.set(row, session)
  return session
}

describe.skipIf(!hasRecorded)(`requests built from recorded sessions${recordedNote}`, () => {
  test.each(rows)('(V1) $path as recorded: every request is accepted', async (row) => {
    const session = await readOnce(row)
    const refusals = judgeRequests(session.entries, session)
    expect(refusals.problems).toEqual([])
    expect(refusals.requests).toBeGreaterThan(2)
  })

  test.each(rows)('(V1) $path unrolled: every request is accepted', async (row) => {
    const session = await readOnce(row)
    const refusals = judgeRequests(unroll(session).entries, session)
    expect(refusals.problems).toEqual([])
    expect(refusals.requests).toBeGreaterThan(2)
  })
})

function judgeRequests(entries: readonly Entry[], session: RecordedSession) {
  const firsts = new Map(session.responses.map((response, index) => [response.entries[0], index]))
  const last = session.responses.length - 1
  const problems: unknown[] = []
  let requests = 0
  let view = step(emptyView(), prefixOf(session))
  let afterBoundary = false
  for (const entry of entries) {
    const response = firsts.get(entry.id)
    if (response !== undefined) {
      view = answerOpen(view)
      if (response % EVERY === 0 || response === last || afterBoundary) {
        requests++
        const refusal = judgeBody(build(view))
        if (refusal) problems.push({ before: entry.id, refusal })
      }
      afterBoundary = false
    }
    afterBoundary ||= entry.kind === 'boundary'
    view = step(view, entry)
  }
  return { problems, requests }
}

function answerOpen(view: View): View {
  let answered = view
  for (const [index, body] of interruptedResults(view).entries())
    answered = step(answered, { ...body, id: `${view.leaf}-interrupted-${index}`, parent: view.leaf, at: 0 })
  return answered
}

function build(view: View): BuiltRequest {
  const model = view.prefix?.model ?? ''
  const facts = findModelFacts(model)?.thinking
  return buildRequest(view, {
    maxTokens: MAX_TOKENS,
    thinking: { model, bindsPrefix: facts?.bindsPrefix ?? true, readsFrom: facts?.readsFrom ?? [] },
    lifetimes: { system: '1h', messages: '5m' },
    stream: false,
  })
}

function judgeBody({ body, model }: BuiltRequest): unknown {
  const facts = findModelFacts(model)
  if (!facts) return `no facts about ${model}`
  const judged = {
    version: '2023-06-01',
    betas: [],
    switches: DEFAULT_SWITCHES,
    counting: false,
    cacheEdits: false,
    facts,
  } as const
  const shaped = shapeRequest(JSON.parse(body), judged)
  return 'refusal' in shaped ? shaped.refusal : validateRequest(shaped.request, judged)
}

function prefixOf(session: RecordedSession): PrefixEntry {
  const [model = ''] = session.models
  const names = session.entries.flatMap((entry) =>
    entry.kind === 'message'
      ? toBlocks(entry.message.content).flatMap((block) => (isBlock(block, 'tool_use') ? [block.name] : []))
      : [],
  )
  const tools = [...new Set(names)].map((name) => ({ name, input_schema: { type: 'object' } }))
  return {
    kind: 'prefix',
    id: 'prefix',
    parent: null,
    at: 0,
    model: findModelFacts(model)?.id.startsWith('claude-') ? model : FALLBACK_MODEL,
    betas: [],
    system: '[{"type":"text","text":"You are replayed."}]',
    tools: JSON.stringify(tools),
    parameters: {},
    reason: 'replay',
  }
}
