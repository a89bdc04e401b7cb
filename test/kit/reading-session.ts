import { TEMPLATE as NOTES_TEMPLATE } from '../../packages/palimpsest/src/layers/3-session-memory/template.ts'
import { NO_HOST } from '../../packages/palimpsest/src/layers/4-compaction/compaction-host.ts'
import { createFlags } from '../../packages/palimpsest/src/flags/create-flags.ts'
import type { FlagName } from '../../packages/palimpsest/src/flags/flags.ts'
import type { ScriptStep } from '../../packages/palimpsest/src/lab/simulator/index.ts'
import { createTestAgent, echoTool, type TestAgent } from './agent.ts'
import { windowSetup } from './window-setup.ts'

// A session that reads file after file and then works on with few words: what clearing is for. Summaries and notes are as long as
// models write them, so that what they cost is in the bill.

export interface ReadingSession {
  readonly reads: number
  /** Of each result; `uneven` ones are between a fifth and nearly twice of it. */
  readonly readTokens: number
  readonly isUneven?: boolean
  /** Rounds of a line each, after the reads. */
  readonly steps?: number
}

export interface ReadingRun {
  readonly agent: TestAgent
  readonly costUsd: number
  readonly compactions: number
  /** Why each edit was made. */
  readonly edits: readonly string[]
}

const MODEL = 'claude-opus-5'
const READS_A_TURN = 10
/** Two thousand tokens of thoughts and summary, about. */
const SUMMARY = `<analysis>${'What matters here is the plan. '.repeat(150)}</analysis><summary>${'The work goes on as planned. '.repeat(300)}</summary>`
const NOTES = `<notes># Current state\n${'The work goes on as planned.\n'.repeat(200)}</notes>`
/** Of a line of the results. */
const LINE_TOKENS = 15

export async function playReading(
  session: ReadingSession,
  window: number,
  off: readonly FlagName[] = [],
): Promise<ReadingRun> {
  const scale = Math.min(1, window / 200_000)
  const switchedOff = new Set<string>(off)
  const agent = createTestAgent({
    model: MODEL,
    tools: [
      { ...echoTool, name: 'Read', run: async (input) => ({ content: fileText(input, session) }) },
      { ...echoTool, name: 'Edit', run: async () => ({ content: 'done' }) },
    ],
    simulator: { script: scriptOf(session) },
    notes: { scale },
    flags: createFlags([{ name: 'test', find: (name) => (switchedOff.has(name) ? false : undefined) }]),
    setup: {
      ...windowSetup(MODEL, window),
      roundsMax: 1_000,
      maxTokens: 32_000,
      compaction: { host: NO_HOST, isOn: true, scale, windowTokens: window, notesTemplate: NOTES_TEMPLATE },
    },
  })
  const turns = Math.ceil(session.reads / READS_A_TURN) + (session.steps === undefined ? 0 : 1)
  for (let turn = 0; turn < turns; turn++) {
    const { end } = await agent.say(`Part ${turn}.`)
    if (end.reason !== 'answered') throw new Error(`turn ${turn} ended otherwise: ${JSON.stringify(end)}`)
  }
  return {
    agent,
    costUsd: agent.simulator.stats().cost_usd,
    compactions: agent.entries.filter(({ kind }) => kind === 'boundary').length,
    edits: agent.traces.flatMap(({ name, reason }) =>
      name === 'edit-planned' && reason !== undefined ? [reason] : [],
    ),
  }
}

function scriptOf({ reads, steps = 0 }: ReadingSession): readonly ScriptStep[] {
  const main = (...content: ScriptStep['content']): ScriptStep => ({ when: { source: 'main' }, content })
  const read = (i: number): ScriptStep =>
    main(
      { type: 'text', text: `Now part ${i}: I look at the file and think about it.` },
      { type: 'tool_use', name: 'Read', input: { file_path: `/src/file-${i}.ts` } },
    )
  const reading = Array.from({ length: reads }, (_, i) =>
    (i + 1) % READS_A_TURN === 0 || i + 1 === reads
      ? [read(i), main({ type: 'text', text: 'Done so far.' })]
      : [read(i)],
  ).flat()
  const stepping = Array.from({ length: steps }, (_, i) =>
    main(
      { type: 'text', text: `Step ${i} of the work, one more line of it.` },
      {
        type: 'tool_use',
        name: 'Edit',
        input: { file_path: `/src/file-${i}.ts`, old_string: 'a', new_string: 'b' },
      },
    ),
  )
  return [
    { when: { source: 'session-memory' }, content: [{ type: 'text', text: NOTES }], times: 999 },
    { when: { source: 'compact' }, content: [{ type: 'text', text: SUMMARY }], times: 999 },
    ...reading,
    ...stepping,
    main({ type: 'text', text: 'End.' }),
  ]
}

function fileText(
  input: { readonly [name: string]: unknown },
  { readTokens, isUneven }: ReadingSession,
): string {
  const file = Number(/\d+/.exec(String(input['file_path']))?.[0])
  const share = isUneven ? 0.2 + ((file * 7_919) % 97) / 60 : 1
  const lines = Math.ceil((readTokens * share) / LINE_TOKENS)
  return Array.from({ length: lines }, (_, i) => `const value_${file}_${i} = compute(${i * 7})`).join('\n')
}
