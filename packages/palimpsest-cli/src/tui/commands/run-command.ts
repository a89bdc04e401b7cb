import { drive } from 'palimpsest/conversation'
import { isRemoval } from 'palimpsest/transcript'

import { findById, ID_CHARS } from '../../stored/find-by-id.ts'
import { readHistory } from '../../stored/session-history.ts'
import { sentenceOf } from '../../report-error.ts'
import { setOwnDailyLimit } from '../../agent/settings/change-own-settings.ts'
import { findSimilarName } from '../../agent/similar-name.ts'
import { memoryRows } from '../../memory/memory-rows.ts'
import { palimpsestHome } from '../../run/palimpsest-home.ts'
import { modeWords } from '../screen/mode-words.ts'
import { line, wrapLine } from '../text/styled-line.ts'
import { createType, editType } from './agents.ts'
import { changeModel } from './change-model.ts'
import { undoRemoval } from './change-view.ts'
import { COMMAND_NAMES, COMMANDS, PLANNED_COMMANDS, type CommandName } from './command-names.ts'
import { note, tell, type CommandEnd, type CommandPlace } from './command-place.ts'
import { showWho, tellOne } from './correspond.ts'
import { exportConversation } from './export-conversation.ts'
import { init } from './init.ts'
import { hintOf, permissions } from './permissions.ts'
import { resume } from './resume.ts'
import { rewind } from './rewind.ts'
import { tasks } from './tasks.ts'
import {
  agentRows,
  besideText,
  dayText,
  doctorRows,
  hookRows,
  statusRows,
  type NamedRow,
} from './tell-state.ts'
import { showContext, undoPicked } from './show-context.ts'

export async function runCommand(text: string, place: CommandPlace): Promise<CommandEnd> {
  const end = text.search(/\s/)
  const typed = text.slice('/'.length, end === -1 ? text.length : end)
  const words = end === -1 ? '' : text.slice(end)
  const name = findCommand(typed)
  if (!name) return note(unknownText(typed), place)
  try {
    return await runNamed(name, words.trim(), place)
  } catch (error) {
    return note(sentenceOf(error), place)
  }
}

async function shutdown(place: CommandPlace): Promise<undefined> {
  if (!place.team) return note('this conversation leads no team; `palimpsest team "goal"` starts one', place)
  await place.team.end()
  return undefined
}

function unknownText(typed: string): string {
  if (PLANNED_COMMANDS.includes(typed)) return `/${typed} is not built yet; /help lists what is`
  const similar = findSimilarName(typed, COMMAND_NAMES)
  const meant = similar === undefined ? '' : ` Did you mean /${similar}?`
  return `there is no command /${typed}.${meant} /help lists all of them`
}

/** Finds a command by its name, or by a prefix that only it has. */
function findCommand(typed: string): CommandName | undefined {
  if (typed === 'exit') return 'quit'
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
      return words === '' ? await cost(place) : await limitDay(words, place)
    case 'model':
      return await changeModel(words, place)
    case 'permissions':
      return await permissions(words, place)
    case 'plan':
      return plan(place)
    case 'shutdown':
      return await shutdown(place)
    case 'clear':
      return { next: { ...wishes, chosen: undefined, session: { kind: 'new' } } }
    case 'resume':
      return await resume(words, place)
    case 'rewind':
      return await rewind(place)
    case 'undo':
      return await undo(words, place)
    case 'memory':
      return print(await memoryRows(conversation.prepared.opened.project, place.world), place)
    case 'dream':
      return await dream(place)
    case 'tasks':
      return await tasks(words, place)
    case 'agents':
      return await agents(words, place)
    case 'who':
      return await showWho(place)
    case 'tell':
      return await tellOne(words, place)
    case 'init':
      return await init(place)
    case 'status':
      return printRows(statusRows(place), place)
    case 'hooks':
      return print(await hookRows(place), place)
    case 'doctor':
      return printRows(await doctorRows(place), place)
    case 'export':
      return await exportConversation(words || `palimpsest-${conversation.id.slice(0, ID_CHARS)}.txt`, place)
    default:
      return name satisfies never
  }
}

function help(place: CommandPlace): undefined {
  const commands = COMMANDS.map(({ name, words, summary }) => [`/${name} ${words}`, summary] as const)
  const keys = [SHELL, MEMORY, ...place.ui.ways.keys]
  const toRow = ([key, text]: readonly [string, string]): NamedRow => ({
    name: `  ${key.padEnd(KEY_COLUMNS)}`,
    text,
  })
  return printRows([...commands.map(toRow), { name: '', text: '' }, ...keys.map(toRow)], place)
}

const SHELL = ['!command', 'run a command; its output joins the conversation'] as const
const MEMORY = ['# text', 'add a memory to the project, for later sessions'] as const
/** With the margin, still under a third of the narrowest usual screen, so that wrapped text can hang below itself. */
const KEY_COLUMNS = 23

