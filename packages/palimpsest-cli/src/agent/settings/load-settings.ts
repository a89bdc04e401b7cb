import { realpath } from 'node:fs/promises'
import { isAbsolute, join, resolve } from 'node:path'

import { StorageError, UsageError } from 'palimpsest'
import type { AnswerTimes } from 'palimpsest/providers/anthropic'
import { parseModelName, type Json } from 'palimpsest/wire'
import { readPlainText } from 'palimpsest/node'

import type { PermissionMode } from '../permissions/permission-mode.ts'
import type { Rule } from '../permissions/rule.ts'
import { systemCode } from '../refusal.ts'
import type { SandboxPolicy } from '../sandbox/sandbox.ts'
import { JsonTextError, lineAt, parseJsonText } from './json-text.ts'
import { SETTINGS_SHAPE, type SettingsFile } from './settings-shape.ts'

// The user's settings, the project's once the folder is trusted, and those of --settings; later ones win, lists grow. A file that
// cannot be read in part or whole is named with line and cure; whatever else was said stays.

export type SettingsSource = 'user' | 'project' | 'flag'

export interface SettingsProblem {
  readonly file: string
  /** Left out where the file as a whole cannot be read. */
  readonly line?: number
  readonly severity: 'error' | 'warning'
  readonly message: string
}

export interface Settings {
  readonly model?: string
  readonly baseUrl?: { readonly url: string; readonly from: SettingsSource }
  readonly rules: readonly Rule[]
  readonly additionalFolders: readonly string[]
  readonly mode?: PermissionMode
  readonly sandbox?: SandboxPolicy
  readonly env: { readonly [name: string]: string }
  readonly hooks: { readonly [event: string]: readonly Json[] }
  readonly disableAllHooks?: boolean
  readonly autoCompactEnabled?: boolean
  /** The model that writes summaries. */
  readonly summaryModel?: string
  /** How much a compaction leaves. */
  readonly keep?: 'lean' | 'rich'
  /** Compactions by threshold are asked about first. */
  readonly confirmsCompaction?: boolean
  /** Bought for the messages. */
  readonly cacheLifetime?: 'auto' | '5m' | '1h'
  /** Results are cleared after so long a pause, and so many stay. */
  readonly clearingGapMinutes?: number
  readonly clearingKeeps?: number
  readonly workingWindow?: number | 'full'
  readonly sessionMemory?: 'computed' | 'eager' | 'off'
  readonly flagsUrl?: string
  readonly maxCostUsd?: number
  /** How long an answer is waited for. */
  readonly answerTimes?: Partial<AnswerTimes>
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

const NOTHING: Settings = { rules: [], additionalFolders: [], env: {}, hooks: {} }

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
  let settings = NOTHING
  for (const { path, source, base } of places) {
    const read = await readSettings(path, source === 'flag')
    problems.push(...read.problems)
    if (read.value === undefined) continue
    const found = source === 'project' ? withinBounds(read.value, path, problems) : read.value
    settings = merge(settings, found, source, base)
  }
  return { settings, problems }
}

/** For callers that cannot go on with half of the settings: all errors in one text. */
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

async function readSettings(path: string, mustExist: boolean): Promise<ReadSettings> {
  let text: string
  try {
    text = await readPlainText(path)
  } catch (error) {
    const code = systemCode(error)
    if (code === 'ENOENT' && !mustExist) return { problems: [] }
    const message = `the settings cannot be read: ${whyUnreadable(error, code)}`
    return { problems: [{ file: path, severity: 'error', message }] }
  }
  return parseSettings(text, path)
}

function whyUnreadable(error: unknown, code: string | undefined): string {
  if (error instanceof StorageError) return error.message
  if (code === 'ENOENT') return 'there is no such file. Check the path'
  if (code === 'ENOTDIR') return 'a part of the path is a file, not a folder. Move that file away'
  return `${code ?? String(error)}. Check the path and its mode`
}

export function parseSettings(text: string, path: string): ReadSettings {
  if (text.trim() === '') return { problems: [] }
  const problems: SettingsProblem[] = []
  try {
    const value = SETTINGS_SHAPE.read(parseJsonText(text), '', ({ at, severity, message }) => {
      problems.push({ file: path, line: lineAt(text, at), severity, message })
    })
    return value === undefined ? { problems } : { value, problems }
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error
    const message = `this is not valid JSON: ${error.message}. Nothing of the file is used until it is fixed`
    return { problems: [{ file: path, line: lineAt(text, error.at), severity: 'error', message }] }
  }
}

