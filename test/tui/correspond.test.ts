import { mkdir } from 'node:fs/promises'

import { openFileMailbox } from 'palimpsest/node'
import { expect, test } from 'vitest'

import { createCommandBench } from '../kit/command-bench.ts'
import { call, text } from '../kit/headless.ts'
import { openInside, type TerminalInside } from '../kit/terminal-inside.ts'

// `/who` and `/tell`: whom the user can write to from the terminal, and what becomes of it.

const ARGS = ['--model', 'claude-sonnet-5-5']
/** Agents that work are listed between the input and the status. */
const READY = /^> *\n(?:└.*\n)*(?:.* · )?~?\d+% context left/m

async function say(terminal: TerminalInside, words: string, wanted: RegExp): Promise<string> {
  await terminal.until(READY)
  terminal.type(`${words}\r`)
  return await terminal.until(wanted)
}

test('an agent in the background is listed with what it does, and reads messages sent to it', async () => {
  let open = (): void => undefined
  const gate = new Promise<void>((resolve) => void (open = resolve))
  const bench = await createCommandBench({
    instead: async (request) => {
      if (request.headers.get('x-palimpsest-source')?.startsWith('subagent') === true) await gate
      return undefined
    },
  })
  const agent = { description: 'look around', prompt: 'Look.', subagent_type: 'search', name: 'scout' }
  bench.simulator.addSteps([
    { content: [call('Agent', { ...agent, run_in_background: true })] },
    { content: [text('It looks.')] },
    { content: [text('An egret.')], when: { source: 'subagent' } },
    { content: [text('Nothing in docs.')], when: { source: 'subagent', bodyContains: 'Look in docs too' } },
  ])
  const terminal = openInside(bench, { args: ARGS })
  await say(terminal, '/who', /· there is nobody to write to/)
  await say(terminal, 'Look around', /It looks\./)
  await say(terminal, '/who', /· scout \(agent\): Starting search/)
  await say(terminal, '/tell scout', /! type \/tell NAME text/)
  await say(terminal, '/tell nobody Hello', /! There is nobody called "nobody"\. There are: scout\./)
  await say(terminal, '/tell scout Look in docs too', /· Sent to scout\./)
  open()
  await terminal.until(/look around\) completed; /)
  const bodies = bench.asked('subagent:search').map(({ body }) => JSON.stringify(body))
  expect(bodies.at(-1)).toContain('Look in docs too')
})

test('a teammate is listed, and can be written to by name', async () => {
  const bench = await createCommandBench()
  await mkdir(bench.home, { mode: 0o700 })
  const bob = await openFileMailbox({ home: bench.home, team: 'red', self: 'bob' })
  const terminal = openInside(bench, { args: [...ARGS, '--team', 'red', '--as', 'ann'] })
  await say(terminal, '/who', /· bob \(teammate\): in the team red/)
  await say(terminal, '/tell bob The build is green', /· Sent to bob\./)
  const { letters } = await bob.waiting(1)
  expect(letters).toMatchObject([{ from: 'ann', to: 'bob', message: 'The build is green' }])
})

test('another session is listed by its id and its words, and can be written to by the beginning of its id', async () => {
  const bench = await createCommandBench({ script: [{ content: [text('Done.')] }] })
  const other = openInside(bench, { args: ARGS })
  await say(other, 'Fix the parser', /Done\./)
  const terminal = openInside(bench, { args: ARGS })
  const shown = await say(terminal, '/who', /\(session\): Fix the parser, in /)
  const [, id = ''] = /· ([0-9a-f]{8}) \(session\)/.exec(shown) ?? []
  const told = await say(terminal, `/tell ${id} The parser is yours`, /· The other session has it\./)
  expect(told).toContain(`> /tell ${id} The parser is yours`)
})
