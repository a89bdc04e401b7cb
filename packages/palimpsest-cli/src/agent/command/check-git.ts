import {
  anyArguments,
  noArguments,
  onlyOptions,
  type ArgumentCheck,
  type OptionList,
} from './option-check.ts'
import type { ShellWord } from './shell-word.ts'

// Subcommands of git that only read. A repository's own configuration can make even these run programs: see `findGitRisk`.

const DIFF_LONG =
  words(`stat shortstat numstat name-only name-status cached staged color no-color patch no-patch minimal patience
  histogram ignore-all-space ignore-space-change ignore-space-at-eol ignore-blank-lines find-renames find-copies no-renames raw summary
  dirstat check full-index abbrev no-abbrev relative exit-code quiet binary function-context merge-base no-ext-diff no-textconv text
  pickaxe-regex pickaxe-all color-words word-diff compact-summary unified no-prefix cc combined-all-paths root`)
const DIFF_VALUES = words(
  'diff-filter diff-algorithm unified inter-hunk-context stat abbrev color word-diff relative find-renames word-diff-regex',
)
const LOG_LONG =
  words(`oneline graph decorate no-decorate all branches tags remotes merges no-merges first-parent reverse follow
  abbrev-commit no-abbrev-commit topo-order date-order author-date-order left-right left-only right-only cherry cherry-pick cherry-mark
  full-history simplify-by-decoration simplify-merges invert-grep regexp-ignore-case extended-regexp fixed-strings perl-regexp all-match
  parents children walk-reflogs source no-walk notes no-notes ancestry-path boundary mailmap use-mailmap log-size relative-date count
  objects not numbered email summary`)
const LOG_VALUES =
  words(`author committer grep since after until before max-count skip format pretty date decorate glob exclude
  min-parents max-parents group show-notes branches tags remotes`)

/** As options with an attached value only: `--stat=80`, never `--stat 80`. */
const DIFF: OptionList = { flags: 'puszwbiEFPatcmgqrWRv1234567890', values: 'SGLn', attached: 'UMCBlX' }

const diffCheck = gitOptions(DIFF, DIFF_LONG, DIFF_VALUES)
const logCheck = gitOptions(DIFF, [...DIFF_LONG, ...LOG_LONG], [...DIFF_VALUES, ...LOG_VALUES])

const LISTING = words('--list --contains --no-contains --merged --no-merged --points-at')
const branchCheck = listingOnly(
  gitOptions(
    { flags: 'arvi' },
    words(
      'all remotes verbose list show-current merged no-merged contains no-contains column no-column ignore-case no-abbrev',
    ),
    words('sort format merged no-merged contains no-contains points-at abbrev color'),
  ),
  LISTING,
)
const tagCheck = listingOnly(
  gitOptions(
    { flags: 'lin1234567890' },
    words('list merged no-merged contains no-contains column no-column ignore-case'),
    words('sort format merged no-merged contains no-contains points-at color'),
  ),
  [...LISTING, '-l'],
)

