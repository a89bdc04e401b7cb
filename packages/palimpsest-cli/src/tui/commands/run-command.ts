import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'

import { toPrintable } from '../../agent/printable.ts'
import { context } from '../../commands/context.ts'
import { costBySource } from '../../cost-by-source.ts'
import { runUndo } from '../../stored/run-undo.ts'
import { transcriptText } from '../screen/past-lines.ts'
import { line } from '../text/styled-line.ts'
import { COMMANDS, type CommandName } from './command-names.ts'
import { note, type CommandEnd, type CommandPlace } from './command-place.ts'
import { resume } from './resume.ts'
import { rewind } from './rewind.ts'

export async function runCommand(text: string, place: CommandPlace): Promise<CommandEnd> {
  const [, typed = '', words = ''] = /^\/(\S*)\s*([\s\S]*)$/.exec(text) ?? []
  const name = findCommand(typed)
  if (!name) return note(`there is no command /${typed}; /help lists them`, place)
  try {
    return await runNamed(name, words.trim(), place)
  } catch (error) {
    return note(error instanceof Error ? error.message : String(error), place)
  }
}

/** By its name, or by a beginning that only it has. */
function findCommand(typed: string): CommandName | undefined {
  const alike = COMMANDS.filter(({ name }) => name.startsWith(typed))
  return alike.find(({ name }) => name === typed)?.name ?? (alike.length === 1 ? alike[0]?.name : undefined)
}

async function runNamed(name: CommandName, words: string, place: CommandPlace): Promise<CommandEnd> {
  const { conversation, wishes } = place
  switch (name) {
    case 'help':
      return help(place)
    case 'quit':
      return { next: undefined }
    case 'compact':
      return await compact(words, place)
    case 'context':
      return await showContext(place)
    case 'cost':
      return await cost(place)
    case 'model':
      return await changeModel(words, place)
    case 'clear':
      return { next: { ...wishes, session: { kind: 'new' } } }
    case 'resume':
      return await resume(words, place)
    case 'rewind': {
      const next = await rewind(place)
      return next && { next }
    }
    case 'undo':
      return await undo(words, place)
    case 'export':
      return await exportTo(words || `palimpsest-${conversation.id.slice(0, 8)}.txt`, place)
    default:
      return name satisfies never
  }
}

function help(place: CommandPlace): undefined {
  const width = Math.max(...COMMANDS.map(({ name, words }) => name.length + words.length)) + 3
  const rows = COMMANDS.map(({ name, words, summary }) => `  ${`/${name} ${words}`.padEnd(width)} ${summary}`)
  const keys = [
    '  !command  runs it in your shell, into the conversation      @path  attaches a file',
    '  Enter sends; Alt-Enter, Ctrl-J or \\ Enter begins a new line; ↑ ↓ what you said before',
    '  Esc interrupts; Esc Esc rewinds; Ctrl-O shows everything; Ctrl-C twice leaves',
  ]
  return print([...rows, '', ...keys], place)
}

async function compact(instructions: string, place: CommandPlace): Promise<undefined> {
  const { conversation, follow, interruptible, ui } = place
  ui.setLive({ activity: 'Compacting' })
  await interruptible(async (signal) => {
    const problem = await follow(conversation.compact(instructions, signal))
    if (problem === undefined) ui.show([[]])
    else note(problem, place)
  })
  return undefined
}

/** As the disk has it: the same words as `palimpsest context`. */
async function showContext(place: CommandPlace): Promise<undefined> {
  const { conversation, wishes, world } = place
  if (conversation.log().length === 0) return note('nothing was said yet: the window is empty', place)
  const env = wishes.window === undefined ? world.env : { ...world.env, PALIMPSEST_WINDOW: wishes.window }
  const text = await printed(async (print) => {
    await context.run(
      { flags: { session: conversation.id }, words: [] },
      { ...world, env, cwd: wishes.cwd, print },
    )
  })
  return print(
    text.split('\n').map((row) => row.replace(/^`palimpsest undo ID`.*$/, '/undo ID takes one back')),
    place,
  )
}

async function printed(run: (print: (text: string) => void) => Promise<void>): Promise<string> {
  let all = ''
  await run((text) => {
    all += text
  })
  return toPrintable(all.trimEnd())
}

async function cost(place: CommandPlace): Promise<undefined> {
  const { conversation } = place
  const bySource = Object.entries(await costBySource(conversation.prepared.opened.file.path, undefined))
  const { messages, tokens, costUsd } = conversation.totals()
  const { promptTokens, readTokens } = conversation.figures()
  const hits =
    promptTokens === 0
      ? 'no request yet'
      : `${((readTokens / promptTokens) * 100).toFixed(1)}% of ${promptTokens} prompt tokens came from the cache`
  const parts = bySource.map(([source, usd]) => `${source} $${usd.toFixed(4)}`)
  return print(
    [
      `$${costUsd.toFixed(4)} for ${messages} messages; the conversation holds ${tokens} tokens`,
      ...(parts.length > 1 ? [parts.join(', ')] : []),
      hits,
    ],
    place,
  )
}

/** Into a smaller window the conversation goes compacted, with the next message. */
async function changeModel(named: string, place: CommandPlace): Promise<CommandEnd> {
  const { conversation, wishes, ui } = place
  const model =
    named || (await ui.ask(`The model is ${conversation.facts.model}. Which one from now on?`)) || ''
  if (model === '' || model === conversation.facts.model)
    return note(`the model is ${conversation.facts.model}`, place)
  const session =
    conversation.log().length === 0
      ? ({ kind: 'new' } as const)
      : ({ kind: 'resume', which: conversation.id } as const)
  return { next: { ...wishes, model, session } }
}

/** The session is written by one at a time: it is closed, changed and opened again. */
async function undo(typed: string, place: CommandPlace): Promise<CommandEnd> {
  const { conversation, wishes, world } = place
  const removals = conversation.log().filter(({ kind }) => kind === 'boundary' || kind === 'edit')
  const found = removals.filter(({ id }) => id.startsWith(typed))
  const [only] = found
  if (typed === '' || !only || found.length > 1)
    return note('undo which? /context lists removals by id', place)
  await conversation.close()
  const text = await printed(async (print) => {
    const told = { ...world, cwd: wishes.cwd, print, printError: print }
    await runUndo({ flags: { session: conversation.id }, words: [only.id] }, told)
  })
  note(text, place)
  return { next: { ...wishes, session: { kind: 'resume', which: conversation.id } } }
}

async function exportTo(name: string, place: CommandPlace): Promise<undefined> {
  const path = resolve(place.wishes.cwd, name)
  const text = transcriptText(place.conversation.log(), EXPORT_COLUMNS)
  const problem = await writeFile(path, text, { flag: 'wx' }).then(
    () => undefined,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  )
  return note(
    problem === undefined ? `written to ${path}` : `not written: ${problem}. Name another file`,
    place,
  )
}

const EXPORT_COLUMNS = 100

function print(rows: readonly string[], { ui }: Pick<CommandPlace, 'ui'>): undefined {
  ui.show([...rows.map((row) => line(row)), []])
  return undefined
}
