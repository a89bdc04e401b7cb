import { randomUUID } from 'node:crypto'

import type { ToolOutput } from 'palimpsest/loop'

import type { PreparedRun } from '../../run/prepare-run.ts'

type Own = Pick<PreparedRun, 'allowOwn'> & Pick<PreparedRun['setup'], 'tools'>

/** Runs in the same shell as the agent's commands, with the same limits. No question is asked: the user typed it. */
export async function runUserCommand(
  command: string,
  { tools, allowOwn }: Own,
  signal: AbortSignal,
): Promise<{ readonly toolUseId: string; readonly output: ToolOutput }> {
  const bash = tools.find(({ name }) => name === 'Bash')
  if (!bash) throw new Error('unreachable: the tool Bash is always there')
  const toolUseId = `user-${randomUUID()}`
  allowOwn(toolUseId, command)
  return { toolUseId, output: await bash.run({ command }, { toolUseId, signal }) }
}
