import { isDeepStrictEqual } from 'node:util'

import type Anthropic from '@anthropic-ai/sdk'
import fc from 'fast-check'
import { expect, onTestFinished, test, vi } from 'vitest'

import { cases } from '../kit/cases.ts'
import {
  blocksOf,
  ownerPlays,
  playOwner,
  type OwnerPlay,
  type OwnerRound,
  type OwnerStep,
} from '../kit/owner-history.ts'

// Histories that their owner edits in every way, in a window that has room for them and in one that has not.

const RUNS = cases(25, 20_000)
const TIMEOUT_MS = 60_000 + RUNS.numRuns * 400

const answer = { form: 'text', size: 20, keepsThinking: false } as const
const play = (earlier: number, ...steps: readonly OwnerStep[]): OwnerPlay => ({
  earlier,
  window: 10_000,
  model: 'claude-sonnet-5-5',
  steps,
})

/** What was found by chance and would rarely be found again. */
const ONCE_WRONG: readonly OwnerPlay[] = [
  // Returns to before an answer whose request stored a result: the result stays stored.
  play(
    13,
    { kind: 'pause', answer: { form: 'call', size: 3_000, keepsThinking: false } },
    { kind: 'odd', form: 'split results', answer },
    { kind: 'fork', at: 1, answer },
    { kind: 'return', answer },
  ),
  // Goes back to exactly what a compaction removed: its summary stands for it here too.
  play(
    12,
    { kind: 'odd', form: 'split results', answer },
    { kind: 'ask-again', answer },
    { kind: 'odd', form: 'blank message', answer },
    { kind: 'return', answer },
  ),
]

test(
  'whatever its owner does with a history, the request is valid, says what the history says, and keeps the longest prefix',
  async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    const seen = new Map<string, number>()
    await fc.assert(
      fc.asyncProperty(ownerPlays, async (play) => {
        const rounds = await playOwner(play)
        for (const [i, round] of rounds.entries()) {
          expect(round.refusal).toBe('')
          if (round.step === 'wrong') expect(round.wrong).toMatch(/messages\[\d+\].*: /)
          expect(saysWhatIsThere(round)).toEqual([])
          const last = rounds[i - 1]
          if (last && !goesOnFromEarlier(round, rounds.slice(0, i)))
            expect(changedTooEarly(last, round)).toBeUndefined()
          const done = [...round.plan.actions.map(({ kind }) => kind), round.plan.history.change, round.step]
          for (const kind of done) seen.set(kind, (seen.get(kind) ?? 0) + 1)
        }
      }),
      { ...RUNS, examples: ONCE_WRONG.map((play): [OwnerPlay] => [play]) },
    )
    // The generator must bring all of it about.
    const kinds = [
      'appended',
      'edited',
      'truncated',
      'returned',
      'stored',
      'cleared',
      'compacted',
      'odd',
      'wrong',
    ]
    expect(kinds.filter((kind) => (seen.get(kind) ?? 0) < RUNS.numRuns / 50)).toEqual([])
  },
  TIMEOUT_MS,
)

type Block = Anthropic.ContentBlockParam

/** A block as it was sent, without its breakpoint. */
interface SentBlock {
  readonly role: string
  readonly text: string
  readonly block: Block
}

function sentBlocks(messages: readonly Anthropic.MessageParam[]): readonly SentBlock[] {
  return messages.flatMap((message) =>
    blocksOf(message).map((block) => {
      const { cache_control: _, ...bare } = block as Block & { cache_control?: unknown }
      return { role: message.role, text: JSON.stringify(bare), block }
    }),
  )
}

const STAND_INS = ['<persisted-output>', '[Old tool result content cleared]']

