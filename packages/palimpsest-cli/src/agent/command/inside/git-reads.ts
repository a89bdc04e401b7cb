import type { ShellWord } from '../shell-word.ts'

// Git commands that normally only read. Anything that a repository's configuration makes them do happens in the sandbox.

export interface GitUse {
  /** Why it does not fit the sandbox. Absent: it fits. */
  readonly why?: string
  /** Folders it is told to work in. */
  readonly folders: readonly string[]
}

const READS = new Set(
  `status diff log show shortlog whatchanged rev-list rev-parse ls-files ls-tree cat-file blame annotate describe name-rev merge-base
  show-ref for-each-ref count-objects grep version help check-ignore check-attr check-mailmap check-ref-format cherry range-diff
  diff-tree diff-index diff-files show-branch merge-tree patch-id archive fsck var --version --help`
    .trim()
    .split(/\s+/),
)

type Check = (args: readonly string[]) => boolean

/** With other words these change something. */
const SOMETIMES = new Map<string, Check>([
  ['branch', listsOnly],
  ['tag', listsOnly],
  ['remote', ([first = '-v']) => ['-v', '--verbose', 'get-url'].includes(first)],
  ['stash', ([first]) => first === 'list' || first === 'show'],
  ['worktree', ([first]) => first === 'list'],
  ['reflog', ([first]) => first === undefined || first === 'show' || first === 'exists'],
  ['notes', ([first]) => first === undefined || first === 'list' || first === 'show'],
  ['submodule', ([first]) => first === undefined || first === 'status' || first === 'summary'],
  ['symbolic-ref', (args) => args.filter((word) => !word.startsWith('-')).length < 2],
  ['bisect', ([first]) => first === 'log'],
  ['hash-object', (args) => !args.includes('-w')],
  ['config', readsConfig],
])

const LISTING = /^(-l|--list|--contains|--no-contains|--merged|--no-merged|--points-at|--show-current)(=|$)/
const CHANGING =
  /^(-[dDmMcCfu]|--(delete|move|copy|force|set-upstream|unset-upstream|edit|track|sign|message))/

function listsOnly(args: readonly string[]): boolean {
  if (args.some((word) => CHANGING.test(word))) return false
  return args.some((word) => LISTING.test(word)) || args.every((word) => word.startsWith('-'))
}

/** The sandbox does not have the user's own configuration, so only the repository's own values are worth asking for. */
function readsConfig(args: readonly string[]): boolean {
  if (args.some((word) => /^--(add|unset|replace|rename|remove|edit|global|system)/.test(word))) return false
  const words = args.filter((word) => !word.startsWith('-'))
  if (words.length > 1) return false
  return args.includes('--local') || /^(remote|branch|submodule)\./.test(words[0] ?? '')
}

export function gitUse(words: readonly ShellWord[]): GitUse {
  const folders: string[] = []
  const args = words.map(({ value }) => value)
  let at = 0
  for (; at < args.length; at++) {
    const word = args[at] ?? ''
    if (word === '-C') folders.push(args[++at] ?? '.')
    else if (word === '-c') at++
    else if (!/^(--no-pager|-P|--no-optional-locks|--literal-pathspecs|-p|--paginate)$/.test(word)) break
  }
  const subcommand = args[at] ?? '--help'
  const own = args.slice(at + 1)
  if (words[at] !== undefined && words[at]?.kind !== 'literal')
    return { folders, why: 'its subcommand is computed' }
  const reads = READS.has(subcommand) || SOMETIMES.get(subcommand)?.(own) === true
  if (!reads) return { folders, why: `git ${subcommand} may do more than read` }
  const writes = own.find((word) => /^(--output|-o$|--open-files-in-pager|-O)/.test(word))
  return writes === undefined ? { folders } : { folders, why: `${writes} writes or opens something` }
}
