import { resolve } from 'node:path'

import type { Command, CommandInput } from './command.ts'
import { palimpsestHome } from '../run/palimpsest-home.ts'
import { DONE, FAILED, type ExitCode, type World } from '../world.ts'

export const doctor: Command = {
  name: 'doctor',
  usage: '[options]',
  summary: 'check the setup, and show how to fix what is wrong',
  options: { json: { type: 'boolean' }, bundle: { type: 'string' }, 'forget-limits': { type: 'boolean' } },
  wordsMax: 0,
  run: runDoctor,
}

const MARKS = { good: 'ok  ', note: 'note', bad: 'BAD ' } as const

async function runDoctor({ flags }: CommandInput, world: World): Promise<ExitCode> {
  const { examine } = await import('../doctor/examine.ts')
  const home = palimpsestHome(world)
  if (flags['forget-limits'] === true) {
    const { forgetLimits } = await import('../doctor/examine-limits.ts')
    for (const line of await forgetLimits(home, world)) world.printError(`${line}\n`)
  }
  const findings = await examine(home, world.nodeVersion, world)
  if (typeof flags['bundle'] === 'string') {
    const { bundleOf } = await import('../doctor/bundle.ts')
    const { writeOutputFile } = await import('../print/output-file.ts')
    const path = resolve(world.cwd, flags['bundle'])
    const text = await bundleOf(findings, { home, nodeVersion: world.nodeVersion }, world)
    await writeOutputFile('--bundle', path, text)
    world.printError(`written: ${path}\n`)
  }
  if (flags['json'] === true) world.print(`${JSON.stringify(findings, null, 2)}\n`)
  else
    for (const { what, state, text } of findings)
      world.print(`${MARKS[state]}  ${what.padEnd(14)}  ${text}\n`)
  return findings.some(({ state }) => state === 'bad') ? FAILED : DONE
}
