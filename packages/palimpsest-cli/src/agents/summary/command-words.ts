import { basename } from 'node:path'

// What a shell command is about, in a few words: its first part that does something, without the preparation.

export interface CallWords {
  readonly verb: string
  /** Names a thing. */
  readonly thing: string
  /** For a search: what it looks for. Absent otherwise. */
  readonly search?: string | undefined
  readonly place?: string | undefined
}

/** The beginning of a command says what it does. */
const COMMAND_CHARS_MAX = 2_000
const JOINTS = /&&|\|\||[;|\n]/
const LEADING = new Set([
  'cd',
  'export',
  'set',
  'source',
  '.',
  'echo',
  'true',
  'pwd',
  'sleep',
  'which',
  'test',
])
/** Run the command that follows them; those in `WITH_VALUE` take a value first. */
const WRAPPERS = new Set(['sudo', 'time', 'npx', 'env', 'command', 'nohup', 'uv', 'poetry', 'run', 'exec'])
const WITH_VALUE = new Set(['timeout', 'nice'])
const READERS = new Set(['cat', 'head', 'tail', 'sed', 'less', 'nl', 'bat', 'wc', 'awk', 'jq', 'xxd'])
const SEARCHERS = new Set(['grep', 'rg', 'ag', 'egrep', 'fgrep'])
const LISTERS = new Set(['ls', 'find', 'tree', 'fd', 'du'])
const INTERPRETERS: { readonly [program: string]: string } = {
  python: 'Python',
  python3: 'Python',
  node: 'Node',
  bash: 'shell',
  sh: 'shell',
  ruby: 'Ruby',
  perl: 'Perl',
}
const CHANGERS: { readonly [program: string]: string } = {
  mv: 'Moving',
  cp: 'Copying',
  rm: 'Removing',
  mkdir: 'Making the folder',
  touch: 'Making the file',
  chmod: 'Changing the mode of',
  tar: 'Packing or unpacking',
}

export function commandWords(command: string): CallWords {
  const parts = command
    .slice(0, COMMAND_CHARS_MAX)
    .split(JOINTS)
    .map(wordsIn)
    .filter(([first]) => first !== undefined)
  const words = parts.find((part, at) => !isLeading(part, at === parts.length - 1)) ?? parts[0] ?? []
  const [program = 'command', ...rest] = words
  const name = basename(program)
  const args = rest.filter((word) => !word.startsWith('-') && !/^[<>&\d]/.test(word))
  const last = args.at(-1)
  if (SEARCHERS.has(name)) return searchWords(args[0] ?? '', args[1])
  if (name === 'git' && args[0] === 'grep') return searchWords(args[1] ?? '', args[2])
  if (READERS.has(name)) {
    // A program written out in the arguments is not a file.
    const file = last !== undefined && /^[\w./@~-]+$/.test(last) ? basename(last) : undefined
    return file === undefined
      ? { verb: 'Running', thing: `the command ${name}` }
      : { verb: 'Reading', thing: file, place: folderOf(last ?? '') }
  }
  if (LISTERS.has(name)) return { verb: 'Listing', thing: `files in ${placeOf(args[0])}` }
  const language = INTERPRETERS[name]
  if (language !== undefined) {
    const file = args[0] !== undefined && /\.\w+$/.test(args[0]) ? basename(args[0]) : undefined
    return { verb: 'Running', thing: file === undefined ? `a ${language} script` : `the script ${file}` }
  }
  // Never shows its other arguments: they may hold keys.
  if (name === 'curl' || name === 'wget')
    return {
      verb: 'Fetching a page from',
      thing: shortName(args.find((word) => /^https?:/.test(word)) ?? 'the web'),
    }
  const change = CHANGERS[name]
  if (change !== undefined) return { verb: change, thing: shortName(args[0] ?? 'something') }
  return { verb: 'Running', thing: programWords(name, args) }
}

/** The command prepares the next one, or announces it. */
function isLeading([first = '', second]: readonly string[], isLast: boolean): boolean {
  return first.startsWith('#') || LEADING.has(first) || (first === 'git' && second === 'add' && !isLast)
}

/** Without variables, and without wrappers that only run the rest. */
function wordsIn(text: string): readonly string[] {
  const words = (text.match(/"[^"]*"|'[^']*'|[^\s"']+/g) ?? []).map((word) =>
    word.replaceAll(/^["']|["']$/g, ''),
  )
  let at = 0
  while (at < words.length) {
    const word = words[at] ?? ''
    if (WITH_VALUE.has(word)) at += 2
    else if (/^\w+=/.test(word) || WRAPPERS.has(word) || word === '(' || word === '{') at++
    else break
  }
  return words.slice(at)
}

/** Programs whose subcommands have subcommands. */
const SUBCOMMANDS = new Set(['gh', 'docker', 'kubectl', 'aws', 'gcloud'])

/** `npm run build`, `git log`, `vitest queue.test.ts`. */
function programWords(name: string, args: readonly string[]): string {
  const [first, second] = args
  if (first === undefined) return `the command ${name}`
  if (second !== undefined && (first === 'run' || SUBCOMMANDS.has(name)))
    return `${name} ${first} ${shortName(second)}`
  const file = args.at(-1)
  if (name === 'git' && file !== undefined && /\.\w+$/.test(file)) return `git ${first} on ${shortName(file)}`
  return /[./]/.test(first) ? `${name} on ${shortName(first)}` : `${name} ${shortName(first)}`
}

export function searchWords(pattern: string, path: string | undefined): CallWords {
  const search = patternWord(pattern)
  const place = path === undefined || path === '.' ? undefined : shortName(path)
  return { verb: 'Searching for', thing: search, search, place }
}

/** The most telling word of a pattern. */
export function patternWord(pattern: string): string {
  const [first = ''] = pattern.slice(0, COMMAND_CHARS_MAX).split('|')
  if (/^[\w-]+ [\w-]+$/.test(first)) return first
  const words =
    first.replaceAll(/\\[bBdwsSDW]/g, ' ').match(/[\p{L}_$][\p{L}\p{N}_.-]*[\p{L}\p{N}_]|\p{L}+/gu) ?? []
  return words.toSorted((a, b) => b.length - a.length)[0] ?? 'a pattern'
}

function placeOf(path: string | undefined): string {
  return path === undefined || path === '.' || path === './' ? 'the folder' : shortName(path)
}

export function folderOf(path: string): string | undefined {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.')
  return parts.length < 2 ? undefined : parts.at(-2)
}

/** The last part of a path, or the host of an address. */
function shortName(text: string): string {
  const host = /^\w+:\/\/(?:[^@/]*@)?([^/:?#]+)/.exec(text)?.[1]
  return host ?? (basename(text) || text)
}
