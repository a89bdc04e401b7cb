import { randomUUID } from 'node:crypto'

import type { LoopTool } from 'palimpsest/loop'

/** In the same shell as the agent's commands, with the same limits. Nobody is asked: the user typed it. */
export async function runUserCommand(
  command: string,
  tools: readonly LoopTool[],
  signal: AbortSignal,
): Promise<string> {
  const bash = tools.find(({ name }) => name === 'Bash')
  if (!bash) throw new Error('unreachable: the tool Bash is always there')
  const { content } = await bash.run({ command }, { toolUseId: `user-${randomUUID()}`, signal })
  return typeof content === 'string' ? content : JSON.stringify(content)
}
