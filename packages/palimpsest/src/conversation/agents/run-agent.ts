import { stopWith } from '../../background/stop-with.ts'
import { drive } from '../../drive.ts'
import { agentSource } from '../../layers/7-agents/agent-source.ts'
import type { AgentPolicy } from '../../layers/7-agents/policy.ts'
import type { AgentReport } from '../../layers/7-agents/prompt.ts'
import type { LoopEvent, TurnEnd } from '../../loop/events.ts'
import { whyNotAnswered } from '../../loop/why-not-answered.ts'
import type { SpentEntry } from '../../transcript/entry.ts'
import { isBlock, toBlocks } from '../../wire/message.ts'
import { servedTokens } from '../../wire/usage.ts'
import type { ConversationSetup } from '../conversation-setup.ts'
import { openConversation } from '../open-conversation.ts'

// One agent, from its first message to its report. Whatever happens, its transcript is valid and everything that it started has ended.

/** An agent that is about to begin. */
export interface AgentRun {
  /** `fork`, or the name of its type. */
  readonly name: string
  /** A few words, for lists. */
  readonly description: string
  readonly policy: Pick<AgentPolicy, 'maxTurns' | 'maxTokens' | 'maxCostUsd'>
  /** The limit of its type. */
  readonly maxTurns: number | undefined
  readonly open: (signal: AbortSignal) => Promise<OpenedAgent>
  readonly watch: AgentWatch
  /** The text for an error. */
  readonly sentenceOf: (error: unknown) => string
}

export interface OpenedAgent {
  readonly setup: ConversationSetup
  /** The first message to it. */
  readonly directive: string
  /** True once it agreed to shut down: it no longer reads its mail. */
  readonly isLeaving?: (() => boolean) | undefined
  /** Ends what it started and closes its transcript. */
  readonly close: () => Promise<void>
}

export interface AgentWatch {
  readonly see: (event: LoopEvent) => void
  /** Receives each cost as it arises: the parent is billed. */
  readonly spend: (spent: Spent) => void
}

export type Spent = Pick<SpentEntry, 'kind' | 'source' | 'model' | 'usage' | 'estimated'>

export type AgentEnd = Pick<AgentReport, 'state' | 'text' | 'why' | 'calls'>

export async function runAgent(run: AgentRun, signal: AbortSignal): Promise<AgentEnd> {
  const { name, description, policy, open, watch, sentenceOf } = run
  const stop = stopWith(signal)
  let isOver = false
  const tooMuch = (): void => {
    isOver = true
    stop.stop()
  }
  const tally = createTally(name, watch, tooMuch, policy.maxTokens)
  try {
    const { setup, directive, isLeaving, close } = await open(stop.signal)
    const conversation = openConversation(setup)
    try {
      const said = { content: directive, words: `${name}: ${description}` }
      await drive(conversation.send(said, stop.signal), tally.take)
      for (let turns = 0; turns < MAIL_TURNS_MAX && tally.end().reason === 'answered'; turns++)
        if (isLeaving?.() || !(await drive(conversation.listen(stop.signal), tally.take))) break
    } finally {
      conversation.stop()
      await close()
    }
  } catch (error) {
    if (!stop.signal.aborted) return { ...tally.so(), state: 'failed', why: sentenceOf(error) }
  } finally {
    stop.stop()
  }
  if (isOver)
    return {
      ...tally.so(),
      state: 'failed',
      why: `it used more than ${policy.maxTokens} tokens (setting agents.maxTokens)`,
    }
  const why = whyEnded(tally.end(), run)
  return {
    ...tally.so(),
    state: why === undefined ? 'completed' : signal.aborted ? 'stopped' : 'failed',
    why,
  }
}

/** Most turns that mail can start after the agent has answered, so that two agents that thank each other come to an end. */
const MAIL_TURNS_MAX = 8

function createTally(name: string, watch: AgentWatch, tooMuch: () => void, tokensMax: number) {
  let [text, calls, tokens, goesOn] = ['', 0, 0, false]
  let end: TurnEnd = { reason: 'aborted' }
  const told: string[] = []
  return {
    take: (event: LoopEvent): void => {
      watch.see(event)
      if (event.type === 'turn-end') {
        ;({ end } = event)
        if (text.trim() !== '') told.push(text)
        text = ''
      }
      if (event.type === 'tool-end') calls++
      const said = textIn(event)
      if (said.trim() !== '') text = goesOn ? `${text}${said}` : said
      if (event.type === 'message' && event.entry.message.role === 'assistant')
        goesOn = isUnfinished(event.entry.message)
      for (const spent of spentIn(event, name)) {
        const { uncached, written, output } = servedTokens(spent.usage)
        tokens += uncached + written + output
        watch.spend(spent)
      }
      if (tokens > tokensMax) tooMuch()
    },
    // What it writes to others after its answer must not replace the answer.
    so: () => ({ text: [...told, text].filter((part) => part !== '').join('\n\n'), calls }),
    end: () => end,
  }
}

/** What an event of an agent reports as its cost, for its parent's bill. */
export function spentIn(event: LoopEvent, name: string): readonly Spent[] {
  const source = agentSource(name)
  if (event.type === 'engine')
    return event.entries.flatMap((entry) => {
      if (entry.kind !== 'spent') return []
      const { model, usage, estimated } = entry
      return [{ kind: 'spent' as const, source, model, usage, ...(estimated && { estimated }) }]
    })
  if (event.type !== 'message' || event.entry.message.role !== 'assistant') return []
  const { usage, model } = event.entry
  return usage && model !== undefined ? [{ kind: 'spent', source, model, usage }] : []
}

function textIn(event: LoopEvent): string {
  if (event.type !== 'message' || event.entry.message.role !== 'assistant') return ''
  const blocks = toBlocks(event.entry.message.content)
  return blocks.flatMap((block) => (isBlock(block, 'text') ? [block.text] : [])).join('')
}

const CUT: ReadonlySet<unknown> = new Set(['max_tokens', 'pause_turn', 'model_context_window_exceeded'])

/** The next answer continues where this one stopped: the report is both together. */
function isUnfinished(message: object): boolean {
  return 'stop_reason' in message && CUT.has(message.stop_reason)
}

/** Undefined if it answered. */
function whyEnded(end: TurnEnd, { policy, maxTurns }: AgentRun): string | undefined {
  const own = maxTurns !== undefined && maxTurns <= policy.maxTurns
  return whyNotAnswered(end, {
    rounds: own
      ? `${maxTurns} requests (maxTurns of its type)`
      : `${policy.maxTurns} requests (setting agents.maxTurns)`,
    cost: `$${policy.maxCostUsd} (setting agents.maxCostUsd), or more than the session may`,
  })
}
