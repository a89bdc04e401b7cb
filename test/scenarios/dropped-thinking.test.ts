import { expect, test } from 'vitest'

import { estimateText } from '../../packages/palimpsest/src/tokens/estimate.ts'
import { calibrationOf } from '../../packages/palimpsest/src/situation/calibration.ts'
import { describeContext } from '../../packages/palimpsest/src/engine/describe-context.ts'
import { modelPolicy } from '../../packages/palimpsest/src/situation/model-policy.ts'
import { sizeOf } from '../../packages/palimpsest/src/situation/size-of.ts'
import { createSimulator } from '../../packages/palimpsest/src/lab/simulator/create-simulator.ts'
import { computeThresholds } from '../../packages/palimpsest/src/situation/thresholds.ts'
import { NO_MODELS, resolveModel } from '../../packages/palimpsest/src/tokens/models.ts'
import { computeWindow } from '../../packages/palimpsest/src/situation/window.ts'
import type { Entry, MessageEntry, PrefixEntry } from '../../packages/palimpsest/src/transcript/entry.ts'
import { chainEnd, settle, tokensEnd } from '../../packages/palimpsest/src/transcript/settle.ts'
import { emptyView, step, type View } from '../../packages/palimpsest/src/transcript/view.ts'
import type { WireMessage } from '../../packages/palimpsest/src/wire/message.ts'
import type { MessagesResponse } from '../../packages/palimpsest/src/wire/response.ts'
import { promptTokens } from '../../packages/palimpsest/src/wire/usage.ts'

// The size of the next request, against what the simulator says of that request. It counts with a counter of its own.

const THOUGHT = 'First the plan, then the parts, and each part by its own test. '.repeat(200)
const TURNS = 8
/** Of the estimate, once the model is known. */
const ERROR_MAX = 0.05

test.each(['claude-sonnet-4-5', 'claude-haiku-4-5', 'claude-opus-4-5', 'claude-sonnet-4-6'])(
  'on %s the size is what the provider counts, turn after turn: thinking of earlier turns counts only if it is kept',
  (model) => {
    const { facts } = resolveModel(NO_MODELS, model, '')
    const thinking = modelPolicy(model, facts)
    const window = computeWindow(resolveModel(NO_MODELS, model, ''))
    const content = [
      { type: 'thinking' as const, thinking: THOUGHT },
      { type: 'text' as const, text: 'Done.' },
    ]
    const simulator = createSimulator({ clock: 'virtual', script: [{ content, times: TURNS }] })
    let view = step(emptyView(), prefixOf(model))
    const kinds: number[] = []
    for (let turn = 0; turn < TURNS; turn++) {
      view = step(
        view,
        said(`u${turn}`, view, { role: 'user', content: `Part ${turn}. ${'More of it. '.repeat(300)}` }),
      )
      const calibration = calibrationOf(view, thinking, facts)
      const expected = sizeOf(view, { thinking, calibration })
      const settled = settle(view, thinking)
      const asked = { under: chainEnd(settled), sentEstimate: tokensEnd(settled) }
      const { body } = simulator.answer(bodyOf(model, settled.texts))
      const response = body as MessagesResponse
      const counted = promptTokens(response.usage)
      if (turn >= 4) expect(Math.abs(expected - counted) / counted).toBeLessThan(ERROR_MAX)
      const setup = {
        window,
        thresholds: computeThresholds(window),
        autoEnabled: true,
        lifetimes: { system: '1h', messages: '5m' } as const,
        calibration,
        thinking,
      }
      kinds.push(describeContext(view, setup).byKind.thinking)
      const message: WireMessage = { role: 'assistant', content: response.content }
      const { usage } = response
      view = step(view, said(`a${turn}`, view, message, { ...asked, model, usage, responseId: response.id }))
    }
    const thought = estimateText(THOUGHT)
    if (facts.thinking.keptAcrossTurns) expect(kinds.at(-1)).toBeGreaterThan(4 * thought)
    else expect(kinds).toEqual(kinds.map(() => 0))
  },
)

function prefixOf(model: string): PrefixEntry {
  const system = '[{"type":"text","text":"Be brief."}]'
  return {
    kind: 'prefix',
    id: 'prefix',
    parent: null,
    at: 0,
    model,
    betas: [],
    system,
    tools: '[]',
    parameters: {},
    reason: 'start',
  }
}

function said(id: string, view: View, message: WireMessage, more: Partial<MessageEntry> = {}): Entry {
  const origin = message.role === 'assistant' ? 'model' : 'user'
  const json = JSON.stringify(message)
  return { kind: 'message', id, parent: view.leaf, at: 0, origin, message, json, ...more }
}

function bodyOf(model: string, texts: readonly string[]): object {
  const messages: readonly WireMessage[] = JSON.parse(`[${texts.filter((text) => text !== '').join(',')}]`)
  return {
    model,
    max_tokens: 20_000,
    system: 'Be brief.',
    thinking: { type: 'enabled', budget_tokens: 8_000 },
    messages,
  }
}
