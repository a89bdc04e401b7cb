import { createHash } from 'node:crypto'
import { join } from 'node:path'

import { createSimulator, STRICT_SWITCHES, type ScriptStep, type Simulator } from 'palimpsest/simulator'
import { expect, test, vi } from 'vitest'

import { createCommandBench } from '../../../../test/kit/command-bench.ts'
import {
  askForSummaries,
  longAnswers,
  ROUNDS_TO_FILL,
  SUMMARY_ASKED,
  summaryStep,
  WINDOW,
} from '../../../../test/kit/compacting.ts'
import { call, jsonLines, put, sentBody, startsWithAll, text } from '../../../../test/kit/headless.ts'
import { runCli } from '../commands/run-cli.ts'

// A conversation and an agent in the background whose windows are full at the same moment: each sends the bytes that it sends alone.

/** Stands in all that the agent is sent, and in nothing else. */
const OF_AGENT = 'You count the boats of the harbour.'
const WAITING = 'The boats are being counted.'
const REPORT = 'There are twelve boats.'

type Who = 'main' | 'agent'

interface Together {
  readonly main: Simulator
  readonly agent: Simulator
  readonly result: unknown
}

interface Plan {
  /** Who fills its window. */
  readonly fills: readonly Who[]
  /** Called with each request; what it waits for comes before the answer. */
  readonly hold: (who: Who, body: string, printed: () => string) => Promise<void>
}

const filling = (who: Who, { fills }: Plan): readonly ScriptStep[] =>
  fills.includes(who) ? [summaryStep(`${who} goes on.`), ...longAnswers(who, ROUNDS_TO_FILL)] : []

/** One run of the command that starts an agent in the background. The two are answered by simulators of their own. */
async function runTogether(plan: Plan): Promise<Together> {
  const switches = { ...STRICT_SWITCHES, pastScript: 'refuse' as const }
  const agent = createSimulator({
    seed: 1,
    switches,
    script: [...filling('agent', plan), { content: [text(REPORT)] }],
  })
  const texts = { out: '', err: '' }
  const bench = await createCommandBench({
    seed: 1,
    instead: async (request) => {
      if (request.method !== 'POST') return undefined
      const body = await request.clone().text()
      const who = body.includes(OF_AGENT) ? 'agent' : 'main'
      await plan.hold(who, body, () => texts.out)
      return who === 'agent' ? await agent.fetch(request) : undefined
    },
  })
  await askForSummaries(bench)
  await put(join(bench.home, 'agents/counter.md'), `---\nname: counter\ndescription: d\n---\n${OF_AGENT}`)
  const wish = { description: 'count', prompt: 'Count.', subagent_type: 'counter', run_in_background: true }
  bench.simulator.addSteps([
    { content: [call('Agent', wish)] },
    ...filling('main', plan),
    { content: [text(WAITING)] },
    { content: [text('Twelve.')] },
  ])
  const args = ['-p', 'How many boats?', '--window', WINDOW, '--output-format', 'stream-json']
  await runCli(args, bench.worldFor(texts))
  return { main: bench.simulator, agent, result: jsonLines(texts.out).at(-1)?.['result'] }
}

/** Long texts are compared by what they come to: a difference would be pages of output. The folder and the agent are other ones each time. */
const sent = (simulator: Simulator): readonly string[] =>
  simulator.requests().map(({ body }) => {
    const same = (typeof body === 'string' ? body : JSON.stringify(body))
      .replaceAll(/palimpsest-command-\w{6}/g, 'FOLDER')
      .replaceAll(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g, 'SESSION')
      .replaceAll(/\b[\da-f]{8}\b/g, 'AGENT')
      // It follows the count of tokens, which such names change.
      .replace(/The summary may have at most \d+ characters/, 'A BOUND')
    return createHash('sha256').update(same).digest('hex')
  })

const summaries = (simulator: Simulator): number =>
  simulator.requests().filter(({ body }) => JSON.stringify(body).includes(SUMMARY_ASKED)).length

const gate = (): { readonly open: () => void; readonly opened: Promise<void> } => {
  let open = (): void => undefined
  const opened = new Promise<void>((resolve) => void (open = resolve))
  return { open: () => open(), opened }
}

test('a conversation and its agent in the background that are compacted at the same moment send what each would send alone', async () => {
  // The agent ends when nothing more is to be said before its end.
  const last = { both: gate(), main: gate() }
  const asked = { main: gate(), agent: gate() }
  const requests = { both: 0, main: 0 }
  const isLast = (run: 'both' | 'main'): boolean => ++requests[run] === ROUNDS_TO_FILL + 3
  const both = await runTogether({
    fills: ['main', 'agent'],
    hold: async (who, body) => {
      if (who === 'main' && isLast('both')) last.both.open()
      if (body.includes(SUMMARY_ASKED)) {
        asked[who].open()
        await Promise.all([asked.main.opened, asked.agent.opened])
      } else if (who === 'agent' && body.includes('agent goes on.')) await last.both.opened
    },
  })
  const main = await runTogether({
    fills: ['main'],
    hold: async (who) => {
      if (who === 'main' && isLast('main')) last.main.open()
      if (who === 'agent') await last.main.opened
    },
  })
  const agent = await runTogether({ fills: ['agent'], hold: async () => undefined })
  expect([both, main, agent].map(({ result }) => result)).toEqual(['Twelve.', 'Twelve.', 'Twelve.'])
  expect([summaries(both.main), summaries(both.agent)]).toEqual([1, 1])
  expect(sent(both.main).slice(0, -1)).toEqual(sent(main.main).slice(0, -1))
  expect(sent(both.agent)).toEqual(sent(agent.agent))
  // The end of the agent is told behind all that was said.
  const [waiting, told] = [-2, -1].map((index) => sentBody({ simulator: both.main }, index))
  expect(startsWithAll(told ?? '', waiting ?? '')).toBe(true)
  expect(JSON.stringify(told)).toContain(REPORT)
})

test('an agent that ends while its conversation is compacted counts as working until its end is reported', async () => {
  const asked = gate()
  const { main, result } = await runTogether({
    fills: ['main'],
    hold: async (who, body, printed) => {
      if (who === 'agent') await asked.opened
      if (!body.includes(SUMMARY_ASKED)) return
      asked.open()
      await vi.waitFor(() => expect(printed()).toContain('"task_notification"'), { timeout: 30_000 })
    },
  })
  expect(result).toBe('Twelve.')
  const [after, told] = [-2, -1].map((index) => JSON.stringify(sentBody({ simulator: main }, index)))
  expect(after).toMatch(/Do not start them again:[^:]*: count\) works in the background\. You are told/)
  expect(after).not.toContain(REPORT)
  expect(told).toContain(`has ended. Its report:\\n\\n${REPORT}`)
})
