import { describe, expect, test } from 'vitest'
import { collapseState } from '../../packages/palimpsest/src/layers/4-compaction/when/plan-collapse.ts'
import { planCollapse } from '../../packages/palimpsest/src/layers/4-compaction/when/collapse.ts'
import { NO_HOST } from '../../packages/palimpsest/src/layers/4-compaction/compaction-host.ts'
import { sizeOf } from '../../packages/palimpsest/src/situation/size-of.ts'
import { createFlags } from '../../packages/palimpsest/src/flags/create-flags.ts'
import { recordOf } from '../../packages/palimpsest/src/situation/compaction-record.ts'
import type { SimulatorOptions } from '../../packages/palimpsest/src/lab/simulator/create-simulator.ts'
import type { EditEntry } from '../../packages/palimpsest/src/transcript/entry.ts'
import { createTestAgent, type TestAgent } from '../kit/agent.ts'

// Collapse: the oldest spans are folded one by one, on a provider that refuses thinking out of its place.

const EFFECTIVE = 30_000
const THRESHOLDS = { warning: 20_000, error: 22_000, auto: 24_000, blocking: 29_500 }
const TEXT = Array.from({ length: 60 }, (_, i) => `line ${i} of a result that takes some room`).join('\n')

type Steps = NonNullable<SimulatorOptions['script']>

function rounds(count: number): Steps {
  return Array.from({ length: count }, (_, i) => ({
    content: [
      { type: 'thinking' as const, thinking: `thought ${i}` },
      { type: 'tool_use' as const, name: 'Echo', input: { text: `${i}\n${TEXT}` } },
    ],
    stop_reason: 'tool_use' as const,
  }))
}

const DONE: Steps[number] = { content: [{ type: 'text', text: 'Done.' }] }

function collapsing(script: Steps, isOn = true): TestAgent {
  const find = (name: string): boolean | undefined => (name === 'collapse' ? isOn : undefined)
  return createTestAgent({
    simulator: { script, switches: { prefixMismatch: 'error' } },
    flags: createFlags([{ name: 'test', find }]),
    setup: {
      thresholds: THRESHOLDS,
      compaction: { host: NO_HOST, isOn: true, scale: 0.15, effectiveTokens: EFFECTIVE },
    },
  })
}

function folds({ entries }: TestAgent): EditEntry[] {
  return entries.filter((entry) => entry.kind === 'edit').filter(({ cause }) => cause === 'collapse')
}

function shown({ session }: TestAgent): string {
  return session.view.nodes.flatMap(({ blocks }) => blocks.map(({ json }) => json)).join('\n')
}

function limitsOf({ setup, session }: TestAgent) {
  return { ...setup, scale: 0.15, effectiveTokens: EFFECTIVE, sizeTokens: sizeOf(session.view, setup) }
}

describe('collapse', () => {
  test('(C2) folds the oldest spans from 90% of the effective window on; the threshold triggers nothing', async () => {
    const agent = collapsing([...rounds(22), DONE])
    expect((await agent.say('Echo. Never touch secret.txt.')).end).toEqual({ reason: 'answered' })
    expect(folds(agent).length).toBeGreaterThan(2)
    expect(agent.entries.filter(({ kind }) => kind === 'boundary')).toEqual([])
    for (const check of agent.traces.filter(({ name }) => name === 'size-check'))
      expect(Number(check['tokens'])).toBeLessThan(0.9 * EFFECTIVE + 2_500)
    expect(shown(agent)).toContain('Never touch secret.txt.')
    const folded = agent.session.view.nodes.filter(({ blocks }) =>
      blocks[0]?.json.includes('Left out here: '),
    )
    expect(folded.length).toBe(folds(agent).length)
    // It is not the model that says it.
    expect(new Set(folded.map(({ role }) => role))).toEqual(new Set(['user']))
    expect(agent.traces.filter(({ name }) => name === 'input-transformed')).toEqual([])
    // No model was asked for it.
    expect(agent.entries.filter(({ kind }) => kind === 'spent')).toEqual([])
  })

  test('(C1) planning again right after folding plans nothing', async () => {
    const agent = collapsing([...rounds(22), DONE])
    await agent.say('Echo.')
    const limits = limitsOf(agent)
    const first = planCollapse(agent.session.view, { ...limits, sizeTokens: 0.95 * EFFECTIVE })
    await agent.add(...first)
    expect(first.length).toBeGreaterThan(0)
    expect(planCollapse(agent.session.view, limitsOf(agent))).toEqual([])
  })

  test('undoing a fold expands its span, and only that one', async () => {
    const agent = collapsing([...rounds(22), DONE])
    await agent.say('Echo.')
    const [first, second] = folds(agent)
    const gone = '\\nline 59 of a result'
    const before = shown(agent).split(gone).length
    await agent.add({ kind: 'void', target: first?.id ?? '' })
    expect(shown(agent).split(gone).length).toBeGreaterThan(before)
    expect(shown(agent)).toContain(`to ${second?.replace[0]?.at.entry}.]`)
    expect(shown(agent)).not.toContain(`to ${first?.replace[0]?.at.entry}.]`)
  })

  test('if nothing is left to fold, everything is compacted at the blocking limit', async () => {
    const agent = collapsing([...rounds(3), DONE])
    const paste = Array.from({ length: 2_200 }, (_, i) => `word${i} and another`).join(' ')
    await agent.say('Echo.')
    await agent.say(paste)
    await agent.say(`${paste} again`)
    const causes = agent.entries.flatMap((entry) =>
      entry.kind === 'boundary' ? [recordOf(entry)?.cause] : [],
    )
    expect(causes).toEqual(['blocking'])
  })

  test('if switched off, the threshold compacts', async () => {
    const agent = collapsing([...rounds(16), DONE], false)
    await agent.say('Echo.')
    expect(folds(agent)).toEqual([])
    expect(agent.entries.some(({ kind }) => kind === 'boundary')).toBe(true)
  })

  test('says when to hold back new agents', () => {
    expect(collapseState(26_999, EFFECTIVE)).toEqual({ isFolding: false, holdsAgents: false })
    expect(collapseState(27_000, EFFECTIVE)).toEqual({ isFolding: true, holdsAgents: false })
    expect(collapseState(28_500, EFFECTIVE)).toEqual({ isFolding: true, holdsAgents: true })
  })
})
