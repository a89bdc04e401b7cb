import { describe, expect, test } from 'vitest'
import { drive } from '../../packages/palimpsest/src/drive.ts'
import { buildRequest } from '../../packages/palimpsest/src/request/build-request.ts'
import { lastRequest } from '../../packages/palimpsest/src/request/last-request.ts'
import { modelPolicy } from '../../packages/palimpsest/src/situation/model-policy.ts'
import { NO_HOST } from '../../packages/palimpsest/src/layers/4-compaction/compaction-host.ts'
import { COMPACTION_BETA } from '../../packages/palimpsest/src/layers/4-compaction/summary/server-compaction.ts'
import { sizeOf } from '../../packages/palimpsest/src/situation/size-of.ts'
import { recordOf } from '../../packages/palimpsest/src/situation/compaction-record.ts'
import { compactForSwitch, type SwitchTarget } from '../../packages/palimpsest/src/loop/compact-for-switch.ts'
import { createForkPoint } from '../../packages/palimpsest/src/loop/fork-point.ts'
import type { LoopEvent } from '../../packages/palimpsest/src/loop/events.ts'
import type { SimulatorOptions } from '../../packages/palimpsest/src/lab/simulator/create-simulator.ts'
import { startCalibration } from '../../packages/palimpsest/src/tokens/calibrate.ts'
import type { BoundaryEntry } from '../../packages/palimpsest/src/transcript/entry.ts'
import { findModelFacts } from '../../packages/palimpsest/src/wire/model-facts.ts'
import { createTestAgent, type TestAgent, type TestAgentOptions } from '../kit/agent.ts'

// Windows that turn out smaller than they were: another model's, or the one the provider really has.

const TEXT = Array.from({ length: 60 }, (_, i) => `line ${i} of a result that takes some room`).join('\n')
const compaction = { host: NO_HOST, isOn: true, scale: 0.15 }
const SMALL = { warning: 10_000, error: 11_000, auto: 12_000, blocking: 14_000 }
const OLDER = 'claude-sonnet-4-5'

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
const GOOD: Steps[number] = {
  when: { bodyContains: '<analysis>' },
  content: [{ type: 'text', text: '<summary>They echo things.</summary>' }],
  times: 9,
}
const SIGNED: Steps[number] = {
  when: { bodyContains: '"compaction":{"type":"summarize"' },
  content: [{ type: 'text', text: 'Signed: they echo things.' }],
  times: 9,
}

function agentWith(script: Steps, more: TestAgentOptions = {}): TestAgent {
  return createTestAgent({ simulator: { script }, setup: { compaction }, ...more })
}

function boundaries({ entries }: TestAgent): BoundaryEntry[] {
  return entries.filter((entry) => entry.kind === 'boundary')
}

