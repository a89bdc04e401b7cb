import type { ShellWord } from '../shell-word.ts'
import {
  no,
  proveArguments,
  text,
  type ArgumentGrammar,
  type Proven,
  type ProvenWord,
} from './argument-grammar.ts'

// Git subcommands that only read, for trusted folders whose configuration runs nothing: see `findGitRisk`. Operands are names of commits or
// paths, and only git knows which. So whatever file exists under such a name must be free to read.

const DIFF: ArgumentGrammar = {
  flags: 'puszwbRvq1234567890',
  values: { S: 'text', G: 'text', U: 'number', n: 'number', L: 'text' },
  numeric: 'n',
  long: {
    ...all(
      `stat shortstat numstat name-only name-status cached staged patch no-patch minimal patience histogram ignore-all-space
      ignore-space-change ignore-space-at-eol ignore-blank-lines no-renames raw summary dirstat check full-index no-abbrev exit-code
      quiet binary function-context merge-base text pickaxe-regex pickaxe-all compact-summary no-prefix root no-color`,
      'flag',
    ),
    ...all('color word-diff relative find-renames find-copies abbrev stat', 'word?'),
    ...all('unified inter-hunk-context', 'number'),
    ...all('diff-filter diff-algorithm', 'word'),
  },
}

const LOG: ArgumentGrammar = {
  ...DIFF,
  flags: `${DIFF.flags ?? ''}iEFPgcm`,
  long: {
    ...DIFF.long,
    ...all(
      `oneline graph no-decorate all merges no-merges first-parent reverse follow abbrev-commit no-abbrev-commit topo-order date-order
      author-date-order left-right left-only right-only cherry cherry-pick cherry-mark full-history simplify-by-decoration invert-grep
      regexp-ignore-case extended-regexp fixed-strings perl-regexp all-match parents children walk-reflogs source no-walk no-notes
      boundary relative-date count not numbered email`,
      'flag',
    ),
    ...all('author committer grep since after until before date format pretty exclude group', 'text'),
    ...all('max-count skip min-parents max-parents', 'number'),
    ...all('decorate branches tags remotes', 'word?'),
    glob: 'word',
  },
}

const LISTING = /^(--list|--contains|--no-contains|--merged|--no-merged|--points-at)(=|$)/
/** With a space, these take the next word as their value, even `--`. */
const WITH_EQUALS = all('merged no-merged contains no-contains points-at sort', 'word')
const BRANCHES: ArgumentGrammar = {
  flags: 'arvi',
  long: {
    ...all('all remotes verbose list show-current ignore-case no-abbrev no-column', 'flag'),
    ...all('abbrev color column', 'word?'),
    ...WITH_EQUALS,
    format: 'text',
  },
}
/** Without -v: that has a signature checked. */
const TAGS: ArgumentGrammar = {
  flags: 'li',
  long: {
    ...all('list ignore-case no-column', 'flag'),
    ...all('color column', 'word?'),
    ...WITH_EQUALS,
    format: 'text',
  },
}

const NAMES = all(
  'short abbrev-ref show-toplevel show-prefix show-cdup is-inside-work-tree is-bare-repository git-dir absolute-git-dir verify quiet symbolic all branches tags',
  'flag',
)

const SUBCOMMANDS = new Map<string, ArgumentGrammar>([
  [
    'status',
    {
      flags: 'sbvz',
      values: { u: 'word' },
      long: {
        ...all(
          'short branch long verbose ahead-behind no-ahead-behind renames no-renames show-stash null',
          'flag',
        ),
        ...all('porcelain untracked-files ignored find-renames', 'word?'),
      },
    },
  ],
  ...['diff', 'diff-tree', 'diff-index', 'diff-files'].map((name) => [name, DIFF] as const),
  ...['log', 'show', 'whatchanged', 'rev-list'].map((name) => [name, LOG] as const),
  ['shortlog', { ...LOG, flags: 'snec' }],
  ['branch', BRANCHES],
  ['tag', TAGS],
  ['rev-parse', { long: NAMES }],
  [
    'ls-tree',
    {
      flags: 'drtlz',
      long: { ...all('name-only name-status long full-name full-tree', 'flag'), abbrev: 'word?' },
    },
  ],
  ['merge-base', { flags: 'a', long: all('all octopus is-ancestor independent fork-point', 'flag') }],
  ['show-ref', { flags: 'hds', long: all('head heads tags dereference hash verify quiet', 'flag') }],
  [
    'for-each-ref',
    {
      long: {
        format: 'text',
        sort: 'word',
        count: 'number',
        ...WITH_EQUALS,
      },
    },
  ],
  [
    'ls-files',
    {
      flags: 'zcdmostuv',
      values: { x: 'text' },
      long: all(
        'cached deleted modified others stage exclude-standard full-name error-unmatch eol deduplicate unmerged',
        'flag',
      ),
    },
  ],
  ['cat-file', { flags: 'ptse' }],
  [
    'blame',
    {
      flags: 'wsenflpt',
      values: { L: 'text' },
      long: {
        ...all('porcelain line-porcelain show-name show-number show-email root', 'flag'),
        ...all('since date', 'text'),
      },
    },
  ],
  [
    'describe',
    {
      long: {
        ...all('tags all always long exact-match contains first-parent', 'flag'),
        ...all('abbrev candidates', 'number'),
        ...all('match exclude', 'text'),
      },
    },
  ],
  ['count-objects', { flags: 'vH' }],
  [
    'grep',
    {
      flags: 'niclLwvEFPhHopW',
      values: { e: 'text', A: 'number', B: 'number', C: 'number', m: 'number' },
      long: {
        ...all(
          'line-number ignore-case count files-with-matches name-only word-regexp extended-regexp fixed-strings perl-regexp and or not break heading function-context show-function cached all-match column only-matching',
          'flag',
        ),
        ...all('max-depth context after-context before-context max-count', 'number'),
      },
      first: ['text'],
      instead: ['e'],
    },
  ],
])

