import { readFileSync } from 'node:fs'

import { afterAll, describe, expect, test } from 'vitest'

import type { MessageEntry } from '../../packages/palimpsest/src/transcript/entry.ts'
import { isBlock, toBlocks, type Block } from '../../packages/palimpsest/src/wire/message.ts'
import { promptTokens } from '../../packages/palimpsest/src/wire/usage.ts'
import type { RecordedSession } from '../../packages/palimpsest/src/lab/replay/read/recorded-session.ts'
import { unroll } from '../../packages/palimpsest/src/lab/replay/read/unroll.ts'
import {
  hasRecorded,
  OF_EACH_FORMAT,
  readRecorded,
  recordedNote,
  recordedPath,
  recordedSome,
  type RecordedRow,
} from '../kit/recorded.ts'

// The index counts: for Claude Code, user lines and distinct answer ids, the client's own `<synthetic>` answers among them; for Codex,
// message items, calls and results; for pi and opencode, message records. A human turn is a user message that is neither a result nor
// the client's, summaries among them. A usage record is an answer with usage; for Codex, any count of tokens.

const rows = recordedSome(OF_EACH_FORMAT)
const sessions = new Map<string, Promise<RecordedSession>>()
afterAll(() => sessions.clear())

describe.skipIf(!hasRecorded)(`every recorded session${recordedNote}`, () => {
  test.each(rows)('the counts of $path match its index', async (row) => {
    const session = await read(row)
    const { messages, humanTurns, toolCalls, usageRecords, models } = row
    expect(counts(session, row)).toEqual({ messages, humanTurns, toolCalls, usageRecords })
    expect(session.models).toEqual(models)
    expect(Math.max(...session.responses.map(({ usage }) => (usage ? promptTokens(usage) : 0)))).toBe(
      row.maxPromptTokens,
    )
  })

  test.each(rows)('in $path every record is used, repeated, ignored by kind or reported', async (row) => {
    const { account, problems, format } = await read(row)
    const lines = readFileSync(recordedPath(row), 'utf8')
      .split('\n')
      .filter((line) => line !== '')
    if (format !== 'opencode') expect(account.total).toBe(lines.length)
    expect(account.reported).toBe(0)
    expect(problems).toEqual([])
    for (const kind of Object.keys(account.ignored)) expect(NOTHING_THE_MODEL_SAW).toContain(kind)
  })

  test.each(rows)(
    '(V1) in $path every tool use is answered exactly once, or listed as unanswered',
    async (row) => {
      const session = await read(row)
      const { uses, results } = pairs(messagesOf(session))
      const unanswered = session.unanswered.map((use) => use.toolUseId)
      expect(new Set(uses).size).toBe(uses.length)
      expect(new Set(results).size).toBe(results.length)
      expect(new Set([...results, ...unanswered])).toEqual(new Set(uses))
      expect(results.length + unanswered.length).toBe(uses.length)
    },
  )

  test.each(rows)(
    '$path unrolls to one conversation that contains everything said exactly once',
    async (row) => {
      const session = await read(row)
      const { entries, leftOut } = unroll(session)
      expect(entries.length + leftOut.length).toBe(session.entries.length)
      expect(entries.every((entry, index) => entry.parent === (entries[index - 1]?.id ?? null))).toBe(true)
      const said = messagesOf(session).filter(
        (entry) => entry.part === undefined && toBlocks(entry.message.content).length > 0,
      )
      expect(entries.map((entry) => entry.id)).toEqual(said.map((entry) => entry.id))
    },
  )

  test('images inside tool results and prompts are kept', async () => {
    const images = await Promise.all(
      rows
        .filter((row) => row.format === 'claude-code')
        .map(async (row) => {
          const session = await read(row)
          const inFile = readFileSync(recordedPath(row), 'utf8')
            .split('\n')
            .filter((line) => line !== '')
            .flatMap((line) => imagesIn(JSON.parse(line).message))
          const kept = allEntries(session).flatMap((entry) => imagesIn(entry.message))
          expect(kept).toEqual(inFile)
          return kept.length
        }),
    )
    expect(Math.max(...images)).toBeGreaterThan(0)
  })

  test.each(rows.filter((row) => row.format === 'codex-rollout'))(
    'in $path the usage of the responses adds up to the total that the file reports',
    async (row) => {
      const { responses } = await read(row)
      const totals = [...readFileSync(recordedPath(row), 'utf8').matchAll(/"total_token_usage":(\{[^}]*\})/g)]
      const total = JSON.parse(totals.at(-1)?.[1] ?? '{}')
      const sum = (of: (usage: NonNullable<(typeof responses)[number]['usage']>) => number): number =>
        responses.reduce((all, { usage }) => all + (usage ? of(usage) : 0), 0)
      expect({
        input_tokens: sum(promptTokens),
        cached_input_tokens: sum((usage) => usage.cache_read_input_tokens ?? 0),
        output_tokens: sum((usage) => usage.output_tokens),
      }).toEqual({
        input_tokens: total.input_tokens,
        cached_input_tokens: total.cached_input_tokens,
        output_tokens: total.output_tokens,
      })
    },
  )
})

