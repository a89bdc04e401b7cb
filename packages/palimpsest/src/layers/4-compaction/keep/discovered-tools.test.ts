import { expect, test } from 'vitest'

import type { BoundaryEntry, Entry, MessageEntry, PrefixEntry } from '../../../transcript/entry.ts'
import { viewOf } from '../../../transcript/view.ts'
import type { WireMessage } from '../../../wire/message.ts'
import { discoveredTools } from './discovered-tools.ts'

const PREFIX: PrefixEntry = {
  kind: 'prefix',
  id: 'prefix',
  parent: null,
  at: 0,
  model: 'm',
  betas: [],
  system: '[]',
  tools: '[{"name":"Read"},{"name":"Later","defer_loading":true},{"name":"Never","defer_loading":true}]',
  parameters: {},
  reason: 'start',
}

test('tools that were found or called without being in the prompt are listed, together with those of the previous boundary', () => {
  const entries: Entry[] = [
    PREFIX,
    said('q', { role: 'user', content: 'go' }),
    said('a', {
      role: 'assistant',
      content: [
        { type: 'tool_use', id: 't1', name: 'Read', input: {} },
        { type: 'tool_use', id: 't2', name: 'Later', input: {} },
        { type: 'tool_use', id: 't3', name: 'ToolSearch', input: { query: 'db' } },
      ],
    }),
    said('r', {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 't1', content: 'x' },
        { type: 'tool_result', tool_use_id: 't2', content: 'x' },
        {
          type: 'tool_result',
          tool_use_id: 't3',
          content: [{ type: 'tool_reference', tool_name: 'mcp__db__query' }],
        },
      ],
    }),
  ]
  expect(discoveredTools(viewOf(entries))).toEqual(['Later', 'mcp__db__query'])
  const summary = said('s', { role: 'user', content: 'summary' }, { part: 'summary' })
  const boundary: BoundaryEntry = {
    kind: 'boundary',
    id: 'b',
    parent: null,
    at: 0,
    summary: ['s'],
    keeps: 'tail',
    attachments: [],
    logicalParent: null,
    meta: { trigger: 'auto', preTokens: 1, discoveredTools: ['mcp__db__query'] },
  }
  expect(discoveredTools(viewOf([...entries, boundary, summary]))).toEqual(['mcp__db__query'])
})

function said(id: string, message: WireMessage, more: Partial<MessageEntry> = {}): MessageEntry {
  return {
    kind: 'message',
    id,
    parent: null,
    at: 0,
    origin: 'user',
    message,
    json: JSON.stringify(message),
    ...more,
  }
}
