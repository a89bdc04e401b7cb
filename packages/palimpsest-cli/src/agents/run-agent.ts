import { drive, openConversation } from 'palimpsest/conversation'
import type { AgentReport, JoinConvoy } from 'palimpsest/agents'
import type { LoopEvent, TurnEnd } from 'palimpsest/loop'
import type { SpentEntry } from 'palimpsest/transcript'
import { isBlock, servedTokens, toBlocks, type Usage } from 'palimpsest/wire'

import { sentenceOf } from '../report-error.ts'
import type { AgentBase } from './agent-base.ts'
import { openAgent, sourceOf, type AgentJob } from './agent-setup.ts'

// One agent, from its first word to its report. Whatever happens, its transcript is whole and its processes are ended.

export interface AgentWatch {
  readonly see: (event: LoopEvent) => void
  /** What it cost, as it comes: the bill is the session's. */
  readonly spend: (spent: Spent) => void
}

export type Spent = Pick<SpentEntry, 'kind' | 'source' | 'model' | 'usage' | 'estimated'>

export type AgentEnd = Pick<AgentReport, 'state' | 'text' | 'why' | 'calls'>

export async function runAgent(
  base: AgentBase,
  job: AgentJob,
  { watch, joinConvoy }: { readonly watch: AgentWatch; readonly joinConvoy: JoinConvoy },
  signal: AbortSignal,
): Promise<AgentEnd> {
  const over = new AbortController()
  const stop = AbortSignal.any([signal, over.signal])
  const tally = createTally(job, watch, () => over.abort(), base.policy.maxTokens)
  try {
    const { setup, file, directive } = await openAgent(base, job, joinConvoy, stop)
    const conversation = openConversation(setup)
    try {
      const said = { content: directive, words: `${job.type?.name ?? 'fork'}: ${job.wish.description}` }
      await drive(conversation.send(said, stop), tally.take)
    } finally {
      conversation.stop()
      await job.made.shells.killAll()
      await file.close()
    }
  } catch (error) {
    if (!stop.aborted) return { ...tally.so(), state: 'failed', why: sentenceOf(error) }
  }
  if (over.signal.aborted) return { ...tally.so(), state: 'failed', why: tokensText(base) }
  const why = whyEnded(tally.end(), base, job)
  return {
    ...tally.so(),
    state: why === undefined ? 'completed' : signal.aborted ? 'stopped' : 'failed',
    why,
  }
}

function createTally(job: AgentJob, watch: AgentWatch, tooMuch: () => void, tokensMax: number) {
  const source = sourceOf(job.type)
  let [text, calls, tokens] = ['', 0, 0]
  let end: TurnEnd = { reason: 'aborted' }
  const spend = (model: string, usage: Usage, estimated?: true): void => {
    const { uncached, written, output } = servedTokens(usage)
    tokens += uncached + written + output
    watch.spend({ kind: 'spent', source, model, usage, ...(estimated && { estimated }) })
    if (tokens > tokensMax) tooMuch()
  }
  return {
    take: (event: LoopEvent): void => {
      watch.see(event)
      if (event.type === 'turn-end') ({ end } = event)
      if (event.type === 'tool-end') calls++
      for (const entry of event.type === 'engine' ? event.entries : [])
        if (entry.kind === 'spent') spend(entry.model, entry.usage, entry.estimated)
      if (event.type !== 'message' || event.entry.message.role !== 'assistant') return
      const { entry } = event
      const said = toBlocks(entry.message.content).flatMap((block) =>
        isBlock(block, 'text') ? [block.text] : [],
      )
      if (said.join('').trim() !== '') text = said.join('')
      if (entry.usage && entry.model !== undefined) spend(entry.model, entry.usage)
    },
    so: () => ({ text, calls }),
    end: () => end,
  }
}

function tokensText({ policy }: AgentBase): string {
  return `it used more than ${policy.maxTokens} tokens (setting agents.maxTokens)`
}

/** Undefined where it answered. */
function whyEnded(end: TurnEnd, { policy }: AgentBase, { type }: AgentJob): string | undefined {
  switch (end.reason) {
    case 'answered':
      return undefined
    case 'max-rounds': {
      const own = type?.maxTurns !== undefined && type.maxTurns <= policy.maxTurns
      const limit = own
        ? `${type.maxTurns} requests (maxTurns of its type)`
        : `${policy.maxTurns} requests (setting agents.maxTurns)`
      return `it made ${limit} and was not done`
    }
    case 'max-cost':
      return `it would cost over $${policy.maxCostUsd} (setting agents.maxCostUsd), or more than the session may`
    case 'window-full':
      return 'its window is full'
    case 'aborted':
      return 'it was ended'
    case 'refused':
      return `the model refused: ${end.explanation}`
    case 'failed':
      return end.message
    default:
      return end satisfies never
  }
}
