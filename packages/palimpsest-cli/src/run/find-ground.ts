import { loadSettings, problemLine, requireSettings } from '../agent/settings/load-settings.ts'
import type { Settings } from '../agent/settings/settings-shape.ts'
import { settleTrust, type AskTrust } from '../agent/settings/trust.ts'
import type { World } from '../world.ts'

/** What the user has configured, and in a trusted folder the project. */
export interface Ground {
  readonly isTrusted: boolean
  readonly settings: Settings
  /** Only the user's own settings. */
  readonly userSettings: Settings
  readonly notices: readonly string[]
}

export interface GroundPlaces {
  readonly home: string
  readonly projectFolder: string
  /** --trust */
  readonly trust: boolean
  /** --settings FILE */
  readonly settingsFile?: string | undefined
  /** Absent: there is no one to ask. */
  readonly askTrust?: AskTrust | undefined
}

export async function findGround(places: GroundPlaces, world: World): Promise<Ground> {
  const { home, projectFolder, settingsFile, askTrust } = places
  const trust = await settleTrust({
    home,
    projectFolder,
    flag: places.trust,
    now: world.now,
    ...(askTrust && { ask: askTrust }),
  })
  const file = settingsFile === undefined ? {} : { file: settingsFile }
  const loaded = await loadSettings({ home, projectFolder, isTrusted: trust.trusted, ...file })
  const own = await loadSettings({ home, projectFolder, isTrusted: false, ...file })
  return {
    isTrusted: trust.trusted,
    settings: requireSettings(loaded),
    userSettings: requireSettings(own),
    notices: [
      ...(trust.trusted || trust.notice === undefined ? [] : [trust.notice]),
      ...loaded.problems.filter(({ severity }) => severity === 'warning').map(problemLine),
    ],
  }
}
