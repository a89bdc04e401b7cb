import { delimiter, isAbsolute } from 'node:path'

import { isInside } from '../paths/real-path.ts'
import { KEY_VARIABLES, URL_VARIABLES } from './key-variables.ts'

// The environment of everything that we start. Our own keys stay with us: every process gets an environment from this file, and none of
// these contains a key.

export interface Environment {
  readonly [name: string]: string | undefined
}

/** Only the functions of this file can make one. */
const KEYLESS: unique symbol = Symbol('keyless')

export interface ChildEnvironment {
  readonly [name: string]: string
  readonly [KEYLESS]: true
}

/** No user is at a terminal: no pager, no editor, no questions. Reading a repository writes no index. */
const FIXED = {
  TERM: 'dumb',
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  MANPAGER: 'cat',
  GIT_EDITOR: 'true',
  GIT_TERMINAL_PROMPT: '0',
  GIT_OPTIONAL_LOCKS: '0',
}

const STANDARD_PATH = '/usr/local/bin:/usr/bin:/bin'

/** For the user's own programs: allowed commands and hooks. */
export function commandEnvironment(env: Environment, cwd: string): ChildEnvironment {
  const { CDPATH: _, ...kept } = withoutKeys(env)
  const path = searchPath(env['PATH'] ?? STANDARD_PATH, cwd)
  return { ...kept, ...FIXED, PATH: path, [KEYLESS]: true }
}

/** How programs print, the user and where they are. Other variables may contain secrets, or change what a program does. */
const KEPT_FOR_READING = new Set(
  'LANG LANGUAGE TZ USER LOGNAME COLUMNS LINES NO_COLOR FORCE_COLOR CI HOME SHELL'.split(' '),
)

/** Counts even if the user works in the root: only an administrator puts programs there. */
const SYSTEM = /^\/(usr\/(local\/)?)?s?bin\/?$/

/** For what runs unasked: variables from a list, and no programs from folders near the working folders. */
export function readingEnvironment(env: Environment, folders: readonly string[]): ChildEnvironment {
  const kept = Object.entries(withoutKeys(env)).filter(
    ([name]) => KEPT_FOR_READING.has(name) || /^LC_[A-Z]+$/.test(name),
  )
  const entries = pathEntries(env['PATH'] ?? STANDARD_PATH).filter(
    (entry) => SYSTEM.test(entry) || !isNear(entry, folders, env['HOME'] ?? '/'),
  )
  return { ...Object.fromEntries(kept), ...FIXED, PATH: entries.join(delimiter), [KEYLESS]: true }
}

/** Variables by which build tools find their own files. */
const KEPT_FOR_BUILDING = new Set(
  'NODE_ENV JAVA_HOME GOROOT GOPATH GOFLAGS CARGO_HOME RUSTUP_HOME NVM_DIR VOLTA_HOME PYENV_ROOT VIRTUAL_ENV PYTHONPATH TERM_PROGRAM'.split(
    ' ',
  ),
)

/** For what writes unasked in the sandbox: a few more variables, and programs of the project too, since the sandbox holds them as well. */
export function buildingEnvironment(env: Environment, cwd: string): ChildEnvironment {
  const kept = Object.entries(withoutKeys(env)).filter(
    ([name]) => KEPT_FOR_READING.has(name) || KEPT_FOR_BUILDING.has(name) || /^LC_[A-Z]+$/.test(name),
  )
  const path = searchPath(env['PATH'] ?? STANDARD_PATH, cwd)
  const git = { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'safe.directory', GIT_CONFIG_VALUE_0: '*' }
  return { ...Object.fromEntries(kept), ...FIXED, ...git, PATH: path, [KEYLESS]: true }
}

/** Folders that everyone shares: two things in one of them have nothing to do with each other. */
const SHARED = new Set(
  '/ /home /Users /root /opt /usr /usr/local /var /tmp /private /private/tmp /mnt /srv'.split(' '),
)

/**
 * Inside a working folder, or inside a folder above it that also belongs to the project: `npx` and the like add programs of every folder
 * above to the search path. Packages belong to the project, wherever they are.
 */
function isNear(entry: string, folders: readonly string[], home: string): boolean {
  if (entry.split('/').includes('node_modules')) return true
  return folders.some((folder) => {
    const common = commonFolder(entry, folder)
    return isInside(folder, entry) || !(SHARED.has(common) || common === home || isInside(common, home))
  })
}

function commonFolder(first: string, second: string): string {
  const [parts, others] = [first.split('/'), second.split('/')]
  const end = parts.findIndex((part, index) => part !== others[index])
  return parts.slice(0, end === -1 ? parts.length : end).join('/') || '/'
}

/** The same environment with more variables. */
export function withVariables(
  env: ChildEnvironment,
  more: { readonly [name: string]: string },
): ChildEnvironment {
  return { ...env, ...withoutKeys(more), [KEYLESS]: true }
}

/** The same environment after a command set some variables and unset others. */
export function changeVariables(
  env: ChildEnvironment,
  changed: { readonly [name: string]: string | undefined },
): ChildEnvironment {
  const kept = Object.entries(env).filter(([name]) => !Object.hasOwn(changed, name))
  return { ...Object.fromEntries(kept), ...withoutKeys(changed), [KEYLESS]: true }
}

/** Shorter values occur in other variables by chance. */
const KEY_CHARS_MIN = 8

/** Without the keys, without variables that contain one under another name, and without addresses that contain a password or token. */
function withoutKeys(env: Environment): { readonly [name: string]: string } {
  const keys = KEY_VARIABLES.flatMap((name) => env[name] ?? []).filter(
    ({ length }) => length >= KEY_CHARS_MIN,
  )
  const isKey = (name: string, value: string): boolean =>
    KEY_VARIABLES.includes(name) ||
    keys.some((key) => value.includes(key)) ||
    (URL_VARIABLES.includes(name) && holdsSecret(value))
  const kept = Object.entries(env).flatMap(([name, value]) =>
    value === undefined || isKey(name, value) ? [] : [[name, value] as const],
  )
  return Object.fromEntries(kept)
}

export function holdsSecret(address: string): boolean {
  const url = URL.parse(address)
  return url !== null && (url.username !== '' || url.password !== '' || url.search !== '')
}

function pathEntries(path: string): readonly string[] {
  return path.split(delimiter).filter((entry) => isAbsolute(entry))
}

/** A project's own folder must not decide what `ls` is: its entries come last, and relative entries are left out. */
function searchPath(path: string, cwd: string): string {
  const isOwn = (entry: string): boolean => isInside(cwd, entry)
  const entries = pathEntries(path)
  // With CDPATH, `cd src` may end anywhere, so `commandEnvironment` leaves it out.
  return [...entries.filter((entry) => !isOwn(entry)), ...entries.filter(isOwn)].join(delimiter)
}
