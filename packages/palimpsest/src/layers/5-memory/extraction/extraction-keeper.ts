import {
  createKeeper,
  type BesideTask,
  type Brought,
  type Keeper,
  type KeeperSetup,
} from '../../../background/create-keeper.ts'
import {
  runToolFork,
  spentOnFork,
  type ToolForkOutcome,
  type ToolForkPorts,
} from '../../../background/run-tool-fork.ts'
import type { MemoryFolder, Ports, RunFork } from '../../../ports.ts'
import type { Sizing } from '../../../situation/size-of.ts'
import { factorOf } from '../../../tokens/calibrate.ts'
import type { Entry, EntryId } from '../../../transcript/entry.ts'
import { copyView, type View } from '../../../transcript/view.ts'
import { settle } from '../../../transcript/settle.ts'
import type { JsonText } from '../../../wire/json.ts'
import type { MessagesResponse } from '../../../wire/response.ts'
import { indexLine } from '../index-lines.ts'
import type { Proposal } from '../judge-proposal.ts'
import type { MemoryMode } from '../policy.ts'
import { storedMemories } from '../stored-memories.ts'
import { extractionPrompt } from './extraction-prompt.ts'
import { evidenceSince, listMessages } from './listed-messages.ts'
import { proposalsIn } from './parse-proposal.ts'

// Memories that a fork of the conversation saves in parallel to it, when a turn ended with an answer. It works from a mark: what was said
// since. Only an extraction that ran to its end moves the mark, and so does the skip after the main agent's own write: what a budget, a
// breaker or an abort left undone is part of the next one.

/** Two are requested: one to read everything, one to write everything. */
export const EXTRACTION_RESPONSES_MAX = 5

/** What only the host knows: where memories are, who judges them, which tools the fork has. */
export interface ExtractionHost {
  readonly mode: MemoryMode
  readonly folders: readonly {
    readonly title: string
    readonly folder: Pick<MemoryFolder, 'path' | 'read'>
  }[]
  /** The model has tools that write there. */
  readonly hasTools: boolean
  /** How often the main agent wrote memories itself. */
  readonly written: () => number
  /** Up to which time the conversation was covered before this run. */
  readonly mark: () => number
  readonly saveMark: (mark: number) => Promise<void>
  readonly open: (job: ExtractionJob) => OpenExtraction
}

/** The conversation as it was when the turn ended. */
export interface ExtractionJob {
  readonly view: View
  /** Ids of messages, by the short names that the model was given. */
  readonly ids: ReadonlyMap<string, EntryId>
  /** A time: what was said after it is new. */
  readonly mark: number
}

export interface OpenExtraction extends Pick<ToolForkPorts, 'runCalls' | 'isDone' | 'record'> {
  /** Judges what an answer proposes, and writes what is allowed. */
  readonly propose: (proposal: Proposal) => Promise<void>
}

export interface ExtractionMoment extends Sizing {
  readonly sizeTokens: number
  /** Most that a request may hold. */
  readonly blockingTokens: number
  /** Forks of the last answered request. */
  readonly hold: () => RunFork
}

export interface ExtractionSetup extends KeeperSetup {
  readonly ports: KeeperSetup['ports'] & Pick<Ports, 'flags'>
  readonly host: ExtractionHost
  /** Whether the bill allows one more response, with these included. */
  readonly mayGoOn: (view: View, responses: readonly MessagesResponse[], sizeTokens: number) => boolean
}

/** `consider`: a turn ended with an answer. */
export type ExtractionKeeper = Pick<
  Keeper<ExtractionMoment, 'extracted'>,
  'consider' | 'take' | 'isWorking' | 'settle' | 'stop'
>

interface Wish {
  readonly upTo: EntryId
  readonly view: View
  readonly runFork: RunFork
  /** The answer that ended the turn: the parent's request comes before it. */
  readonly answer: readonly JsonText[]
  /** When the newest message was said. */
  readonly until: number
  readonly sizeTokens: number
}

export function createExtractionKeeper(setup: ExtractionSetup): ExtractionKeeper {
  const { host, ports } = setup
  const state = { mark: host.mark(), written: host.written() }
  const task: BesideTask<ExtractionMoment, Wish, 'extracted'> = {
    name: 'extraction',
    waits: true,
    plan: (view, moment) => planExtraction(view, moment, state.mark, setup),
    run: async (wish, signal) => await extract(wish, state, setup, signal),
    toBodies: () => [],
  }
  const keeper = createKeeper(task, setup)
  return {
    ...keeper,
    consider: (view, moment) => {
      const written = host.written()
      const isDone = written > state.written
      state.written = written
      if (!isDone) return keeper.consider(view, moment)
      state.mark = newestAt(view.log)
      ports.trace({ name: 'extraction', reason: 'the main agent wrote memory' })
      void host.saveMark(state.mark)
    },
  }
}