/** A project may narrow what happens unasked, not lift it altogether; and it names nobody who may switch mechanisms off. */
function withinBounds(file: SettingsFile, path: string, problems: SettingsProblem[]): SettingsFile {
  const warn = (message: string): void =>
    void problems.push({ file: path, line: 1, severity: 'warning', message })
  const { flagsUrl, permissions, sandbox, ...others } = file
  const rest = sandbox === 'required' ? { ...others, sandbox } : others
  if (sandbox !== undefined && sandbox !== 'required')
    warn('"sandbox" can only be "required" in a project. Set it in your own settings')
  if (flagsUrl !== undefined)
    warn('"flagsUrl" cannot be set in a project. Use PALIMPSEST_FLAGS_URL, or your own settings')
  if (permissions === undefined) return rest
  const { defaultMode, ...narrowing } = permissions
  if (defaultMode !== 'bypass') return { ...rest, permissions }
  warn(
    '"permissions.defaultMode" cannot be "bypass" in a project. Use --permission-mode bypass, or your own settings',
  )
  return { ...rest, permissions: narrowing }
}

function merge(before: Settings, file: SettingsFile, source: SettingsSource, base: string): Settings {
  const { allow = [], ask = [], deny = [], additionalDirectories = [], defaultMode } = file.permissions ?? {}
  const { model, autoCompactEnabled, workingWindow, sessionMemory, flagsUrl, maxCostUsd } = file
  const { disableAllHooks, cache, clearing } = file
  return {
    ...before,
    ...(model === undefined ? {} : { model }),
    ...(autoCompactEnabled === undefined ? {} : { autoCompactEnabled }),
    ...(file.compaction?.model === undefined
      ? {}
      : { summaryModel: parseModelName(file.compaction.model).id }),
    ...(file.compaction?.keep === undefined ? {} : { keep: file.compaction.keep }),
    ...(file.compaction?.confirm === undefined ? {} : { confirmsCompaction: file.compaction.confirm }),
    ...(cache?.lifetime === undefined ? {} : { cacheLifetime: cache.lifetime }),
    ...(clearing?.gapMinutes === undefined ? {} : { clearingGapMinutes: clearing.gapMinutes }),
    ...(clearing?.keepResults === undefined ? {} : { clearingKeeps: Math.floor(clearing.keepResults) }),
    ...(disableAllHooks === undefined ? {} : { disableAllHooks }),
    ...(workingWindow === undefined ? {} : { workingWindow }),
    ...(sessionMemory === undefined ? {} : { sessionMemory }),
    ...(flagsUrl === undefined ? {} : { flagsUrl }),
    ...(maxCostUsd === undefined ? {} : { maxCostUsd }),
    ...(defaultMode === undefined ? {} : { mode: defaultMode }),
    ...(file.sandbox === undefined ? {} : { sandbox: file.sandbox }),
    ...(file.baseUrl === undefined ? {} : { baseUrl: { url: file.baseUrl, from: source } }),
    rules: [...before.rules, ...allow, ...ask, ...deny],
    additionalFolders: [
      ...before.additionalFolders,
      ...additionalDirectories.map((folder) => (isAbsolute(folder) ? folder : resolve(base, folder))),
    ],
    env: { ...before.env, ...file.env },
    hooks: mergeHooks(before.hooks, file.hooks ?? {}),
    ...(file.answers === undefined ? {} : { answerTimes: { ...before.answerTimes, ...timesIn(file) } }),
  }
}

const SECOND_MS = 1_000

function timesIn({ answers = {} }: SettingsFile): Partial<AnswerTimes> {
  const { silentSeconds, stuckSeconds, wholeSeconds } = answers
  return {
    ...(silentSeconds === undefined ? {} : { silentMsMax: silentSeconds * SECOND_MS }),
    ...(stuckSeconds === undefined ? {} : { stuckMsMax: stuckSeconds * SECOND_MS }),
    ...(wholeSeconds === undefined ? {} : { wholeMsMax: wholeSeconds * SECOND_MS }),
  }
}

function mergeHooks(before: Settings['hooks'], more: { readonly [event: string]: Json }): Settings['hooks'] {
  const merged = new Map(Object.entries(before))
  for (const [event, groups] of Object.entries(more)) {
    merged.set(event, [...(merged.get(event) ?? []), ...(isList(groups) ? groups : [groups])])
  }
  return Object.fromEntries(merged)
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value)
}
