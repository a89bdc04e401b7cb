import { join } from 'node:path'

import { loadSettings, projectSettingsPath } from '../settings/load-settings.ts'
import { rulesOf } from '../settings/settings-shape.ts'
import { isTrusted } from '../settings/trust.ts'
import { openStoredRules } from './always/stored-rules.ts'
import type { Rule } from './rule.ts'

// Every rule that holds, with where it comes from: whoever wonders why he is asked, or is not, finds the line here.

export type RuleSource =
  /** `settings.json` of the user. */
  | 'user'
  | 'project'
  /** Given with "always", for this folder. */
  | 'always'
  /** --settings or --allowed-tools: of this run alone. */
  | 'flag'

export interface ListedRule {
  readonly rule: Rule
  readonly source: RuleSource
  /** The file, or the flag. */
  readonly where: string
}

export interface RulePlaces {
  readonly home: string
  readonly projectFolder: string
  /** Where what was allowed with "always" is kept. */
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