async function agents(words: string, place: CommandPlace): Promise<undefined> {
  const [what = '', name = ''] = words.split(/\s+/)
  if (what === 'create') return await createType(name, place)
  if (what === 'edit') return await editType(name, place)
  if (what !== '') return note('type /agents, /agents create [NAME] or /agents edit NAME', place)
  return printRows(await agentRows(place), place)
}

async function compact(instructions: string, place: CommandPlace): Promise<undefined> {
  const { conversation, follow, interruptible, ui } = place
  if (!conversation.prepared.reading().compactEnabled)
    return note('not compacted, because DISABLE_COMPACT is set. Unset it', place)
  ui.setLive({ activity: 'Compacting' })
  await interruptible(async (signal) => {
    const result = await follow(conversation.compact({ instructions: instructions || undefined }, signal))
    if (result.kind === 'compacted') ui.show([[]])
    else note(result.why, place)
  }, 'cancelled: the conversation is unchanged')
  return undefined
}

async function cost(place: CommandPlace): Promise<undefined> {
  const { conversation } = place
  await drive(conversation.settle(0))
  const { costs } = await readHistory(conversation.prepared.opened.file.path, undefined)
  const { messages, costUsd: billedUsd, estimatedUsd = 0 } = conversation.totals()
  // Before the first message no entry can record it.
  const dreamsUsd = conversation.prepared.dreaming.waitingUsd()
  const costUsd = billedUsd + dreamsUsd
  const { used, isExact, promptTokens, readTokens } = conversation.figures()
  const hits =
    promptTokens === 0
      ? 'no request yet'
      : `${((readTokens / promptTokens) * 100).toFixed(1)}% of ${promptTokens} prompt tokens came from the cache`
  const bySource = dreamsUsd > 0 ? { ...costs, dream: (costs['dream'] ?? 0) + dreamsUsd } : costs
  const parts = Object.entries(bySource).map(([source, usd]) => `${source} $${usd.toFixed(4)}`)
  return print(
    [
      `${estimatedUsd > 0 ? '~' : ''}$${costUsd.toFixed(4)} for ${messages} messages; the conversation holds ${isExact ? '' : '~'}${used} tokens`,
      ...(parts.length > 1 ? [parts.join(', ')] : []),
      ...(estimatedUsd > 0
        ? [
            `$${estimatedUsd.toFixed(4)} of that is estimated: the provider does not report the cost of an answer that was stopped`,
          ]
        : []),
      hits,
      besideText(place),
      `today: ${dayText(conversation.prepared.day)}`,
    ],
    place,
  )
}

/** `day 5`: the limit from now on, in every session. */
async function limitDay(words: string, place: CommandPlace): Promise<undefined> {
  const [, typed = ''] = /^day\s+\$?(\d+(?:\.\d+)?|off)$/.exec(words) ?? []
  if (typed === '') return note('type /cost day 5 for at most $5 a day, or /cost day off', place)
  const usd = typed === 'off' ? undefined : Number(typed)
  const { day } = place.conversation.prepared
  await setOwnDailyLimit(palimpsestHome(place.world), usd)
  day.setLimit(usd)
  return tell(`today: ${dayText(day)}`, place)
}

function plan(place: CommandPlace): undefined {
  const { permissions } = place.conversation.prepared
  permissions.setMode(permissions.mode() === 'plan' ? 'default' : 'plan')
  place.conversation.keepChoices()
  return tell(`mode ${modeWords(permissions.mode())}${hintOf(place)}`, place)
}

async function undo(typed: string, place: CommandPlace): Promise<undefined> {
  const removals = place.conversation.log().filter(isRemoval)
  if (removals.length === 0) return note('nothing has been removed from the window yet', place)
  if (typed === '') return await undoPicked(place)
  const found = findById(typed, removals, 'removals')
  if (!found) return note(`no removal has the id "${typed}"; /undo alone lists them`, place)
  await undoRemoval(found.id, place)
  return undefined
}

function print(rows: readonly string[], { ui }: Pick<CommandPlace, 'ui'>): undefined {
  ui.show([...rows.map((row) => line(row)), []])
  return undefined
}

/** Text that does not fit wraps below its own start, not below the names. */
function printRows(rows: readonly NamedRow[], { ui }: Pick<CommandPlace, 'ui'>): undefined {
  const lines = rows.flatMap(({ name, text }) => {
    const hang = line(' '.repeat(Math.min(name.length + 1, KEY_COLUMNS + 3)))
    return wrapLine(line(`${name} ${text}`), ui.columns(), hang)
  })
  ui.show([...lines, []])
  return undefined
}

async function dream(place: CommandPlace): Promise<undefined> {
  const { isStarted, text } = await place.conversation.prepared.dreaming.dreamNow()
  return isStarted ? tell(text, place) : note(text, place)
}
