import { forgetRule } from '../../agent/permissions/always/stored-rules.ts'
import { listRules, type ListedRule } from '../../agent/permissions/listed-rules.ts'
import { parseRule, type Rule, type RuleEffect } from '../../agent/permissions/rule.ts'
import { toPrintable } from '../../agent/printable.ts'
import { addOwnRule, removeOwnRule } from '../../agent/settings/change-own-settings.ts'
import { palimpsestHome } from '../../run/palimpsest-home.ts'
import { shownPath } from '../host/shown-path.ts'
import { modeWords } from '../screen/mode-words.ts'
import { note, tell, type CommandPlace } from './command-place.ts'

// What may happen unasked: lists every rule with its source, adds one, removes one.

const HOW = '/permissions add Bash(npm test:*) allows a call; ask or deny before the rule does that instead'
const ADD = '\0add'

export async function permissions(words: string, place: CommandPlace): Promise<undefined> {
  const [verb = '', ...rest] = words.split(/\s+/).filter(Boolean)
  if (verb === '') return await showRules(place)
  if (verb === 'add') return await add(rest.join(' '), place)
  if (verb === 'rm' || verb === 'remove') return await remove(rest.join(' '), place)
  return note(`/permissions lists rules. ${HOW}; /permissions rm RULE removes one`, place)
}

/** A list to look at, and to remove rules from. */
async function showRules(place: CommandPlace): Promise<undefined> {
  const listed = await rulesHere(place)
  const mode = modeWords(place.conversation.prepared.permissions.mode())
  const width = Math.max(0, ...listed.map(({ rule }) => rule.text.length))
  const picked = await place.ui.pick({
    title: `Mode: ${mode}${hintOf(place)}. ${listed.length === 0 ? 'There are no rules yet.' : 'Choose a rule to remove it (deny wins over ask, ask over allow):'}`,
    items: [
      { label: '+ add a rule', letter: 'a', value: ADD },
      ...listed.map(({ rule, source, where }, at) => ({
        label: toPrintable(
          `${rule.effect.padEnd('allow'.length)}  ${rule.text.padEnd(Math.min(width, RULE_COLUMNS_MAX))}  ${sourceText(source, where, place)}`,
        ),
        value: String(at),
      })),
    ],
  })
  if (picked === undefined) return undefined
  if (picked === ADD) {
    const text = await place.ui.ask(
      'Which rule? For example: Bash(npm test:*), Edit(src/**), deny Read(.env)',
    )
    return text ? await add(text, place) : undefined
  }
  const chosen = listed[Number(picked)]
  return chosen && (await askRemoval(chosen, place))
}

const RULE_COLUMNS_MAX = 40

/** The line interface has no such key. */
export function hintOf({ ui }: Pick<CommandPlace, 'ui'>): string {
  return ui.ways.keys.some(([key]) => key === 'Shift-Tab') ? ' (Shift-Tab changes it)' : ''
}

async function askRemoval(chosen: ListedRule, place: CommandPlace): Promise<undefined> {
  const answer = await place.ui.pick({
    title: `Remove ${toPrintable(chosen.rule.text)} (${sourceText(chosen.source, chosen.where, place)})?`,
    items: [
      { label: 'Yes, remove it', letter: 'y', value: 'yes' },
      { label: 'No, keep it', letter: 'n', value: 'no' },
    ],
  })
  return answer === 'yes' ? await removeListed(chosen, place) : undefined
}

async function add(words: string, place: CommandPlace): Promise<undefined> {
  const said = words.trim()
  const named = /^(allow|ask|deny)\s/.exec(said)?.[1]
  const effect = named ?? 'allow'
  const text = said.slice(named?.length ?? 0).trimStart()
  if (text === '') return note(HOW, place)
  const parsed = parseRule(text, toEffect(effect))
  if (!parsed.ok) return note(toPrintable(parsed.message), place)
  const { rule } = parsed
  await addOwnRule(palimpsestHome(place.world), rule)
  await place.conversation.prepared.permissions.changeRules((rules) => [...rules, rule])
  return tell(
    `added: ${rule.effect} ${toPrintable(rule.text)}, in every folder, from now on. /permissions rm ${toPrintable(rule.text)} removes it`,
    place,
  )
}

function toEffect(text: string): RuleEffect {
  return text === 'ask' || text === 'deny' ? text : 'allow'
}

async function remove(text: string, place: CommandPlace): Promise<undefined> {
  const found = (await rulesHere(place)).find(({ rule }) => rule.text === text)
  if (!found) return note(`no rule ${toPrintable(text)}; /permissions lists them`, place)
  return await removeListed(found, place)
}

async function removeListed({ rule, source, where }: ListedRule, place: CommandPlace): Promise<undefined> {
  const { conversation, wishes, world } = place
  switch (source) {
    case 'user':
      await removeOwnRule(palimpsestHome(world), rule)
      break
    case 'always':
      await forgetRule(conversation.prepared.opened.project.folder, wishes.cwd, rule)
      break
    case 'flag':
    case 'project':
      break
    default:
      return source satisfies never
  }
  const isSame = (one: Rule): boolean => one.text === rule.text && one.effect === rule.effect
  await conversation.prepared.permissions.changeRules((rules) => rules.filter((one) => !isSame(one)))
  const stays = source === 'user' || source === 'always' ? '' : ` in this session; ${where} still has it`
  return tell(`removed: ${rule.effect} ${toPrintable(rule.text)}${toPrintable(stays)}`, place)
}

async function rulesHere({ conversation, wishes, world }: CommandPlace): Promise<readonly ListedRule[]> {
  const { project } = conversation.prepared.opened
  return await listRules({
    home: palimpsestHome(world),
    projectFolder: project.project,
    projectHome: project.folder,
    cwd: wishes.cwd,
    settingsFile: wishes.settingsFile,
    allowed: wishes.allowed,
  })
}

function sourceText(source: ListedRule['source'], where: string, { wishes, world }: CommandPlace): string {
  switch (source) {
    case 'user':
      return `your settings (${shownPath(where, wishes.cwd, world.userHome)})`
    case 'project':
      return `the project (${shownPath(where, wishes.cwd)})`
    case 'always':
      return 'you chose "always" in this folder'
    case 'flag':
      return `this run (${shownPath(where, wishes.cwd)})`
    default:
      return source satisfies never
  }
}
