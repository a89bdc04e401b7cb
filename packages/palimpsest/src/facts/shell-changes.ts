import type { FileOperation } from './facts.ts'

// Which files a shell command changes, by the simple forms of common programs. What cannot be read with certainty (variables, globs, loops,
// here-documents) does not count.

export interface FileChange {
  readonly path: string
  readonly operation: Exclude<FileOperation, 'read'>
  /** The beginning of what was put into it. */
  readonly code?: string
  /** The text that it replaced. */
  readonly replaced?: string
}

/** One simple command of a command line, with its files. */
interface Part {
  readonly words: readonly string[]
  readonly redirects: readonly string[]
}

/** Longer command lines are scripts: only their beginning is read. */
const COMMAND_CHARS_MAX = 4_000

/**
 * If the command failed, its last part may have done nothing, but the parts before it ran. Relative paths start where the command changes
 * to first (`cd here && …`), or at `folder`.
 */
export function shellChanges(command: string, failed: boolean, folder?: string): readonly FileChange[] {
  const parts = partsOf(withoutHereDocuments(command.slice(0, COMMAND_CHARS_MAX)))
  const done = failed ? parts.slice(0, -1) : parts
  const changes: FileChange[] = []
  let at = folder
  for (const part of done) {
    const [program, ...rest] = part.words
    if (program === 'cd') at = joinPath(at, rest[0] ?? '')
    else changes.push(...changesOf(part).map((change) => ({ ...change, path: joinPath(at, change.path) })))
  }
  return changes
}

/** Files that a command shows completely. */
export function shellReads(command: string, folder?: string): readonly string[] {
  const [part, ...others] = partsOf(withoutHereDocuments(command.slice(0, COMMAND_CHARS_MAX)))
  if (!part || others.length > 0 || part.words[0] !== 'cat') return []
  return part.words
    .slice(1)
    .filter(isPath)
    .map((path) => joinPath(folder, path))
}

export function joinPath(folder: string | undefined, path: string): string {
  if (path.startsWith('/') || path.startsWith('~') || folder === undefined || folder === '') return tidy(path)
  return tidy(`${folder.replace(/(?<!\/)\/+$/, '')}/${path}`)
}

function tidy(path: string): string {
  return path.replace(/^(?:\.\/)+/, '').replaceAll('/./', '/')
}

function changesOf({ words, redirects }: Part): readonly FileChange[] {
  const changes = redirects.map((path): FileChange => ({ path, operation: 'written' }))
  const [first = '', second = ''] = words
  const isGit = first === 'git'
  const program = isGit ? `git ${second}` : first
  const files = words.slice(isGit ? 2 : 1).filter(isPath)
  return [...changes, ...programChanges(program, words, files)]
}

function programChanges(
  program: string,
  words: readonly string[],
  files: readonly string[],
): readonly FileChange[] {
  const each = (operation: FileChange['operation'], paths: readonly string[]): readonly FileChange[] =>
    paths.map((path) => ({ path, operation }))
  const [from, to] = files
  switch (program) {
    case 'rm':
    case 'git rm':
      return each('deleted', files)
    case 'mv':
    case 'git mv':
      if (from === undefined || to === undefined || files.length > 2) return []
      return [...each('deleted', [from]), ...each('moved', [to])]
    case 'cp':
      return files.length === 2 && to !== undefined ? each('written', [to]) : []
    case 'tee':
      return each('written', files)
    case 'touch':
    case 'mkdir':
      return each('created', files)
    case 'sed':
    case 'perl':
      return words.some((word) => /^-[a-z]*i/.test(word))
        ? each('edited', files.slice(-1).filter(hasExtension))
        : []
    default:
      return []
  }
}

function hasExtension(path: string): boolean {
  return /\.\w+$/.test(path)
}

const PATH = /^[\w./~@+-]+$/

function isPath(word: string): boolean {
  return (
    PATH.test(word) &&
    /[\w~]/.test(word) &&
    !word.startsWith('-') &&
    !word.startsWith('/dev/') &&
    !/^\d+$/.test(word)
  )
}

const HERE_DOCUMENT = /<<-?\s*(["']?)(\w+)(?!\w)\1([^\n]*)\n/g
const FIRST_WORD = /\n[^\S\n]*(\w+)(?=\s|$)/g

/** The body of a here-document is data. An unclosed one extends to the end. */
function withoutHereDocuments(command: string): string {
  const closed = withoutClosed(command)
  const open = /<<-?\s*["']?\w+/.exec(closed)
  return open
    ? closed.slice(0, closed.indexOf('\n', open.index) >>> 0).replace(/<<-?\s*["']?\w+["']?/, ' ')
    : closed
}

/** What follows `<<` on the same line stays. Each word that may end a here-document is found once. */
function withoutClosed(command: string): string {
  const words = [...command.matchAll(FIRST_WORD)]
  let rest = ''
  let done = 0
  for (const { 0: start, 2: word, 3: after, index } of command.matchAll(HERE_DOCUMENT)) {
    if (index < done) continue
    const end = words.find((one) => one[1] === word && one.index >= index + start.length)
    if (!end) continue
    rest += `${command.slice(done, index)} ${after}`
    done = end.index + end[0].length
  }
  return rest + command.slice(done)
}

const TOKEN = /'([^']*)'|"((?:[^"\\]|\\.)*)"|(&&|\|\||[;|\n&])|(\d?>>?|&>>?)(?!&)|(?:\\.|[^\s'"|;&>\\])+|\S/g
const SHELL_PROGRAMS = new Set(['bash', 'sh', 'zsh'])

function partsOf(command: string): readonly Part[] {
  const parts: { words: string[]; redirects: string[] }[] = [{ words: [], redirects: [] }]
  let isTarget = false
  for (const [token, single, double, separator, redirect] of command.matchAll(TOKEN)) {
    const part = parts.at(-1)
    if (!part) break
    const word = single ?? double ?? token
    if (separator !== undefined) parts.push({ words: [], redirects: [] })
    else if (redirect !== undefined) isTarget = !redirect.startsWith('2')
    else if (isTarget) {
      if (isPath(word) && !word.startsWith('&')) part.redirects.push(word)
      isTarget = false
    } else part.words.push(word)
  }
  return parts.filter((part) => part.words.length > 0).flatMap(unwrapped)
}

/** Unwraps `sudo`, assignments, and `bash -lc "…"`. */
function unwrapped(part: Part): readonly Part[] {
  const from = part.words.findIndex((word) => word !== 'sudo' && !/^\w+=/.test(word))
  const words = from < 0 ? [] : part.words.slice(from)
  const [program = '', flag = '', script] = words
  const isScript = SHELL_PROGRAMS.has(program.split('/').at(-1) ?? '') && /^-\w*c$/.test(flag)
  return isScript && script !== undefined ? partsOf(script) : [{ ...part, words }]
}