/** Grammars by first operand. */
const BY_FIRST = new Map<string, ReadonlyMap<string, ArgumentGrammar>>([
  [
    'remote',
    new Map<string, ArgumentGrammar>([
      ['', { flags: 'v', long: all('verbose', 'flag'), operandsMax: 0 }],
      ['get-url', { long: all('all push', 'flag') }],
    ]),
  ],
  ['stash', new Map([['list', LOG]])],
  [
    'worktree',
    new Map<string, ArgumentGrammar>([
      ['list', { flags: 'v', long: all('porcelain verbose', 'flag'), operandsMax: 0 }],
    ]),
  ],
  ['reflog', new Map([['show', LOG]])],
])

/** Subcommands that get options to compare files with git itself, not with a configured program. */
const COMPARES = new Set('diff diff-tree diff-index diff-files log show whatchanged'.split(' '))

export function proveGit(args: readonly ShellWord[]): Proven {
  const [first] = args
  const own = first?.kind === 'literal' && first.value === '--no-pager' ? args.slice(1) : args
  const [subcommand, ...rest] = own
  if (subcommand?.kind !== 'literal') return no('its subcommand is not plain')
  const name = subcommand.value
  const chosen = choose(name, rest)
  if (chosen === undefined) return no(`git ${name} may do more than read`)
  const lists = rest.some(({ value }) => LISTING.test(value) || (name === 'tag' && value === '-l'))
  if ((name === 'branch' || name === 'tag') && !lists && rest.some(({ value }) => !value.startsWith('-')))
    return no('it may make something new')
  if (!rest.every(({ value }) => isPlainFormat(value))) return no('its format may ask for signatures')
  const proven = proveOperands(chosen.args, chosen.grammar)
  if (!proven.ok) return proven
  const plain = COMPARES.has(name) ? [text('--no-ext-diff'), text('--no-textconv')] : []
  return {
    ok: true,
    words: [text('--no-pager'), text(name), ...chosen.words.map(text), ...plain, ...proven.words],
  }
}

/**
 * A format can ask for a signature, which another program checks. So it may use only the placeholders listed here, for commits and for
 * branches and tags.
 */
const PLACEHOLDER =
  /%(?:%|n|x?[0-9a-fA-F]{2}|[-+ ]?(?:[HhTtPpdDSefbBNsm]|[ac][nNeElLdDrtiIsh]|g[DdnNeEs]|C(?:red|green|blue|reset|\([^()%]*\))|w\([\d, ]*\)|(?:<|>>?|><|>>?<)\|?\([^()%]*\)|\((?:trailers|decorate)(?::[^()%]*)?\))|\(\*?(?:refname|object(?:type|size|name)|deltabase|tree|parent|numparent|object|type|tag|(?:author|committer|tagger)(?:name|email|date)?|creator|creatordate|subject|body|trailers|contents|upstream|push|symref|flag|HEAD|color|worktreepath|align|end|if|then|else|ahead-behind|is-base)(?::[^()%]*)?\))/g
const FORMAT = /^--(?:format|pretty|group)=/

function isPlainFormat(option: string): boolean {
  if (!FORMAT.test(option)) return true
  return !option.replaceAll(PLACEHOLDER, '').includes('%')
}

interface Chosen {
  readonly grammar: ArgumentGrammar
  readonly words: readonly string[]
  readonly args: readonly ShellWord[]
}

function choose(name: string, args: readonly ShellWord[]): Chosen | undefined {
  const plain = SUBCOMMANDS.get(name)
  if (plain !== undefined) return { grammar: plain, words: [], args }
  const forms = BY_FIRST.get(name)
  const [first] = args
  if (first?.kind === 'literal' && !first.value.startsWith('-')) {
    const grammar = forms?.get(first.value)
    return grammar && { grammar, words: [first.value], args: args.slice(1) }
  }
  const bare = forms?.get('')
  return bare && { grammar: bare, words: [], args }
}

/** Words before `--` stay before it: git tries them as a commit first, and only then as a path. */
function proveOperands(args: readonly ShellWord[], grammar: ArgumentGrammar): Proven {
  const end = args.findIndex(({ value }) => value === '--')
  const before = end === -1 ? args : args.slice(0, end)
  const after = end === -1 ? [] : args.slice(end + 1)
  const head = proveArguments(before, { rest: 'name', ...grammar })
  if (!head.ok) return head
  const tail = proveArguments(after.length === 0 ? [] : [DASHES, ...after], { rest: 'name' })
  if (!tail.ok) return tail
  const words: readonly ProvenWord[] = head.words.filter(
    (word) => !(word.kind === 'text' && word.text === '--'),
  )
  return { ok: true, words: [...words, ...(end === -1 ? [] : [text('--')]), ...tail.words.slice(1)] }
}

const DASHES: ShellWord = { value: '--', kind: 'literal', text: '--', mayMultiply: false }

function all<const K extends string>(names: string, kind: K): { readonly [name: string]: K } {
  return Object.fromEntries(
    names
      .trim()
      .split(/\s+/)
      .map((name) => [name, kind]),
  )
}
