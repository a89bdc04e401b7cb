import { describe, expect, test } from 'vitest'

import { factorOf, startCalibration } from '../tokens/calibrate.ts'
import { estimateText } from '../tokens/estimate.ts'
import { NO_MODELS, resolveModel } from '../tokens/models.ts'
import { computeThresholds } from '../situation/thresholds.ts'
import { computeWindow } from '../situation/window.ts'
import type { Entry, EntryId, MessageEntry, Origin } from '../transcript/entry.ts'
import { viewOf } from '../transcript/view.ts'
import type { WireMessage } from '../wire/message.ts'
import type { Usage } from '../wire/usage.ts'
import { describeContext, type ContextSetup } from './describe-context.ts'

const MODEL = 'claude-sonnet-4-5'
const window = computeWindow(resolveModel(NO_MODELS, MODEL, ''))
const setup: ContextSetup = {
  window,
  thresholds: computeThresholds(window),
  autoEnabled: true,
  lifetimes: { system: '1h', messages: '5m' },
  calibration: startCalibration('claude-4'),
  thinking: { model: MODEL, bindsPrefix: false, readsFrom: [] },
}

const prefix: Entry = {
  kind: 'prefix',
  id: 'prefix',
  parent: null,
  at: 0,
  model: MODEL,
  betas: [],
  system: '[{"type":"text","text":"Be brief."}]',
  tools: '[]',
  parameters: {},
  reason: 'start',
}

function said(id: EntryId, message: WireMessage, more: Partial<MessageEntry> = {}): MessageEntry {
  const origin: Origin = message.role === 'assistant' ? 'model' : 'user'
  return { kind: 'message', id, parent: null, at: 0, origin, message, json: JSON.stringify(message), ...more }
}

const usage: Usage = { input_tokens: 100, output_tokens: 50, cache_read_input_tokens: 900 }
const question = said('q', { role: 'user', content: 'What is in the file?' })
const call = said(
  'a',
  {
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: 'I should look into the file first.', signature: 's' },
      { type: 'tool_use', id: 't', name: 'read', input: { path: 'a' } },
    ],
  },
  { usage, responseId: 'm' },
)
const result = said('r', {
  role: 'user',
  content: [{ type: 'tool_result', tool_use_id: 't', content: 'line\n'.repeat(400) }],
})

