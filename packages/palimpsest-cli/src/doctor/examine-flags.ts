import { explainFlag, findFlag, FLAGS } from 'palimpsest'

import { loadSettings } from '../agent/settings/load-settings.ts'
import { isTrusted } from '../agent/settings/trust.ts'
import { openFlags, type OpenedFlags } from '../flags/open-flags.ts'
import type { World } from '../world.ts'
import type { Finding } from './finding.ts'

const MINUTE_MS = 60_000

/** Which flags differ from their built-in values, and which source says so. Does not ask the service: shows the last known payload. */
export async function examineFlags(home: string, projectFolder: string, world: World): Promise<Finding[]> {
  const { settings } = await loadSettings({
    home,
    projectFolder,
    isTrusted: await isTrusted(home, projectFolder),
  })
  const problems: string[] = []
  const opened = await openFlags(
    {
      home,
      settings,
      attributes: { version: world.version, platform: world.platform },
      report: (problem) => void problems.push(problem),
      trace: () => undefined,
    },
    world,
  )
  const changed = changedFlags(opened)
  const depends = opened.hasRules() ? '; rules about model and session are decided in each session' : ''
  const text = changed.length === 0 ? 'as built in' : changed.join(', ')
  return [
    ...problems.map((problem): Finding => ({ what: 'flags', state: 'bad', text: problem })),
    { what: 'flags', state: changed.length === 0 ? 'good' : 'note', text: `${text}${depends}` },
    ...examineService(opened, world),
  ]
}

function changedFlags({ sources, keys }: OpenedFlags): string[] {
  return [...new Set([...Object.keys(FLAGS), ...keys()])].flatMap((key) => {
    const { value, from } = explainFlag(key, sources) ?? {}
    const flag = findFlag(key)
    if (!flag || from === undefined || value === flag.builtIn) return []
    const shown = typeof value === 'boolean' ? (value ? 'on' : 'off') : value
    return [`${key} ${shown} (${from}${flag.since === 'later' ? ', without effect yet' : ''})`]
  })
}

function examineService({ remote }: OpenedFlags, { now }: World): Finding[] {
  if (!remote) return []
  const fetchedAt = remote.fetchedAt()
  const age = fetchedAt === undefined ? undefined : Math.max(0, Math.round((now() - fetchedAt) / MINUTE_MS))
  const text =
    age === undefined ? `${remote.name} has not answered yet` : `${remote.name} answered ${age} minutes ago`
  return [{ what: 'flag service', state: age === undefined ? 'note' : 'good', text }]
}
