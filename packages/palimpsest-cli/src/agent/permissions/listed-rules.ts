import { join } from 'node:path'

import { loadSettings, projectSettingsPath } from '../settings/load-settings.ts'
import { rulesOf } from '../settings/settings-shape.ts'
import { isTrusted } from '../settings/trust.ts'
import { openStoredRules } from './always/stored-rules.ts'
import type { Rule } from './rule.ts'

// Every rule that holds, with its source: users who wonder why they are asked, or are not, find the line here.

export type RuleSource =
  /** The user's `settings.json`. */
  | 'user'
  | 'project'
  /** Given with "always", for this folder. */
  | 'always'
  /** --settings or --allowed-tools: only for this run. */
  | 'flag'

export interface ListedRule {
  readonly rule: Rule
  readonly source: RuleSource
  /** The file or the flag. */
  readonly where: string
}

export interface RulePlaces {
  readonly home: string
  readonly projectFolder: string
  /** The folder that stores the rules given with "always". */
  readonly projectHome: string
  readonly cwd: string
  readonly settingsFile?: string | undefined
  /** --allowed-tools */
  readonly allowed: readonly Rule[]
}

export async function listRules(places: RulePlaces): Promise<readonly ListedRule[]> {
  const { home, projectFolder, projectHome, cwd, settingsFile, allowed } = places
  const load = async (trusts: boolean, file?: string): Promise<readonly Rule[]> => {
    const at = { home, projectFolder, isTrusted: trusts }
    return rulesOf((await loadSettings(file === undefined ? at : { ...at, file })).settings)
  }
  const trusted = await isTrusted(home, projectFolder)
  const user = await load(false)
  const withProject = trusted ? await load(true) : user
  const withFile = settingsFile === undefined ? withProject : await load(trusted, settingsFile)
  const stored = await openStoredRules(projectHome, cwd)
  const listed = (rules: readonly Rule[], source: RuleSource, where: string): readonly ListedRule[] =>
    rules.map((rule) => ({ rule, source, where }))
  return [
    ...listed(user, 'user', join(home, 'settings.json')),
    ...listed(without(withProject, user), 'project', projectSettingsPath(projectFolder)),
    ...listed(without(withFile, withProject), 'flag', settingsFile ?? ''),
    ...listed(stored.rules, 'always', join(projectHome, 'allowed.json')),
    ...listed(allowed, 'flag', '--allowed-tools'),
  ]
}

function without(rules: readonly Rule[], known: readonly Rule[]): readonly Rule[] {
  return rules.filter(
    (rule) => !known.some(({ text, effect }) => text === rule.text && effect === rule.effect),
  )
}
