import type { CacheBreak } from 'palimpsest/engine'
import type { LoopEvent, TurnEnd } from 'palimpsest/loop'
import type { BoundaryEntry, Entry, MessageEntry, SpentEntry } from 'palimpsest/transcript'
import { isBlock, servedTokens, toBlocks } from 'palimpsest/wire'

import type { AgentEvent } from '../agents/agent-host.ts'
import { agentLine } from './agent-line.ts'
import { toPrintable, toPrintableLine } from '../agent/printable.ts'
import { problemOf } from '../run/turn-problem.ts'
import { checkedText } from '../run/compaction/checked-text.ts'
import { pathName } from '../stored/path-name.ts'
import { letterLine } from '../team/letter-line.ts'
import type { World } from '../world.ts'

// What a headless run prints. `stream-json` has the shape that scripts around existing coding agents read: one object per line, `init`
// first, `result` last. Only prints what is on disk.

export const FORMATS = ['text', 'json', 'stream-json'] as const
export type Format = (typeof FORMATS)[number]

export interface RunFacts {
  readonly sessionId: string
  readonly model: string
  readonly tools: readonly string[]
  readonly cwd: string
  readonly permissionMode: string
}

export interface RunResult {
  readonly end: TurnEnd
  readonly turns: number
  readonly durationMs: number
  readonly usage: RunUsage
  readonly costUsd: number
  /** The same by source: the conversation, and each kind of call beside it. */
  readonly costs: { readonly [source: string]: number }
  /** The part that was never billed to us: answers that were broken off. */
  readonly estimatedUsd: number
  /** Count by the writer of the summary. */
  readonly compactions: { readonly [path: string]: number }
  /** Text of the last answer. */
  readonly text: string
  /** For a team's leader: what the team did. */
  readonly team?: object | undefined
}

/** What one run used: sums over its answers. */
export interface RunUsage {
  readonly input_tokens: number
  readonly output_tokens: number
  readonly cache_creation_input_tokens: number
  readonly cache_read_input_tokens: number
}

export const NO_USAGE: RunUsage = {
  input_tokens: 0,
  output_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
}

export function addUsage(sum: RunUsage, { usage }: Pick<MessageEntry, 'usage'> | SpentEntry): RunUsage {
  if (!usage) return sum
  const { uncached, written, read, output } = servedTokens(usage)
  return {
    input_tokens: sum.input_tokens + uncached,
    output_tokens: sum.output_tokens + output,
    cache_creation_input_tokens: sum.cache_creation_input_tokens + written,
    cache_read_input_tokens: sum.cache_read_input_tokens + read,
  }
}

export interface Output {
  /** Whether the result says what the run cost. */
  readonly tellsCost: boolean
  readonly begin: () => void
  readonly event: (event: LoopEvent) => void
  /** What an agent does. */
  readonly agent: (event: AgentEvent) => void
  readonly end: (result: RunResult) => void
  /** The run failed through the disk or a bug. The caller tells the user; a stream still gets its last line. */
  readonly breakOff: (result: RunResult, problem: string) => void
}

export function createOutput(
  format: Format,
  facts: RunFacts,
  world: Pick<World, 'print' | 'printError'>,
): Output {
  switch (format) {
    case 'text':
      return textOutput(world)
    case 'json':
      return {
        tellsCost: true,
        begin: () => undefined,
        event: (event) => noteAll(event, world),
        agent: () => undefined,
        end: (result) => printLine(resultLine(result, facts), world),
        breakOff: (result, problem) => printLine(brokenLine(result, facts, problem), world),
      }
    case 'stream-json':
      return streamOutput(facts, world)
    default:
      return format satisfies never
  }
}

/** Only the answer goes to stdout; everything else the user should know goes to stderr. */
function textOutput(world: Pick<World, 'print' | 'printError'>): Output {
  const { print, printError } = world
  return {
    tellsCost: false,
    begin: () => undefined,
    event: (event) => noteAll(event, world),
    agent: () => undefined,
    end: ({ end, text }) => {
      if (text !== '') print(`${toPrintable(text)}\n`)
      const problem = problemOf(end)
      if (problem !== undefined) printError(`palimpsest: ${toPrintable(problem)}\n`)
    },
    breakOff: () => undefined,
  }
}

/** Longest silence of a stream, so that its reader knows that the run is alive, whatever it waits for. */
const SILENCE_MS_MAX = 20_000

function streamOutput(facts: RunFacts, world: Pick<World, 'print' | 'printError'>): Output {
  const session = { session_id: facts.sessionId }
  let isCompacting = false
  const pulse = createPulse(() => tell(statusLine()))
  const tell = (line: object): void => {
    printLine(line, world)
    pulse.restart()
  }
  const statusLine = (): object => {
    return { type: 'system', subtype: 'status', status: isCompacting ? 'compacting' : null, ...session }
  }
  const tellStatus = (compacting: boolean): void => {
    if (compacting === isCompacting) return
    isCompacting = compacting
    tell(statusLine())
  }
  return {
    tellsCost: true,
    begin: () => {
      const { model, tools, cwd, permissionMode } = facts
      tell({ type: 'system', subtype: 'init', ...session, model, tools, cwd, permissionMode })
    },
    event: (event) => {
      noteEvent(event, world)
      if (event.type === 'message' || event.type === 'tool-end') tell(messageLine(event.entry, facts))
      if (event.type === 'cache-break') tell(breakLine(event.break, facts))
      if (event.type === 'letter') {
        const { from, summary } = event
        tell({ type: 'system', subtype: 'agent_message', ...session, from, summary })
      }
      if (event.type === 'compaction-start') tellStatus(true)
      if (event.type === 'compaction-end') tellStatus(false)
      if (event.type === 'engine')
        for (const entry of event.entries) for (const line of engineLines(entry, facts)) tell(line)
    },
    agent: (event) => {
      const line = agentLine(event, facts.sessionId)
      if (line) tell(line)
    },
    end: (result) => {
      tellStatus(false)
      tell(resultLine(result, facts))
      pulse.stop()
    },
    breakOff: (result, problem) => {
      tellStatus(false)
      tell(brokenLine(result, facts, problem))
      pulse.stop()
    },
  }
}

