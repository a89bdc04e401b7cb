import { expect, test } from 'vitest'

import { createCommandBench, type CommandBench } from '../kit/command-bench.ts'
import { text } from '../kit/headless.ts'
import { openInside, type TerminalInside } from '../kit/terminal-inside.ts'

// What the user chooses in a session and leaves without another word is there when the session is resumed.

const MODEL = 'claude-sonnet-5-5'
const OTHER = 'claude-haiku-4-5'
const READY = /^> *\n(?:[a-z ]+ · )?~?\d+% context left.*$/m

async function said(bench: CommandBench, words: string): Promise<TerminalInside> {
  const terminal = openInside(bench, { args: ['--model', MODEL] })
  await terminal.until(READY)
  terminal.type(`${words}\r`)
  await terminal.until(/The answer\.[^]*\$\d/)
  return terminal
}

async function quit(terminal: TerminalInside): Promise<void> {
  terminal.type('/quit\r')
  expect((await terminal.ended).exit).toBe(0)
}

async function statusOf(bench: CommandBench, args = ['--continue']): Promise<string> {
  const terminal = openInside(bench, { args })
  const [shown = ''] = READY.exec(await terminal.until(READY)) ?? []
  await quit(terminal)
  return shown.split('\n')[1] ?? ''
}

test('a resumed session asks the model that was chosen, even if it was never asked before', async () => {
  const bench = await createCommandBench({ script: [{ content: [text('The answer.')] }] })
  const terminal = await said(bench, 'What is it?')
  terminal.type('/model\r')
  await terminal.until(/type to search/)
  terminal.type('haiku-4-5')
  await terminal.until(new RegExp(`▸ ${OTHER}`))
  terminal.press('Enter')
  await terminal.until(/\(t\) in this conversation/)
  terminal.press('Enter')
  await terminal.until(new RegExp(`context left.* · ${OTHER}`))
  await quit(terminal)
  expect(await statusOf(bench)).toMatch(new RegExp(` · ${OTHER}$`))
  // A flag says it for one run.
  expect(await statusOf(bench, ['--continue', '--model', MODEL])).toMatch(new RegExp(` · ${MODEL}$`))
  expect(await statusOf(bench)).toMatch(new RegExp(` · ${OTHER}$`))
  // What was asked since is what the session has.
  bench.simulator.addSteps([{ content: [text('Another answer.')] }])
  await bench.run(['-p', '--continue', '--model', 'claude-opus-5-5', 'And now?'])
  expect(await statusOf(bench)).toMatch(/ · claude-opus-5-5$/)
})

test('a model chosen for one conversation is not the model of the next one', async () => {
  const bench = await createCommandBench({ script: [{ content: [text('The answer.')] }] })
  const terminal = await said(bench, 'What is it?')
  terminal.type(`/model ${OTHER}\r`)
  await terminal.until(new RegExp(`context left.* · ${OTHER}`))
  terminal.type('/clear\r')
  await terminal.until(new RegExp(`context left.* · ${MODEL}`))
  terminal.type('/resume\r')
  await terminal.until(/Which session\?/)
  terminal.press('Enter')
  expect(await terminal.until(new RegExp(`context left.* · ${OTHER}`))).toContain('> What is it?')
  await quit(terminal)
})

test('plan mode that was chosen or left before any message stays as it was left', async () => {
  const bench = await createCommandBench({ script: [{ content: [text('The answer.')] }] })
  const terminal = await said(bench, 'What is it?')
  terminal.press('Shift-Tab', 'Shift-Tab')
  await terminal.until(/plan: reads only · Shift-Tab/)
  await quit(terminal)
  expect(await statusOf(bench)).toMatch(/^plan · /)
  expect(await statusOf(bench, ['--continue', '--permission-mode', 'default'])).not.toMatch(/^plan · /)
  bench.simulator.addSteps([{ content: [text('I plan.')] }])
  const planning = openInside(bench, { args: ['--continue'] })
  await planning.until(READY)
  planning.type('Plan it\r')
  await planning.until(/I plan\.[^]*^plan · .*\$\d/m)
  planning.press('Shift-Tab')
  await planning.until(/default: asks before/)
  await quit(planning)
  expect(await statusOf(bench)).not.toMatch(/^plan · /)
})