describe('what fills the window', () => {
  test('an empty conversation fills nothing', () => {
    const { used, report, byKind, cache, removals } = describeContext(viewOf([]), setup)
    expect({ used, percentLeft: report.percentLeft, cache, removals }).toEqual({
      used: 0,
      percentLeft: 100,
      cache: { breaks: 0 },
      removals: [],
    })
    expect(Object.values(byKind)).toEqual([0, 0, 0, 0, 0, 0, 0, 0])
  })

  test('the size is the newest usage plus the estimate of what came since, and the kinds add up to it', () => {
    const before = describeContext(viewOf([prefix, question, call]), setup)
    const after = describeContext(viewOf([prefix, question, call, result]), setup)
    expect(before.used).toBe(1050)
    expect(after.used).toBeGreaterThan(1050 + 400)
    for (const { used, byKind } of [before, after]) {
      expect(Object.values(byKind).reduce((sum, tokens) => sum + tokens, 0)).toBe(used)
    }
    expect(after.byKind.tool_results).toBeGreaterThan(after.byKind.user)
    expect(after.byKind.thinking).toBeGreaterThan(0)
    expect(after.cache).toEqual({ breaks: 0 })
  })

  test('if system and tools are not recorded, the usage beyond the messages is attributed to them', () => {
    const { used, byKind } = describeContext(viewOf([question, call]), setup)
    expect(used).toBe(1050)
    expect(byKind.system).toBeGreaterThan(900)
    expect(byKind.user + byKind.assistant + byKind.thinking + byKind.system).toBe(used)
  })

  test('what an edit removed is listed until it is undone, and no longer counts', () => {
    const edit: Entry = {
      kind: 'edit',
      id: 'e',
      parent: null,
      at: 7,
      cause: 'cold',
      replace: [
        {
          at: { entry: 'r', index: 0 },
          with: ['{"type":"tool_result","tool_use_id":"t","content":"[cleared]"}'],
        },
      ],
      drop: [],
      freedTokens: 800,
    }
    const undo: Entry = { kind: 'void', id: 'v', parent: null, at: 8, target: 'e' }
    const whole = [prefix, question, call, result]
    const edited = describeContext(viewOf([...whole, edit]), setup)
    expect(edited.removals).toEqual([
      {
        id: 'e',
        at: 7,
        layer: 2,
        what: '1 block replaced (nothing was cached any more)',
        tokens: 800,
        canUndo: true,
      },
    ])
    expect(edited.used).toBeLessThan(describeContext(viewOf(whole), setup).used)
    expect(describeContext(viewOf([...whole, edit, undo]), setup).removals).toEqual([])
    // What a compaction says again of what stood there before took nothing out.
    const again: Entry = { ...edit, id: 'a', cause: 'again', freedTokens: 0 }
    expect(describeContext(viewOf([...whole, edit, again]), setup).removals).toEqual(edited.removals)
  })

  test('a result whose storing was decided again is one removal', () => {
    const stored = (id: string): Entry => {
      const blob = { path: 's/tool-results/t.txt', bytes: 2_000 }
      const standIn = '{"type":"tool_result","tool_use_id":"t","content":"[stored]"}'
      return { kind: 'stored', id, parent: null, at: 7, toolUseId: 't', blob, standIn }
    }
    const { removals } = describeContext(
      viewOf([prefix, question, call, result, stored('s1'), stored('s2')]),
      setup,
    )
    expect(removals.map(({ id, layer }) => [id, layer])).toEqual([['s2', 1]])
    expect(removals[0]?.what).toBe('the result of read a is in s/tool-results/t.txt')
  })

  test.each([
    ['figures', (i: number) => `${i * 7919},${i * 104_729}.${i % 97},0x${(i * 65_537).toString(16)}\n`],
    ['prose', (i: number) => `The line with the number ${i} is about what happened before.\n`],
  ])('a stored result counts for about its full size: %s', (_, line) => {
    const text = Array.from({ length: 3_000 }, (__, i) => line(i)).join('')
    const content = `${text.length} characters, stored in s/tool-results/t.txt. The beginning:\n${text.slice(0, 2_000)}`
    const standIn = JSON.stringify({ type: 'tool_result', tool_use_id: 't', content })
    const blob = { path: 's/tool-results/t.txt', bytes: text.length }
    const stored: Entry = { kind: 'stored', id: 's', parent: null, at: 7, toolUseId: 't', blob, standIn }
    const [removal] = describeContext(viewOf([prefix, question, call, result, stored]), setup).removals
    const weight = estimateText(text) * factorOf(setup.calibration)
    expect(Math.abs((removal?.tokens ?? 0) / weight - 1)).toBeLessThan(0.15)
  })

  test('a clearing by the provider, or anything before a compaction, cannot be undone', () => {
    const edit = (id: string, cause: 'batch' | 'server' | 'collapse'): Entry => {
      return { kind: 'edit', id, parent: null, at: 7, cause, replace: [], drop: [], freedTokens: 800 }
    }
    const meta = { trigger: 'auto', preTokens: 1_000 } as const
    const boundary: Entry = {
      kind: 'boundary',
      id: 'b',
      parent: null,
      at: 8,
      logicalParent: null,
      summary: [],
      keeps: 'tail',
      attachments: [],
      meta,
    }
    const entries = [prefix, question, call, result, edit('e1', 'batch'), boundary]
    const after = [...entries, edit('e2', 'batch'), edit('e3', 'server'), edit('e4', 'collapse')]
    const { removals } = describeContext(viewOf(after), setup)
    expect(removals.map(({ id, layer, canUndo }) => [id, layer, canUndo])).toEqual([
      ['e1', 2, false],
      ['b', 4, true],
      ['e2', 2, true],
      ['e3', 2, false],
      ['e4', 4, true],
    ])
  })
})
