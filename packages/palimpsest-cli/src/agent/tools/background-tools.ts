import type { LoopTool } from 'palimpsest/loop'

import { Refusal } from '../refusal.ts'
import type { BackgroundShell, Shells } from '../shell/shells.ts'
import { endText } from './bash-tool.ts'
import { defineTool } from './define-tool.ts'
import { requiredText } from './tool-input.ts'

export function createBashOutputTool(shells: Shells): LoopTool {
  return defineTool({
    name: 'BashOutput',
    description:
      'Shows what a command in the background printed since the last look, and whether it still runs. Takes the id that Bash returned.',
    properties: { bash_id: { type: 'string', description: 'The id, for example shell_1' } },
    required: ['bash_id'],
    parse: (input) => findShell(shells, requiredText(input, 'bash_id')),
    // It removes the output that it returns: two calls in parallel would share it at random.
    isReadOnly: false,
    run: async ({ id, shell, end }) => {
      const ended = end()
      const output = shell.output.take().replace(/\n$/, '')
      const state = ended === undefined ? `[${id} is running.]` : `[${id} has ended.]`
      const notes = ended === undefined ? [] : endText(ended)
      return [output === '' ? '(Nothing new was printed.)' : output, ...notes, state].join('\n')
    },
  })
}

export function createKillShellTool(shells: Shells): LoopTool {
  return defineTool({
    name: 'KillShell',
    description:
      'Ends a command in the background and everything it started. Takes the id that Bash returned.',
    properties: { shell_id: { type: 'string', description: 'The id, for example shell_1' } },
    required: ['shell_id'],
    parse: (input) => findShell(shells, requiredText(input, 'shell_id')),
    isReadOnly: false,
    run: async ({ id, shell }) => {
      if (!shell.isRunning()) return `${id} had ended already.`
      shell.kill()
      await shell.ended
      return `${id} was ended.`
    },
  })
}

function findShell(shells: Shells, id: string): BackgroundShell {
  const found = shells.find(id)
  if (found !== undefined) return found
  const ids = shells.ids()
  throw new Refusal(
    `There is no command ${id} in the background. ${ids.length === 0 ? 'None was started in this run of the program.' : `There are: ${ids.join(', ')}.`}`,
  )
}
