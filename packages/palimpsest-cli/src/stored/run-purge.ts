import { UsageError } from 'palimpsest'
import { openHome, purgeHome, removeRecallIndex } from 'palimpsest/node'

import { toPrintable } from '../agent/printable.ts'
import type { CommandInput } from '../commands/command.ts'
import { palimpsestHome } from '../run/palimpsest-home.ts'
import { DONE, FAILED, type ExitCode, type World } from '../world.ts'

/** Shorter texts occur everywhere. */
const TEXT_CHARS_MIN = 6

/** Removes a text from everything stored. The text is never printed. */
export async function runPurge({ words }: CommandInput, world: World): Promise<ExitCode> {
  const text = await textOf(words, world)
  const home = await openHome(palimpsestHome(world))
  const { files, count, left } = await purgeHome(home, text, (folder) => removeRecallIndex({ folder }))
  const told =
    count === 0
      ? 'Nothing stored contains it.'
      : `Removed ${count === 1 ? 'one occurrence' : `${count} occurrences`} from ${files.length === 1 ? 'one file' : `${files.length} files`}:\n${files.join('\n')}`
  world.print(`${toPrintable(told)}\n`)
  for (const { path, why } of left)
    world.printError(`palimpsest: ${toPrintable(`${path} still contains it: ${why}`)}\n`)
  return left.length === 0 ? DONE : FAILED
}

async function textOf([word]: readonly string[], world: World): Promise<string> {
  const input = word === '-' ? await world.readInput(true) : undefined
  const text = input === undefined ? (word ?? '') : input.kind === 'text' ? input.text.trim() : ''
  if (text.length >= TEXT_CHARS_MIN) return text
  throw new UsageError(
    `purge: give the text to remove, at least ${TEXT_CHARS_MIN} characters; \`palimpsest purge -\` reads it from stdin`,
  )
}
