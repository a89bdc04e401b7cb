import { realpath } from 'node:fs/promises'
import { join } from 'node:path'

import { StorageError, UsageError } from 'palimpsest'
import { readPlainText } from 'palimpsest/node'

import { systemCode } from '../files/system-code.ts'
import { JsonTextError, lineAt, parseJsonText } from './json-text.ts'
import { SETTINGS_SHAPE, type Settings, type SettingsFile } from './settings-shape.ts'
import type { Complaint, Reading, SettingsSource } from './shape.ts'

// The user's settings, the project's once the folder is trusted, and those of --settings. Later ones win, and lists grow (the shape says
// which). A file that cannot be read, in part or as a whole, is reported with line and fix; everything else still counts.

export interface SettingsProblem {
  readonly file: string
  /** Absent if the file as a whole cannot be read. */
  readonly line?: number
  readonly severity: 'error' | 'warning'
  readonly message: string
}

export interface LoadedSettings {
  readonly settings: Settings
  readonly problems: readonly SettingsProblem[]
}

export interface SettingsPlaces {
  /** PALIMPSEST_HOME. */
  readonly home: string
  readonly projectFolder: string
  readonly isTrusted: boolean
  /** --settings FILE. */
  readonly file?: string
}

export function projectSettingsPath(projectFolder: string): string {
  return join(projectFolder, '.palimpsest', 'settings.json')
}

export async function loadSettings({
  home,
  projectFolder,
  isTrusted,
  file,
}: SettingsPlaces): Promise<LoadedSettings> {
  const userPath = join(home, 'settings.json')
  const projectPath = projectSettingsPath(projectFolder)
  const isOne =
    (await realpath(userPath).catch(() => userPath)) ===
    (await realpath(projectPath).catch(() => projectPath))
  const places: readonly { readonly path: string; readonly source: SettingsSource; readonly base: string }[] =
    [
      { path: userPath, source: 'user', base: home },
      ...(isTrusted && !isOne
        ? [{ path: projectPath, source: 'project' as const, base: projectFolder }]
        : []),
      ...(file === undefined ? [] : [{ path: file, source: 'flag' as const, base: projectFolder }]),
    ]
  const problems: SettingsProblem[] = []
  let settings = SETTINGS_SHAPE.none
  for (const { path, source, base } of places) {
    const read = await readSettings(path, { source, base })
    problems.push(...read.problems)
    if (read.value !== undefined) settings = SETTINGS_SHAPE.add(settings, read.value)
  }
  return { settings, problems }
}

/** For callers that cannot continue with half of the settings: throws all errors in one text. */
export function requireSettings({ settings, problems }: LoadedSettings): Settings {
  const errors = problems.filter(({ severity }) => severity === 'error')
  if (errors.length === 0) return settings
  throw new UsageError(errors.map(problemLine).join('\n'))
}

export function problemLine({ file, line, message }: SettingsProblem): string {
  return `${file}${line === undefined ? '' : `:${line}`}: ${message}`
}

interface ReadSettings {
  readonly value?: SettingsFile
  readonly problems: readonly SettingsProblem[]
}

type Origin = Pick<Reading, 'source' | 'base'>

async function readSettings(path: string, origin: Origin): Promise<ReadSettings> {
  let text: string
  try {
    text = await readPlainText(path)
  } catch (error) {
    const code = systemCode(error)
    if (code === 'ENOENT' && origin.source !== 'flag') return { problems: [] }
    const message = `cannot read the settings: ${whyUnreadable(error, code)}`
    return { problems: [{ file: path, severity: 'error', message }] }
  }
  return parseSettings(text, path, origin)
}

function whyUnreadable(error: unknown, code: string | undefined): string {
  if (error instanceof StorageError) return error.message
  if (code === 'ENOENT') return 'there is no such file. Check the path'
  if (code === 'ENOTDIR') return 'a part of the path is a file, not a folder. Move that file away'
  return `${code ?? String(error)}. Check the path and its mode`
}

export function parseSettings(text: string, path: string, origin: Origin): ReadSettings {
  if (text.trim() === '') return { problems: [] }
  const problems: SettingsProblem[] = []
  try {
    const complain = ({ at, severity, message }: Complaint): void =>
      void problems.push({ file: path, line: lineAt(text, at), severity, message })
    const value = SETTINGS_SHAPE.read(parseJsonText(text), '', { ...origin, complain })
    return value === undefined ? { problems } : { value, problems }
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error
    const message = `this is not valid JSON: ${error.message}. Palimpsest does not start until you fix it`
    return { problems: [{ file: path, line: lineAt(text, error.at), severity: 'error', message }] }
  }
}
