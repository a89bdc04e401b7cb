import { describe, expect, test } from 'vitest'

import { factsOf } from '../../packages/palimpsest/src/lab/replay/replay-one.ts'
import type { RecordedSession } from '../../packages/palimpsest/src/lab/replay/read/recorded-session.ts'
import { classic } from '../../packages/palimpsest/src/lab/replay/strategies/peers/classic.ts'
import { pi } from '../../packages/palimpsest/src/lab/replay/strategies/peers/pi.ts'
import type {
  Moment,
  Strategy,
  StrategySettings,
} from '../../packages/palimpsest/src/lab/replay/strategies/strategy.ts'
import { viewOf } from '../../packages/palimpsest/src/transcript/view.ts'
import { promptTokens } from '../../packages/palimpsest/src/wire/usage.ts'
import { hasRecorded, readRecorded, recordedNote, recordedRows } from '../kit/recorded.ts'

// Real decisions of real tools: where they compacted, the policy that stands for them does so at the size they recorded, and it does
// nothing at the request before.

const WINDOW = 200_000
/** The published one. */
const AUTO = 167_000
/** Of versions up to 2.1.20: read off these very recordings, so that here only the step is a test, not the number. It fits 32,000 tokens kept for an answer instead of 20,000. */
const AUTO_EARLIER = 155_000

const CLAUDE_CODE: readonly (readonly [file: string, auto: number, boundaries: number])[] = [
  ['context-evaluator/c8-946606a339-0', AUTO, 1],
  ['context-evaluator/ee-7e610ffc3f-0', AUTO, 1],
  ['entireio-cli/25-730c662552-0', AUTO_EARLIER, 2],
  ['entireio-cli/43-2b48f6b6e6-0', AUTO, 2],
  ['entireio-cli/8e-a9e4a4e751-0', AUTO_EARLIER, 1],
  ['entireio-cli/ad-ff0201aecb-0', AUTO, 2],
  ['entireio-cli/b6-f735fbac66-0', AUTO_EARLIER, 2],
  ['entireio-cli/bc-cb77bb88fa-1', AUTO_EARLIER, 2],
]

describe.skipIf(!hasRecorded)(`compactions that Claude Code recorded${recordedNote}`, () => {
  test.each(CLAUDE_CODE)('%s: at %i tokens, %i of them', async (file, auto, boundaries) => {
    const decisions = decisionsIn(await read(`claude-code/${file}.jsonl`))
    expect(decisions).toHaveLength(boundaries)
    for (const decision of decisions) {
      expect(compacts(classic, auto, decision.recorded, decision.at, decision.preTokens)).toBe(true)
      expect(compacts(classic, auto, decision.recorded, decision.askedAt, decision.knownBefore)).toBe(false)
    }
  })
})

describe.skipIf(!hasRecorded)(`compactions that pi recorded${recordedNote}`, () => {
  test('the one that its window asked for; an earlier one, at 175,004 tokens, lies below its threshold', async () => {
    const decisions = decisionsIn(await read('pi/pi-mono/before-compaction.jsonl'))
    const fires = decisions.map(({ recorded, at, preTokens }) => compacts(pi, AUTO, recorded, at, preTokens))
    expect(decisions.map(({ preTokens }) => preTokens)).toEqual([175_004, 185_014])
    expect(fires).toEqual([false, true])
    const last = decisions[1]
    expect(last && compacts(pi, AUTO, last.recorded, last.askedAt, last.knownBefore)).toBe(false)
  })
})

interface Decision {
  readonly recorded: RecordedSession
  /** The entry that says so, by index. */
  readonly at: number
  readonly preTokens: number
  /** The last answer before, and what was known to be in view when it was asked for: the prompt and answer before that one. */
  readonly askedAt: number
  readonly knownBefore: number
}

function decisionsIn(recorded: RecordedSession): Decision[] {
  const { entries, responses } = recorded
  const main = responses.filter(({ place, usage }) => place === 'main' && usage && promptTokens(usage) > 0)
  const starts = main.map(({ entries: [first] }) => entries.findIndex(({ id }) => id === first))
  return entries.flatMap((entry, at) => {
    if (entry.kind !== 'boundary') return []
    const last = starts.findLastIndex((start) => start >= 0 && start < at)
    const usage = main[last - 1]?.usage
    const knownBefore = usage ? promptTokens(usage) + usage.output_tokens : 0
    return [{ recorded, at, preTokens: entry.meta.preTokens, askedAt: starts[last] ?? 0, knownBefore }]
  })
}

/** Whether the policy, shown the conversation up to an entry and told its size, compacts. */
function compacts(
  strategy: Strategy,
  auto: number,
  { entries }: RecordedSession,
  at: number,
  sizeTokens: number,
): boolean {
  const view = viewOf(entries.slice(0, at))
  const run = strategy.create(settingsAt(auto))
  if (!('before' in run)) throw new Error(`${strategy.name} plans nothing`)
  const { entries: planned } = run.before(view, momentAt(view, sizeTokens))
  return planned.some(({ kind }) => kind === 'boundary')
}

function settingsAt(auto: number): StrategySettings {
  let made = 0
  return {
    windowTokens: WINDOW,
    scale: 1,
    thresholds: { warning: auto - 20_000, error: auto - 10_000, auto, blocking: auto + 10_000 },
    newId: () => `made-${++made}`,
  }
}

/** Right after the newest answer: no pause. */
function momentAt(view: ReturnType<typeof viewOf>, sizeTokens: number): Moment {
  const model = 'claude-opus-4-5'
  const raw = view.nodes.flatMap((node) => node.blocks).reduce((sum, block) => sum + block.tokens, 0)
  const hiddenTokens = 20_000
  const factor = Math.max(0, sizeTokens - hiddenTokens) / Math.max(1, raw)
  return {
    now: view.nodes.findLast((node) => node.role === 'assistant')?.source.at ?? 0,
    sizeTokens,
    hiddenTokens,
    toTokens: (tokens) => tokens * factor,
    ttl: '5m',
    facts: factsOf(model),
    thinking: { model, bindsPrefix: false, readsFrom: [model] },
  }
}

function read(path: string): Promise<RecordedSession> {
  const row = recordedRows().find((one) => one.path === path)
  if (!row) throw new Error(`no recorded session ${path}`)
  return readRecorded(row)
}
