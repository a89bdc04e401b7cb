import { drive, type Conversation } from 'palimpsest/conversation'
import type { LoopEvent, TurnEnd } from 'palimpsest/loop'
import type { MessageEntry } from 'palimpsest/transcript'

import { createCostOf } from 'palimpsest/ledger'
import type { HandedPlan, Planning } from '../agent/plan/create-planning.ts'
import type { Agents } from '../agents/agent-host.ts'
import { sentenceOf } from '../report-error.ts'
import { addUsage, answerText, NO_USAGE, type Output, type RunResult } from './output.ts'

// One prompt, one turn, to its end.

export interface HeadlessRun {
  readonly conversation: Conversation
  readonly prompt: string
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Agents in the background: the run waits for their results. */
  readonly agents?: Pick<Agents, 'settled' | 'takeMail' | 'end' | 'post'> | undefined
  /** After its answer the run waits for messages. */
  readonly stays?: boolean | undefined
  /** A plan that was handed in with no one there to approve it becomes the result. */
  readonly planning?: Pick<Planning, 'waiting'> | undefined
  /** Called once the turn has ended, with the whole conversation and how the turn ended. */
  readonly afterTurn?: ((log: ReturnType<Conversation['log']>, outcome: string) => Promise<void>) | undefined
}

export async function runHeadless(run: HeadlessRun, output: Output, signal: AbortSignal): Promise<RunResult> {
  const { conversation, prompt, now, afterTurn, agents, planning } = run
  const tally = createTally(now)
  const told = (event: LoopEvent): void => {
    tally.take(event)
    output.event(event)
  }
  output.begin()
  try {
    await drive(conversation.send({ content: prompt }, signal), told)
    while (tally.result().end.reason === 'answered' && (await answerMail(run, told, signal))) {}
    await agents?.end()
    if (output.tellsCost) await drive(conversation.settle(COST_WAIT_MS), told)
  } catch (error) {
    conversation.stop()
    output.breakOff(tally.result(), sentenceOf(error))
    throw error
  }
  const result = withPlan(tally.result(), planning?.waiting(), conversation.id)
  output.end(result)
  await afterTurn?.(conversation.log(), result.end.reason)
  // The answer is printed: only the end of the process is still awaited.
  await conversation.close(ENDING_WAIT_MS - (output.tellsCost ? COST_WAIT_MS : 0))
  return result
}

/** One turn on news from agents and teammates. False if there is none, and none is expected. */
async function answerMail(
  { conversation, agents, stays }: HeadlessRun,
  told: (event: LoopEvent) => void,
  signal: AbortSignal,
): Promise<boolean> {
  const main = agents?.post.main
  if (main?.isLeaving()) return false
  await agents?.settled()
  const content = agents?.takeMail()
  if (content !== undefined) {
    await drive(conversation.send({ content, origin: 'peer' }, signal), told)
    return true
  }
  if (!main || signal.aborted) return false
  if (!(await main.hasMail())) {
    if (!stays) return false
    await main.arrived(signal)
  }
  if (signal.aborted) return false
  const isAnswered = await drive(conversation.listen(signal), told)
  // All waiting mail was refused, or was read before and cannot be removed.
  if (!isAnswered && stays) await main.arrived(signal)
  return isAnswered || stays === true
}

/** The plan, what the model says beside it, and why it was not carried out. */
function withPlan(result: RunResult, plan: HandedPlan | undefined, session: string): RunResult {
  if (!plan || result.end.reason !== 'answered') return result
  const said = result.text.trim()
  const why = `Nothing was changed: this is plan mode, and nobody was there to approve the plan, which is kept in ${plan.path}. To carry it out: palimpsest -p --resume ${session} --permission-mode accept-edits "Carry out the plan"`
  const parts = [plan.text.trim(), said.includes(plan.text.trim()) ? '' : said, why]
  return { ...result, text: parts.filter(Boolean).join('\n\n') }
}

/** Longest wait for memories that are being saved, in total. */
const ENDING_WAIT_MS = 30_000

/** How long to wait for the last costs, if the result shows them. */
const COST_WAIT_MS = 2_000

/** Source name for the conversation's own answers. */
const CONVERSATION = 'main'

/** Sums up a turn as it proceeds. */
export function createTally(now: () => number): {
  readonly take: (event: LoopEvent) => void
  readonly result: () => RunResult
} {
  const startedAt = now()
  const costOf = createCostOf()
  let [usage, costUsd, estimatedUsd, turns, text, goesOn] = [NO_USAGE, 0, 0, 0, '', false]
  const compactions = new Map<string, number>()
  const costs = new Map<string, number>()
  const add = (source: string, usd: number): void => {
    costUsd += usd
    costs.set(source, (costs.get(source) ?? 0) + usd)
  }
  let end: TurnEnd = { reason: 'aborted' }
  return {
    take: (event) => {
      if (event.type === 'turn-end') end = event.end
      // Summaries are on the bill too, and so are answers that were broken off.
      for (const entry of event.type === 'engine' ? event.entries : []) {
        const path = entry.kind === 'boundary' ? entry.meta.path : undefined
        if (path !== undefined) compactions.set(path, (compactions.get(path) ?? 0) + 1)
        if (entry.kind !== 'spent') continue
        const usd = costOf(entry)
        usage = addUsage(usage, entry)
        add(entry.source, usd)
        if (entry.estimated) estimatedUsd += usd
      }
      if (event.type !== 'message' || event.entry.message.role !== 'assistant') return
      usage = addUsage(usage, event.entry)
      add(CONVERSATION, costOf(event.entry))
      turns++
      text = goesOn ? text + answerText(event.entry) : answerText(event.entry)
      goesOn = isUnfinished(event.entry)
    },
    result: () => {
      const byName = { costs: Object.fromEntries(costs), compactions: Object.fromEntries(compactions) }
      const sums = { usage, costUsd, estimatedUsd, ...byName }
      return { end, turns, durationMs: now() - startedAt, ...sums, text }
    },
  }
}

/** The next answer continues where this one stopped. */
function isUnfinished({ message }: MessageEntry): boolean {
  const reason = 'stop_reason' in message ? message.stop_reason : undefined
  return reason === 'max_tokens' || reason === 'pause_turn'
}