/** Beats when nothing was printed for that long. */
function createPulse(beat: () => void): { readonly restart: () => void; readonly stop: () => void } {
  let timer: NodeJS.Timeout | undefined
  return {
    restart: () => {
      clearTimeout(timer)
      timer = setTimeout(beat, SILENCE_MS_MAX)
      // The pulse must not keep the process alive.
      timer.unref()
    },
    stop: () => clearTimeout(timer),
  }
}

function engineLines(entry: Entry, facts: RunFacts): readonly object[] {
  // A boundary's copy of a kept message was already printed as the original.
  if (entry.kind === 'message') return entry.part === 'kept' ? [] : [messageLine(entry, facts)]
  if (entry.kind !== 'boundary') return []
  const { trigger, preTokens, postTokens, messagesSummarized } = entry.meta
  const compact_metadata = {
    trigger,
    pre_tokens: preTokens,
    post_tokens: postTokens,
    messages_summarized: messagesSummarized,
  }
  const subtype = 'compact_boundary'
  return [{ type: 'system', subtype, session_id: facts.sessionId, uuid: entry.id, compact_metadata }]
}

function breakLine(broken: CacheBreak, facts: RunFacts): object {
  const { cause, path, expectedTokens, readTokens, diagnosis } = broken
  return {
    type: 'system',
    subtype: 'cache_break',
    session_id: facts.sessionId,
    cause,
    path,
    expected_tokens: expectedTokens,
    read_tokens: readTokens,
    diagnosis,
  }
}

function messageLine(entry: MessageEntry, facts: RunFacts): object {
  const type = entry.message.role === 'assistant' ? 'assistant' : 'user'
  return {
    type,
    message: entry.message,
    session_id: facts.sessionId,
    parent_tool_use_id: null,
    uuid: entry.id,
    // No one said it: it stands for what was said.
    isSynthetic: entry.part === 'summary' || entry.part === 'attachment' ? true : undefined,
  }
}

function resultLine(result: RunResult, facts: RunFacts): object {
  const { end, turns, durationMs, usage, costUsd, costs, estimatedUsd, compactions, text } = result
  const problem = problemOf(end)
  return {
    type: 'result',
    subtype: subtypeOf(end),
    is_error: problem !== undefined,
    duration_ms: durationMs,
    num_turns: turns,
    result: problem === undefined ? text : problem,
    session_id: facts.sessionId,
    total_cost_usd: costUsd,
    cost_by_layer: costs,
    ...(estimatedUsd > 0 && { estimated_cost_usd: estimatedUsd }),
    ...(Object.keys(compactions).length > 0 && { compactions }),
    usage,
    ...(result.team && { team: result.team }),
  }
}

function brokenLine(result: RunResult, facts: RunFacts, problem: string): object {
  return {
    ...resultLine(result, facts),
    subtype: 'error_during_execution',
    is_error: true,
    result: problem,
  }
}

type Subtype = 'success' | 'error_max_turns' | 'error_max_budget_usd' | 'error_during_execution'

function subtypeOf({ reason }: TurnEnd): Subtype {
  if (reason === 'answered') return 'success'
  if (reason === 'max-cost') return 'error_max_budget_usd'
  return reason === 'max-rounds' ? 'error_max_turns' : 'error_during_execution'
}

/** What the user should know during the run: waits, calls that were not permitted. On stderr, in every format. */
export function noteEvent(event: LoopEvent, { printError }: Pick<World, 'printError'>): void {
  const text = noteOf(event)
  if (text !== undefined) printError(`${toPrintable(text)}\n`)
}

/** Also reports compactions, if no line on stdout does. */
function noteAll(event: LoopEvent, world: Pick<World, 'printError'>): void {
  noteEvent(event, world)
  for (const entry of event.type === 'engine' ? event.entries : [])
    if (entry.kind === 'boundary') world.printError(`${toPrintable(compactedText(entry.meta))}\n`)
}

/** What a compaction did, in one line. */
export function compactedText({ preTokens, postTokens, path, proof }: BoundaryEntry['meta']): string {
  const checked = proof ? `; ${checkedText(proof)}` : ''
  return `compacted: ${preTokens} to ~${postTokens ?? '?'} tokens (by ${pathName(path)}${checked})`
}

function noteOf(event: LoopEvent): string | undefined {
  if (event.type === 'retry-wait')
    return `asking again in ${(event.waitMs / 1000).toFixed(1)} s: ${event.reason}`
  if (event.type === 'notice') return event.text
  if (event.type === 'letter') return letterLine(event)
  if (event.type === 'cache-break') return breakNote(event.break)
  return event.type === 'tool-end' ? event.denied : undefined
}

/** If nothing that was sent had changed, there is nothing for the user to fix. */
function breakNote({ cause, path, expectedTokens, readTokens }: CacheBreak): string | undefined {
  if (cause === 'unknown') return undefined
  return `the prompt cache broke at ${path}: ${expectedTokens} tokens were expected from it, ${readTokens} were read`
}

function printLine(value: object, { print }: Pick<World, 'print'>): void {
  print(`${toPrintableLine(value)}\n`)
}

/** Text blocks of an answer, joined. */
export function answerText({ message }: MessageEntry): string {
  return toBlocks(message.content)
    .flatMap((block) => (isBlock(block, 'text') ? [block.text] : []))
    .join('')
}
