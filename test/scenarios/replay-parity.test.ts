import { expect, test } from 'vitest'

import { NO_HOST } from '../../packages/palimpsest/src/layers/4-compaction/compaction-host.ts'
import { createFlags } from '../../packages/palimpsest/src/flags/create-flags.ts'
import { createRandom } from '../../packages/palimpsest/src/lab/replay/measure/random.ts'
import { NO_MODELS, resolveModel } from '../../packages/palimpsest/src/tokens/models.ts'
import { computeWindow } from '../../packages/palimpsest/src/situation/window.ts'
import { encodeEntry } from '../../packages/palimpsest/src/transcript/lines/codec.ts'
import { createTestAgent, type TestAgent } from '../kit/agent.ts'
import { decisionsIn, replayDecisions } from '../kit/decisions.ts'
import { scriptedTools, stepsOf, type ScriptedRound, type ScriptedSession } from '../kit/scripted-session.ts'
import { windowSetup } from '../kit/window-setup.ts'

// The replay decides as the live engine does: what an agent recorded on the simulator, replayed in the same window, is stored, cleared and
// compacted before the same requests, and the same messages stay. Texts are of one kind, so that the replay's sizes are those that
// the provider reported.

const MODEL = 'claude-opus-4-6'
const TRANSCRIPT_PATH = '/home/me/.palimpsest/projects/work/s.jsonl'
/** What has no part in a replay: whatever asks a model, or is made beside the turn. */
const OFF = ['server-compaction', 'background-calls', 'compaction-fork', 'session-memory']
const MINUTES = 60_000
const COLD_MS = 70 * MINUTES

/** As long in a soak; in CI fewer rounds, and longer ones. */
function size({ rounds, linesMax }: Pick<ScriptPlan, 'rounds' | 'linesMax'>) {
  return process.env['SOAK'] ? { rounds, linesMax } : { rounds: rounds / 2, linesMax: linesMax * 2 }
}

test.each([
  {
    name: 'reads and commands',
    seed: 1,
    window: 60_000,
    ...size({ rounds: 60, linesMax: 200 }),
    shows: 'compaction',
  },
  {
    name: 'with long pauses',
    seed: 2,
    window: 100_000,
    ...size({ rounds: 70, linesMax: 240 }),
    pauseMs: COLD_MS,
    shows: 'cold',
  },
  {
    name: 'many results at once',
    seed: 3,
    window: 60_000,
    ...size({ rounds: 30, linesMax: 150 }),
    calls: 6,
    shows: 'stored',
  },
  {
    name: 'a window that fills again and again',
    seed: 4,
    window: 40_000,
    rounds: process.env['SOAK'] ? 40 : 24,
    linesMax: 700,
    shows: 'compaction',
  },
])('$name: the same decisions before the same requests', async (plan) => {
  const agent = await play(scriptOf(plan), plan.window)
  const lines = agent.entries.map((entry) =>
    encodeEntry(entry, { sessionId: 's', cwd: '/work', version: '0' }),
  )
  const live = decisionsIn(agent.entries)
  const kinds = live.map((decision) => (decision.what === 'edit' ? decision.cause : decision.what))
  expect(kinds).toContain(plan.shows)
  expect(await replayDecisions(`${lines.join('\n')}\n`, TRANSCRIPT_PATH, plan.window)).toEqual(live)
})

interface ScriptPlan {
  readonly seed: number
  readonly rounds: number
  readonly linesMax: number
  /** In a round. */
  readonly calls?: number
  /** After every thirtieth round. */
  readonly pauseMs?: number
}

const COMMAND_LINES_MAX = 180

function scriptOf({ seed, rounds, linesMax, calls = 1, pauseMs = 20_000 }: ScriptPlan): ScriptedSession {
  const random = createRandom(seed)
  const below = (limit: number): number => Math.floor(random() * limit)
  const round = (index: number): ScriptedRound => ({
    text: `Step ${index}: the next file is looked at.`,
    calls: Array.from({ length: calls }, (_, call) => {
      const lines = 10 + below(linesMax)
      const result = table(`${index}-${call}`, lines)
      // A command's result that is stored as it arrives is recorded as what stands for it: the replay would not see it as it came.
      return lines > COMMAND_LINES_MAX || below(2) === 0
        ? {
            tool: 'Read',
            input: { file_path: `/work/src/file-${below(12)}-${index}-${call}.ts` },
            result,
            isError: false,
          }
        : { tool: 'Bash', input: { command: `show ${index} ${call}` }, result, isError: below(6) === 0 }
    }),
    tookMs: index % 30 === 29 ? pauseMs : 20_000,
  })
  const last = { text: 'All parts are done.', calls: [], tookMs: 0 }
  const steps = [...Array.from({ length: rounds }, (_, index) => round(index)), last]
  // One turn: the kit begins each with what is known of any conversation, the command with what is known of this one.
  const turns = [{ pauseMs: 0, prompt: 'See to all parts. Never touch part 50.', rounds: steps }]
  return { turns }
}

function table(name: string, lines: number): string {
  return Array.from(
    { length: lines },
    (_, i) => `Row ${i} of table ${name} holds the value ${1000 + i}.`,
  ).join('\n')
}

async function play(session: ScriptedSession, window: number): Promise<TestAgent> {
  const { scale } = computeWindow(resolveModel(NO_MODELS, MODEL, ''), { windowMax: window })
  const none = { type: 'text', text: '<summary></summary>' }
  const agent: TestAgent = createTestAgent({
    model: MODEL,
    // A file reader bounds itself.
    tools: scriptedTools(session, (ms) => agent.wait(ms)).map((tool) =>
      tool.name === 'Read' ? { ...tool, resultCharsMax: 'unlimited' } : tool,
    ),
    simulator: {
      script: [
        { when: { source: 'compact' }, times: 1_000, content: [none] },
        ...stepsOf(session).map((step) => ({ ...step, when: { source: 'main' } })),
      ],
    },
    setup: {
      ...windowSetup(MODEL, window),
      roundsMax: 1_000,
      compaction: { host: NO_HOST, isOn: true, scale, transcriptPath: TRANSCRIPT_PATH },
    },
    // Named as the replay names them: it stands in what is sent.
    blobs: {
      save: async (id, text) => ({ path: `tool-results/${id}.txt`, bytes: text.length }),
      locate: ({ path }) => path,
    },
    flags: createFlags([{ name: 'test', find: (key) => (OFF.includes(key) ? false : undefined) }]),
  })
  for (const { pauseMs, prompt } of session.turns) {
    agent.wait(pauseMs)
    const { end } = await agent.say(prompt)
    if (end.reason !== 'answered') throw new Error(`the turn ended otherwise: ${JSON.stringify(end)}`)
  }
  return agent
}
