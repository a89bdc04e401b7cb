import { sentenceOf } from '../../print/report-error.ts'
import { toPrintable } from '../../agent/printable.ts'
import type { CommandInput } from '../../commands/command.ts'
import type { ExitCode, World } from '../../world.ts'
import { note, type CommandEnd, type CommandPlace } from './command-place.ts'

/** A session is written by one at a time: it is closed, changed as the command of that name changes it, and opened again. */
export async function changeStored(
  run: (input: CommandInput, world: World) => Promise<ExitCode>,
  id: string,
  place: CommandPlace,
): Promise<CommandEnd> {
  const { conversation, wishes, world } = place
  const env = wishes.window === undefined ? world.env : { ...world.env, PALIMPSEST_WINDOW: wishes.window }
  let text = ''
  const print = (part: string): void => {
    text += part
  }
  await conversation.close()
  try {
    const input = { flags: { session: conversation.id }, words: [id] }
    await run(input, { ...world, env, cwd: wishes.cwd, print, printError: print })
  } catch (error) {
    print(sentenceOf(error))
  }
  note(toPrintable(text.trimEnd().replace(/^palimpsest: /, '')), place)
  return { next: { ...wishes, session: { kind: 'resume', which: conversation.id } }, isSame: true }
}
