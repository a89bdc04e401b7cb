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
import { emptyView, step, type View } from '../../packages/palimpsest/src/transcript/view.ts'
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

/** For CI: one of each threshold. */
const SOME = ['context-evaluator/c8-946606a339-0', 'entireio-cli/b6-f735fbac66-0']

describe.skipIf(!hasRecorded)(`compactions that Claude Code recorded${recordedNote}`, () => {
  test.each(CLAUDE_CODE.filter(([file]) => process.env['SOAK'] || SOME.includes(file)))(
    '%s: at %i tokens, %i of them',
    async (file, auto, boundaries) => {
      const decided = decidesIn(await read(`claude-code/${file}.jsonl`), classic, auto)
      expect(decided.map(({ before, there }) => [before, there])).toEqual(
        Array.from({ length: boundaries }, () => [false, true]),
      )
    },
  )
})

describe.skipIf(!hasRecorded)(`compactions that pi recorded${recordedNote}`, () => {
  test('the one that its window required; an earlier one, at 175,004 tokens, is below its threshold', async () => {
    expect(decidesIn(await read('pi/pi-mono/before-compaction.jsonl'), pi, AUTO)).toEqual([
      { preTokens: 175_004, before: false, there: false },
      { preTokens: 185_014, before: false, there: true },
    ])
  })
})

interface Decision {
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
    return [{ at, preTokens: entry.meta.preTokens, askedAt: starts[last] ?? 0, knownBefore }]
  })
}

interface Decided {
  readonly preTokens: number
  /** Whether it compacts at the request before, and at the recorded one. */
  readonly before: boolean
  readonly there: boolean
}

/** What a policy does where the recorded tool decided. The session is folded once. */
function decidesIn(recorded: RecordedSession, strategy: Strategy, auto: number): Decided[] {
  let view = emptyView()
  let folded = 0
  const compactsAt = (end: number, sizeTokens: number): boolean => {
    for (const entry of recorded.entries.slice(folded, end)) view = step(view, entry)
    folded = end
    return compacts(view, { strategy, auto, sizeTokens })
  }
  return decisionsIn(recorded).map(({ at, preTokens, askedAt, knownBefore }) => ({
    preTokens,
    before: compactsAt(askedAt, knownBefore),
    there: compactsAt(at, preTokens),
  }))
}

/** Whether the policy, shown a conversation and told its size, compacts. */
function compacts(
  view: View,
  {
    strategy,
    auto,
    sizeTokens,
  }: { readonly strategy: Strategy; readonly auto: number; readonly sizeTokens: number },
): boolean {
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
function momentAt(view: View, sizeTokens: number): Moment {
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