describe('a switch to a model with a smaller window', () => {
  const facts = findModelFacts(OLDER)
  const target: SwitchTarget = {
    thinking: modelPolicy(OLDER, facts),
    calibration: startCalibration('claude-4'),
    thresholds: SMALL,
  }

  async function compacted(
    agent: TestAgent,
    to = target,
    setup = agent.setup,
  ): Promise<readonly LoopEvent[]> {
    const events: LoopEvent[] = []
    const steps = compactForSwitch(agent.session, to, { ...setup, compaction }, new AbortController().signal)
    agent.session = await drive(steps, (event) => void events.push(event))
    return events
  }

  async function switchTo(agent: TestAgent, model: string): Promise<void> {
    const { system = '[]', tools = '[]' } = agent.session.view.prefix ?? {}
    await agent.add({ kind: 'prefix', model, betas: [], system, tools, parameters: {}, reason: 'model' })
  }

  test('starts with a compaction by the previous model, from its cache; then the conversation fits', async () => {
    const agent = agentWith([GOOD, ...rounds(12), DONE])
    await agent.say('Echo. Never touch secret.txt.')
    const events = await compacted(agent)
    expect(events.map(({ type }) => type)).toEqual([
      'compaction-start',
      'compaction-path',
      'engine',
      'compaction-end',
    ])
    const [boundary] = boundaries(agent)
    expect(boundary?.meta.path).toBe('fork')
    expect(recordOf(boundary)).toMatchObject({ cause: 'smaller-window', model: 'claude-opus-5-5' })
    const fork = agent.simulator.requests().at(-1)
    expect(JSON.stringify(fork?.body)).toContain('claude-opus-5-5')
    await switchTo(agent, OLDER)
    const sizing = { ...agent.setup, ...target }
    expect(sizeOf(agent.session.view, sizing)).toBeLessThan(SMALL.auto)
    const { body } = buildRequest(agent.session.view, { ...sizing, stream: false })
    expect(body).toContain('Never touch secret.txt.')
    const { status } = agent.simulator.answer({ ...JSON.parse(body), max_tokens: 1_000 }, {})
    expect(status).toBe(200)
  })

  test('leaves undone what the user undid, below the size at which no request may be sent', async () => {
    const agent = agentWith([GOOD, ...rounds(12), DONE])
    await agent.say('Echo.')
    expect(await agent.compact()).toMatchObject({ kind: 'compacted' })
    await agent.add({ kind: 'void', target: boundaries(agent)[0]?.id ?? '' })
    const { view } = agent.session
    const size = Math.max(sizeOf(view, agent.setup.situation), sizeOf(view, target))
    const below = { ...target, thresholds: { ...SMALL, auto: size - 1, blocking: size + 1_000 } }
    expect(await compacted(agent, below)).toEqual([])
    const above = { ...target, thresholds: { ...SMALL, auto: size - 2, blocking: size - 1 } }
    expect(await compacted(agent, above)).not.toEqual([])
  })

  test('does nothing if the conversation fits, or if nothing may compact', async () => {
    const agent = agentWith([GOOD, ...rounds(3), DONE])
    await agent.say('Echo.')
    expect(await compacted(agent)).toEqual([])
    const large = agentWith([GOOD, ...rounds(12), DONE], {
      setup: { compaction: { ...compaction, isOn: false } },
    })
    await large.say('Echo.')
    const steps = compactForSwitch(
      large.session,
      target,
      { ...large.setup, compaction: { ...compaction, isOn: false } },
      new AbortController().signal,
    )
    expect(await steps.next()).toEqual({ done: true, value: large.session })
  })

  test('a signed block is sent as plain text to a model that does not accept such blocks', async () => {
    const agent = agentWith([SIGNED, ...rounds(12), DONE], {
      prefix: { betas: ['extended-cache-ttl-2025-04-11', COMPACTION_BETA] },
    })
    await agent.say('Echo.')
    await compacted(agent)
    expect(boundaries(agent).map(({ meta }) => meta.path)).toEqual(['server'])
    await switchTo(agent, OLDER)
    const { body } = buildRequest(agent.session.view, { ...agent.setup, ...target, stream: false })
    const { messages } = JSON.parse(body)
    expect(messages[0]).toMatchObject({
      role: 'user',
      content: [{ type: 'text', text: 'Signed: they echo things.' }],
    })
    expect(body).not.toContain('"compaction"')
    const next = [...messages, { role: 'user', content: 'Go on.' }]
    expect(
      agent.simulator.answer({ ...JSON.parse(body), messages: next, max_tokens: 1_000 }, {}).status,
    ).toBe(200)
  })

  test('a session of another run is forked from what its transcript says was sent last: read from the cache', async () => {
    const agent = agentWith([GOOD, ...rounds(12), DONE])
    await agent.say('Echo.')
    const sent = agent.simulator.requests().at(-1)
    const last = lastRequest(agent.session.view, { ...agent.setup, stream: true })
    expect(last?.built.body).toBe(sent?.body)
    const forkPoint = createForkPoint({ ports: agent.setup.ports })
    if (last) forkPoint.moveTo(last.built, last.at)
    await compacted(agent, target, { ...agent.setup, forkPoint })
    expect(boundaries(agent).map(({ meta }) => meta.path)).toEqual(['fork'])
    const fork = agent.traces.findLast(({ name }) => name === 'fork')
    expect(Number(fork?.['readTokens'])).toBeGreaterThan(0.9 * Number(fork?.['inputTokens']))
  })
})

describe('a limit that a refusal names', () => {
  test('applies at once: what is compacted fits it, and the user is told', async () => {
    const asked: [string, number][] = []
    const agent = createTestAgent({
      simulator: {
        script: [GOOD, ...rounds(12), DONE],
        faults: [{ match: { nth: 8 }, fault: { type: 'prompt_too_long', format: 'anthropic' } }],
      },
      setup: {
        compaction,
        limits: {
          refused: async ({ failure, sentTokens }) => {
            asked.push([failure.kind, sentTokens])
            const notice = 'The window is smaller than it was said to be.'
            const learned = {
              thresholds: SMALL,
              scale: 1,
              effectiveTokens: SMALL.blocking,
              windowTokens: 16_000,
              notice,
            }
            return { kind: 'learned', learned }
          },
          answered: async () => undefined,
        },
      },
    })
    const said = await agent.say('Echo.')
    expect(said.end).toEqual({ reason: 'answered' })
    expect(asked).toEqual([['context-overflow', expect.any(Number)]])
    expect(said.events).toContainEqual({
      type: 'notice',
      text: 'The window is smaller than it was said to be.',
    })
    const [boundary] = boundaries(agent)
    expect(recordOf(boundary)).toMatchObject({ cause: 'overflow', thresholdTokens: SMALL.auto })
    expect(boundary?.meta.postTokens).toBeLessThan(SMALL.auto)
    // From then on the smaller threshold fires by itself.
    const causes = boundaries(agent).map((one) => recordOf(one)?.cause)
    expect(causes.slice(1)).toEqual(causes.slice(1).map(() => 'threshold'))
  })
})