/** Kinds of records in these files that carry nothing the model saw. A new kind must be looked at. */
const NOTHING_THE_MODEL_SAW = [
  'assistant <synthetic>',
  'file-history-snapshot',
  'pr-link',
  'progress',
  'queue-operation',
  'summary',
  'system:api_error',
  'system:stop_hook_summary',
  'system:turn_duration',
  'event_msg:context_compacted',
  'event_msg:mcp_tool_call_end',
  'event_msg:patch_apply_end',
  'event_msg:task_complete',
  'event_msg:task_started',
  'event_msg:turn_aborted',
  'event_msg:web_search_end',
  'response_item:reasoning (empty)',
  'model_change',
  'thinking_level_change',
  'part:patch',
  'part:step-start',
]

function read(row: RecordedRow): Promise<RecordedSession> {
  const session = sessions.get(row.path) ?? readRecorded(row)
  sessions.set(row.path, session)
  return session
}

function counts(session: RecordedSession, row: RecordedRow) {
  const entries = allEntries(session)
  const { ignored, repeated } = session.account
  const synthetic = ignored['assistant <synthetic>'] ?? 0
  const countedAgain = repeated['event_msg:token_count'] ?? 0
  const withUsage = session.responses.filter((response) => response.usage).length
  return {
    messages: messageCount(session, entries, row) + synthetic,
    humanTurns: entries.filter((entry) => isHuman(entry, row)).length,
    toolCalls: blocksOf(entries).filter(({ type }) => type === 'tool_use' || type === 'server_tool_use')
      .length,
    usageRecords: withUsage + synthetic + countedAgain,
  }
}

function messageCount(
  session: RecordedSession,
  entries: readonly MessageEntry[],
  { format }: RecordedRow,
): number {
  const lines = new Set(entries.filter((entry) => entry.message.role === 'user').map((entry) => entry.id))
  switch (format) {
    case 'claude-code':
      return lines.size + session.responses.length
    case 'codex-rollout':
      // Thinking is no message; what a compaction put in is part of the compaction.
      return entries.filter(
        (entry) => entry.part !== 'summary' && !blocksOf([entry]).some((block) => block.type === 'thinking'),
      ).length
    case 'pi-session':
      return entries.filter((entry) => entry.part !== 'summary').length
    default:
      return new Set(entries.map((entry) => entry.id.split('-').slice(0, 2).join('-'))).size
  }
}

function isHuman(entry: MessageEntry, { format }: RecordedRow): boolean {
  if (entry.message.role !== 'user' || answers(entry)) return false
  if (format !== 'claude-code') return entry.origin === 'user'
  return entry.part === 'summary' || entry.origin !== 'engine'
}

function answers(entry: MessageEntry): boolean {
  return blocksOf([entry]).some((block) => block.type === 'tool_result')
}

function messagesOf(session: RecordedSession): MessageEntry[] {
  return session.entries.filter((entry) => entry.kind === 'message')
}

function allEntries(session: RecordedSession): MessageEntry[] {
  const branches = [...session.branches, ...session.sidechains].flatMap((branch) => branch.entries)
  return [...session.entries, ...branches].filter((entry) => entry.kind === 'message')
}

function blocksOf(entries: readonly MessageEntry[]): Block[] {
  return entries.flatMap((entry) => toBlocks(entry.message.content))
}

function pairs(entries: readonly MessageEntry[]) {
  const blocks = blocksOf(entries)
  return {
    uses: blocks.flatMap((block) => (isBlock(block, 'tool_use') ? [block.id] : [])),
    results: blocks.flatMap((block) => (isBlock(block, 'tool_result') ? [block.tool_use_id] : [])),
  }
}

function imagesIn(value: unknown): string[] {
  return [...JSON.stringify(value ?? null).matchAll(/"type":"image","source":(\{[^}]{0,100})/g)].map(
    (match) => match[1] ?? '',
  )
}