/** What a request lacks of its history without saying so, and what it has that no history says. */
function saysWhatIsThere({ history, messages }: OwnerRound): readonly string[] {
  const sent = sentBlocks(messages)
  const left = [...sent]
  const firstKept = firstWhole(history, sent)
  const problems: string[] = []
  for (const [i, message] of history.entries()) {
    for (const block of blocksOf(message)) {
      if (block.type === 'thinking' || isBlankText(block)) continue
      const at = left.findIndex((one) => one.role === message.role && standsFor(one.block, block))
      if (at >= 0) left.splice(at, 1)
      else if (i >= firstKept) problems.push(`missing: ${JSON.stringify(block).slice(0, 100)}`)
    }
  }
  const isSummarised = firstKept > 0
  for (const { block, text } of left) {
    if (
      block.type === 'thinking' &&
      history.some((message) => blocksOf(message).some((own) => isDeepStrictEqual(own, block)))
    )
      continue
    if (!isSummarised) problems.push(`made up: ${text.slice(0, 100)}`)
  }
  return problems
}

function standsFor(sent: Block, own: Block): boolean {
  const { cache_control: _, ...bare } = sent as Block & { cache_control?: unknown }
  if (isDeepStrictEqual(bare, own) || isMendedAs(bare, own)) return true
  if (sent.type !== 'tool_result' || own.type !== 'tool_result' || sent.tool_use_id !== own.tool_use_id)
    return false
  const { content } = sent
  return typeof content === 'string' && STAND_INS.some((start) => content.startsWith(start))
}

function isBlankText(block: Block): boolean {
  return block.type === 'text' && block.text.trim() === ''
}

/** Says the same as something that the API refuses: a result without content, a call with an odd id, a text of nothing. */
function isMendedAs(sent: Block, own: Block): boolean {
  if (own.type === 'tool_use')
    return (
      sent.type === 'tool_use' && /[^\w-]/.test(own.id) && isDeepStrictEqual({ ...sent, id: own.id }, own)
    )
  if (sent.type !== 'tool_result' || own.type !== 'tool_result') return false
  const isOdd = /[^\w-]/.test(own.tool_use_id)
  if (!isOdd && sent.tool_use_id !== own.tool_use_id) return false
  const said = Array.isArray(own.content) ? '' : own.content
  return isOdd ? sent.content === own.content : !said && sent.content === '(no output)'
}

/** Of a history whose beginning a summary stands for: the first message from which on all are there. */
function firstWhole(history: readonly Anthropic.MessageParam[], sent: readonly SentBlock[]): number {
  const isSummarised = sent.some(
    ({ block }) => block.type === 'text' && block.text.startsWith('This conversation continues'),
  )
  if (!isSummarised) return 0
  const isThere = (message: Anthropic.MessageParam): boolean =>
    blocksOf(message).every(
      (own) => own.type === 'thinking' || isBlankText(own) || sent.some(({ block }) => standsFor(block, own)),
    )
  return history.findLastIndex((message) => !isThere(message)) + 1
}

/** Whoever returns to a history finds it as he left it: its own last request counts, whatever was sent in between. */
function goesOnFromEarlier(round: OwnerRound, earlier: readonly OwnerRound[]): boolean {
  if (round.plan.history.change !== 'returned') return false
  const shared = ({ history }: OwnerRound): number => {
    const end = history.findIndex((message, i) => !isDeepStrictEqual(message, round.history[i]))
    return end < 0 ? history.length : end
  }
  const most = Math.max(...earlier.map(shared))
  return earlier.some((one) => shared(one) === most && changedTooEarly(one, round) === undefined)
}

/** The first block that is another than in the request before, though nobody declared or made a change before it. */
function changedTooEarly(last: OwnerRound, round: OwnerRound): string | undefined {
  if (round.plan.actions.some(({ kind }) => kind !== 'stored')) return undefined
  const before = sentBlocks(last.messages)
  const after = sentBlocks(round.messages)
  const edit = last.history.findIndex((message, i) => !isDeepStrictEqual(message, round.history[i]))
  const changed = edit < 0 ? last.history.length : edit
  // A summary that says something of what was edited goes with it.
  if (changed < firstWhole(last.history, before)) return undefined
  const gone = last.history.slice(changed).flatMap(blocksOf)
  const same = before.findIndex(({ block }) => gone.some((own) => standsFor(block, own)))
  const mustStay = before.slice(0, same < 0 ? before.length : same)
  const at = mustStay.findIndex((block, i) => block.text !== after[i]?.text || block.role !== after[i]?.role)
  return at < 0 ? undefined : `${at}: ${mustStay[at]?.text.slice(0, 120)} → ${after[at]?.text.slice(0, 120)}`
}
