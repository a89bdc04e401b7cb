import { randomUUID } from 'node:crypto'

import { createForkCalls, type CallSetup } from 'palimpsest/loop'
import {
  evidenceOf,
  proposeMemory,
  type ExtractionHost,
  type ExtractionJob,
  type MemoryOutcome,
  type OpenExtraction,
  type Proposal,
} from 'palimpsest/memory'
import { createForkRecord, createMarkFile } from 'palimpsest/node'
import type { Entry } from 'palimpsest/transcript'

import type { MemoryGate } from '../agent/files/memory-gate.ts'
import { ownNatureOf } from '../agent/tools/tool-natures.ts'
import { sentenceOf } from '../report-error.ts'
import type { OpenedSession } from '../run/open-session.ts'
import type { World } from '../world.ts'
import { outcomeText } from './outcome-text.ts'
import type { SessionMemory } from './session-memory.ts'

// What the command provides for extracting memories: the folders, tools that write nowhere else, the mark, a record.

export interface ExtractionSetup {
  readonly memory: SessionMemory
  readonly opened: OpenedSession
  /** Tools and permit of a fork whose writes all go through this gate. */
  readonly forkTools: (gate: MemoryGate) => Omit<CallSetup, 'ports'>
  readonly trace: CallSetup['ports']['trace']
  readonly report: (text: string) => void
}

const REASON = 'saved after a turn'

export async function createExtractionHost(
  setup: ExtractionSetup,
  world: Pick<World, 'now' | 'newId'>,
): Promise<ExtractionHost> {
  const { memory, opened, trace } = setup
  const { session, project, isFork } = opened
  const file = createMarkFile(project, session.id)
  // In a fork only new entries count: the rest belongs to another session or another agent.
  let mark = isFork ? newestAt(session.view.log) : ((await file.read()) ?? -Infinity)
  return {
    mode: memory.mode,
    folders: memory.scoped.map(({ scope, folder }) => ({ title: TITLES[scope], folder })),
    hasTools: true,
    written: memory.written,
    mark: () => mark,
    saveMark: async (at) => {
      mark = at
      try {
        await file.save(at)
      } catch (error) {
        trace({ name: 'extraction', reason: `the mark was not saved: ${sentenceOf(error)}` })
      }
    },
    open: (job) => openExtraction(job, setup, world),
  }
}

const TITLES = { project: 'for this project', user: 'for the user, in all projects' } as const

function openExtraction(
  job: ExtractionJob,
  { memory, opened, forkTools, trace, report }: ExtractionSetup,
  { now, newId = randomUUID }: Pick<World, 'now' | 'newId'>,
): OpenExtraction {
  const { project, session } = opened
  let judged = 0
  const onJudged = (outcome: MemoryOutcome): void => {
    judged++
    if (outcome.kind === 'written' && outcome.what !== 'verified') report(`memory: ${outcomeText(outcome)}`)
  }
  const { ids, mark, view } = job
  const gate = memory.gateFor({ by: 'extract', reason: REASON, ids, mark, isConfined: true, onJudged })
  let before = 0
  return {
    runCalls: createForkCalls({ ...forkTools(gate), ports: { trace }, view }),
    // What was judged is not tried again in other words.
    isDone: (calls) => {
      const isAll =
        calls.every(({ use }) => ownNatureOf(use.name) === 'write') && judged - before === calls.length
      before = judged
      return isAll
    },
    record: createForkRecord(project, session.id, { source: 'extract-memories', newId, now }),
    propose: async (proposal) => {
      const outcome = await propose(proposal, job, memory, session.id)
      if (outcome.kind === 'written') onJudged(outcome)
      else report(`memory "${proposal.description}" is ${outcomeText(outcome)}`)
    },
  }
}

/** Handles a memory that the answer gives as text; under an existing name it may replace that memory's text. */
async function propose(
  proposal: Proposal,
  { view, mark }: ExtractionJob,
  { project, mode }: SessionMemory,
  session: string,
): Promise<MemoryOutcome> {
  const since = evidenceOf(view.log.filter(({ at }) => at <= mark)).length
  const situation = { session, evidence: evidenceOf(view.log), since, mode }
  return await proposeMemory(proposal, situation, { by: 'extract', reason: REASON }, project)
}

function newestAt(log: readonly Entry[]): number {
  return log.reduce((newest, { at }) => (at > newest ? at : newest), -Infinity)
}