function planExtraction(
  view: View,
  moment: ExtractionMoment,
  mark: number,
  { host, ports: { flags } }: ExtractionSetup,
): Wish | undefined {
  if (!flags.value('memory-extraction') || !flags.value('background-calls')) return undefined
  if (host.mode === 'off' || host.mode === 'read-only') return undefined
  const newest = view.nodes.length - 1
  const node = view.nodes[newest]
  if (node?.role !== 'assistant' || view.open.size > 0) return undefined
  if (!evidenceSince(view.log, mark).some(({ origin }) => origin === 'user')) return undefined
  const room = moment.blockingTokens - moment.sizeTokens
  if (factorOf(moment.calibration) * PROMPT_TOKENS > room) return undefined
  const text = settle(view, moment.thinking).texts[newest] ?? ''
  return {
    upTo: node.entries.at(-1) ?? node.source.id,
    view: copyView(view),
    runFork: moment.hold(),
    answer: text === '' ? [] : [text],
    until: newestAt(view.log),
    sizeTokens: moment.sizeTokens,
  }
}

/** Approximate tokens of the request and of what follows from it. */
const PROMPT_TOKENS = 6_000

async function extract(
  { view, runFork, answer, until, sizeTokens }: Wish,
  state: { mark: number },
  setup: ExtractionSetup,
  signal: AbortSignal,
): Promise<Brought<'extracted'>> {
  const { host, ports, mayGoOn } = setup
  const { mark } = state
  const evidence = evidenceSince(view.log, mark)
  // The previous extraction covered it.
  if (!evidence.some(({ origin }) => origin === 'user'))
    return { made: 'extracted', spent: [], reason: 'nothing new', hasFailed: false }
  const { lines, ids } = listMessages(evidence)
  const prompt = extractionPrompt({
    lines,
    folders: host.folders.map(({ title, folder }) => ({ title, path: folder.path })),
    fresh: await freshLines(view.log, host),
    today: new Date(ports.clock.now()).toISOString().slice(0, 'yyyy-mm-dd'.length),
    hasTools: host.hasTools,
  })
  const directive = JSON.stringify({ role: 'user', content: [{ type: 'text', text: prompt }] })
  const { propose, ...fork } = host.open({ view, ids, mark })
  const outcome = await runToolFork(
    {
      source: 'extract-memories',
      messages: [...answer, directive],
      responsesMax: EXTRACTION_RESPONSES_MAX,
      needsCache: true,
    },
    { ...fork, runFork, maySpend: (responses) => mayGoOn(view, responses, sizeTokens), trace: ports.trace },
    signal,
  )
  const isDone = outcome.end === 'answered' || outcome.end === 'out-of-responses'
  if (isDone) {
    for (const proposal of proposalsIn(outcome.text, ids)) await propose(proposal)
    state.mark = Math.max(state.mark, until)
    await host.saveMark(state.mark)
  }
  return {
    made: isDone ? 'extracted' : undefined,
    spent: spentOnFork(outcome, 'extract-memories'),
    reason: reasonOf(outcome),
    hasFailed: outcome.end === 'failed' || outcome.end === 'cut',
  }
}

function reasonOf({ end, reason }: ToolForkOutcome): string {
  return reason === undefined ? end : `${end}: ${reason}`
}

/** Most memories listed: the newest. */
const FRESH_MAX = 30

/** Memories that did not exist when the conversation began. */
async function freshLines(log: readonly Entry[], { folders }: ExtractionHost): Promise<readonly string[]> {
  const began = log.find(({ at }) => !Number.isNaN(at))?.at ?? 0
  const memories = await Promise.all(folders.map(async ({ folder }) => storedMemories(await folder.read())))
  return memories
    .flat()
    .filter(({ created, ended }) => ended === undefined && Date.parse(created) >= began)
    .toSorted((a, b) => b.created.localeCompare(a.created))
    .slice(0, FRESH_MAX)
    .map(indexLine)
}

/** Entries of other agents may have no time. */
function newestAt(log: readonly Entry[]): number {
  return log.reduce((newest, { at }) => (at > newest ? at : newest), -Infinity)
}
