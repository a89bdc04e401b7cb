import { stat } from 'node:fs/promises'
import { join } from 'node:path'

import { note, tell, type CommandPlace } from './command-place.ts'

const PROMPT = `Write the file AGENTS.md in this folder, for agents that will work here and know nothing of it. If it exists, improve it and keep what its authors wrote on purpose.

Look first: the README, the manifest files (package.json, pyproject.toml, Cargo.toml, Makefile, …), CI, and the code itself. Then write, in at most 60 lines:
1. what the project is, in a sentence or two;
2. the commands to build, test (all, and one test alone), lint and run it, as they really are;
3. where things are: the few folders somebody must know;
4. rules that the code follows and that are not obvious from one file.

Leave out what every programmer knows, and what you did not find. Do not invent commands.`

/** The model writes AGENTS.md with its tools, and the user sees the file before it is written. */
export async function init(place: CommandPlace): Promise<undefined> {
  const { conversation, follow, interruptible, wishes } = place
  if (conversation.prepared.endpoint === 'offline')
    return note('/init asks a model, and the offline one writes nothing. Choose one with /model', place)
  await interruptible(async (signal) => void (await follow(conversation.say(PROMPT, signal))))
  const path = join(wishes.cwd, 'AGENTS.md')
  const isThere = await stat(path).then(
    () => true,
    () => false,
  )
  if (!isThere || conversation.prepared.instructionPaths.includes(path)) return undefined
  return tell('AGENTS.md is read when a session starts: /clear starts one', place)
}