const SUBCOMMANDS = new Map<string, ArgumentCheck>([
  [
    'status',
    gitOptions(
      { flags: 'sbvz', attached: 'u' },
      words(
        'short branch porcelain long verbose untracked-files ignored column no-column ahead-behind no-ahead-behind renames no-renames show-stash null',
      ),
      words('porcelain untracked-files ignored find-renames column'),
    ),
  ],
  ['diff', diffCheck],
  ['diff-tree', diffCheck],
  ['diff-index', diffCheck],
  ['diff-files', diffCheck],
  ['log', logCheck],
  ['show', logCheck],
  ['shortlog', gitOptions({ flags: 'snec' }, LOG_LONG, LOG_VALUES)],
  ['whatchanged', logCheck],
  ['rev-list', logCheck],
  ['branch', branchCheck],
  ['tag', tagCheck],
  ['rev-parse', anyArguments],
  ['ls-tree', anyArguments],
  ['merge-base', anyArguments],
  ['name-rev', anyArguments],
  ['show-ref', anyArguments],
  ['for-each-ref', anyArguments],
  [
    'ls-files',
    gitOptions(
      { flags: 'zcdmostuv', values: 'x' },
      words(
        'cached deleted modified others stage exclude-standard full-name error-unmatch abbrev eol deduplicate unmerged',
      ),
      [],
    ),
  ],
  ['cat-file', gitOptions({ flags: 'ptse' }, [], [])],
  [
    'blame',
    gitOptions(
      { flags: 'wsenflpt', values: 'L', attached: 'MC' },
      words('porcelain line-porcelain show-name show-number show-email root'),
      words('since date abbrev'),
    ),
  ],
  [
    'describe',
    gitOptions(
      {},
      words('tags all always dirty long exact-match contains first-parent'),
      words('abbrev match exclude candidates'),
    ),
  ],
  ['count-objects', gitOptions({ flags: 'vH' }, ['verbose', 'human-readable'], [])],
  [
    'grep',
    gitOptions(
      { flags: 'niclLwvEFPhHopW', values: 'eABCm' },
      words(
        'line-number ignore-case count files-with-matches name-only word-regexp extended-regexp fixed-strings perl-regexp and or not break heading function-context show-function cached untracked all-match column only-matching',
      ),
      words('max-depth context after-context before-context max-count'),
    ),
  ],
  ['version', noArguments],
  ['--version', noArguments],
  [
    'remote',
    oneOf({
      '': noArguments,
      '-v': noArguments,
      '--verbose': noArguments,
      'get-url': gitOptions({}, ['all', 'push'], []),
    }),
  ],
  ['stash', oneOf({ list: logCheck, show: diffCheck })],
  ['worktree', oneOf({ list: gitOptions({ flags: 'vz' }, ['porcelain', 'verbose'], []) })],
  ['reflog', oneOf({ '': noArguments, show: logCheck })],
])

export const checkGit: ArgumentCheck = (args) => {
  const [first] = args
  const rest = first?.kind === 'literal' && first.value === '--no-pager' ? args.slice(1) : args
  const [subcommand, ...own] = rest
  if (subcommand?.kind !== 'literal') return 'its subcommand is not plain'
  const check = SUBCOMMANDS.get(subcommand.value)
  return check === undefined ? `git ${subcommand.value} is not known to only read` : check(own)
}

/** Options of git: a value is attached by `=`, so a word after an option is an operand of its own. */
function gitOptions(short: OptionList, long: readonly string[], attached: readonly string[]): ArgumentCheck {
  const withValue = new Set(attached)
  const plain = onlyOptions({ ...short, long })
  return (args) =>
    plain(args.filter(({ kind, value }) => !(kind === 'literal' && hasAttached(value, withValue))))
}

function hasAttached(option: string, names: ReadonlySet<string>): boolean {
  const [, name] = /^--([a-z-]+)=/.exec(option) ?? []
  return name !== undefined && names.has(name)
}

/** With a plain operand these make a branch or a tag; with a listing option the operand is a pattern. */
function listingOnly(check: ArgumentCheck, listing: readonly string[]): ArgumentCheck {
  return (args) => {
    const isListing = args.some(({ value }) => listing.includes(value.replace(/=.*/s, '')))
    const hasOperand = args.some(({ value }) => !value.startsWith('-'))
    return hasOperand && !isListing ? 'it may make something new' : check(args)
  }
}

/** Chosen by the first word; '' stands for no word. */
function oneOf(checks: { readonly [first: string]: ArgumentCheck }): ArgumentCheck {
  const known = new Map(Object.entries(checks))
  return (args: readonly ShellWord[]) => {
    const [first, ...rest] = args
    if (first !== undefined && first.kind !== 'literal') return 'its first argument is not plain'
    const check = known.get(first?.value ?? '')
    return check === undefined ? `"${first?.value ?? ''}" is not known to only read` : check(rest)
  }
}

function words(text: string): string[] {
  return text.trim().split(/\s+/)
}
