import { BACKGROUND_ALLOWANCE_USD, BACKGROUND_SHARE_MAX } from 'palimpsest/engine'
import { fullAt } from 'palimpsest/tokens'

import { readHooks } from '../../agent/hooks/read-hooks.ts'
import { toPrintable } from '../../agent/printable.ts'
import { loadSettings } from '../../agent/settings/load-settings.ts'
import { isTrusted } from '../../agent/settings/trust.ts'
import type { AgentTypes } from '../../agents/kinds/agent-type.ts'
import { loadAgentTypes } from '../../agents/kinds/load-agent-types.ts'
import { problemLines, aboutType } from '../../agents/kinds/show-types.ts'
import { DAILY_LIMIT } from '../../run/limits/day-purse.ts'
import { palimpsestHome } from '../../run/palimpsest-home.ts'
import type { PreparedRun } from '../../run/prepare-run.ts'
import { shownPath } from '../host/shown-path.ts'
import { modeWords } from '../screen/mode-words.ts'
import type { CommandPlace } from './command-place.ts'

// The current state, as rows to print: `/status`, `/hooks`, `/agents`, `/doctor`.

export interface NamedRow {
  /** Padded to the width of the longest name. */
  readonly name: string
  readonly text: string
}

export function statusRows({ conversation, wishes, world }: CommandPlace): readonly NamedRow[] {
  const { prepared, facts } = conversation
  const { instructionPaths, about, permissions, opened } = prepared
  const { costUsd, messages } = conversation.totals()
  const files = instructionPaths.map((path) => shownPath(path, wishes.cwd, world.userHome))
  return [
    ['version', world.version],
    ['model', `${facts.model}, ${about}`],
    [
      'window',
      `${inEnglish(facts.window.window)} tokens; compacts at ${inEnglish(fullAt(facts.thresholds))}`,
    ],
    ['folder', wishes.cwd],
    ['permissions', `${modeWords(permissions.mode())} (/permissions lists rules)`],
    ['instructions', files.length === 0 ? 'none; /init writes AGENTS.md' : files.join(', ')],
    ['session', `${conversation.id}, ${messages} messages, $${costUsd.toFixed(4)}`],
    ['today', dayText(prepared.day)],
    ['transcript', shownPath(opened.file.path, wishes.cwd, world.userHome)],
  ].map(([name = '', text = '']) => ({ name: `  ${name.padEnd(NAME_COLUMNS)}`, text: toPrintable(text) }))
}

function inEnglish(count: number): string {
  return Math.round(count).toLocaleString('en')
}

/** What all sessions of the day have cost, and the limit. */
export function dayText({ figures, maxUsd }: PreparedRun['day']): string {
  const spent = `$${figures().spentUsd.toFixed(4)} in all sessions`
  const max = maxUsd()
  return max === undefined
    ? `${spent}; /cost day 5 sets a limit`
    : `${spent}, of at most $${max} a day (setting ${DAILY_LIMIT})`
}

/** What background calls have cost in the project, and the limit. */
export function besideText({ conversation }: CommandPlace): string {
  const { costUsd, besideUsd = 0 } = conversation.totals()
  const others = conversation.prepared.setup.spending?.elsewhere?.() ?? { totalUsd: 0, besideUsd: 0 }
  const [beside, total] = [besideUsd + others.besideUsd, costUsd + others.totalUsd]
  const most = `at most ${BACKGROUND_SHARE_MAX * 100}% of what this project cost in 30 days ($${total.toFixed(4)})`
  return `background work (notes, memories): $${beside.toFixed(4)}; ${most}, or $${BACKGROUND_ALLOWANCE_USD.toFixed(2)} a session`
}

const NAME_COLUMNS = 13

export async function hookRows({ conversation, wishes, world }: CommandPlace): Promise<readonly string[]> {
  const home = palimpsestHome(world)
  const projectFolder = conversation.prepared.opened.project.project
  const trusted = await isTrusted(home, projectFolder)
  const file = wishes.settingsFile === undefined ? {} : { file: wishes.settingsFile }
  const { settings } = await loadSettings({ home, projectFolder, isTrusted: trusted, ...file })
  const { groups, notices } = readHooks(settings.hooks)
  const rows = [...groups].flatMap(([event, found]) =>
    found.flatMap(({ hooks }) =>
      hooks.map(
        ({ command, args = [] }) => `  ${event.padEnd(NAME_COLUMNS + 6)} ${[command, ...args].join(' ')}`,
      ),
    ),
  )
  const off = settings.disableAllHooks ? ['  disableAllHooks is set, so none of them runs'] : []
  const none = rows.length === 0 ? ['  no hooks; docs/hooks.md shows how to set one in settings.json'] : []
  return [...rows, ...none, ...off, ...notices.map((text) => `  ${text}`)].map(toPrintable)
}

const AGENT_COLUMNS = 16

export async function agentTypes({ conversation, world }: CommandPlace): Promise<AgentTypes> {
  const home = palimpsestHome(world)
  const projectFolder = conversation.prepared.opened.project.project
  const trusted = await isTrusted(home, projectFolder)
  return await loadAgentTypes({ projectFolder, home, userHome: world.userHome, isTrusted: trusted })
}

export async function agentRows(place: CommandPlace): Promise<readonly NamedRow[]> {
  const loaded = await agentTypes(place)
  const rows = loaded.types.map((type) => ({
    name: `  ${type.name.padEnd(AGENT_COLUMNS)}`,
    text: aboutType(type),
  }))
  const problems = problemLines(loaded).map((text) => ({ name: ' ', text }))
  const how = { name: ' ', text: '/agents create NAME makes one of your own; /agents edit NAME changes it' }
  return [...rows, ...problems, how].map(({ name, text }) => ({
    name: toPrintable(name),
    text: toPrintable(text),
  }))
}

const MARKS = { good: 'ok  ', note: 'note', bad: 'BAD ' } as const

export async function doctorRows({ world, conversation }: CommandPlace): Promise<readonly NamedRow[]> {
  const { examine } = await import('../../doctor/examine.ts')
  const findings = await examine(palimpsestHome(world), world.nodeVersion, world)
  const { model } = conversation.facts
  const isOther = !findings.some(({ what, text }) => what === 'model' && text.startsWith(`${model} `))
  const here = isOther ? [{ what: 'model', state: 'note' as const, text: `${model} in this session` }] : []
  return [...findings, ...here].map(({ what, state, text }) => ({
    name: `  ${MARKS[state]} ${what.padEnd(NAME_COLUMNS)}`,
    text: toPrintable(text),
  }))
}
