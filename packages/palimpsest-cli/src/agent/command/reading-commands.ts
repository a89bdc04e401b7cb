import { checkGit } from './check-git.ts'
import {
  checkAwk,
  checkDate,
  checkFind,
  checkPrintf,
  checkPs,
  checkSed,
  checkTest,
  checkVersion,
} from './check-programs.ts'
import type { ShellWord } from './shell-word.ts'
import { anyArguments, noArguments, onlyOptions, without, type ArgumentCheck } from './option-check.ts'

// Commands that only read, and with which arguments. What is not here asks. Left out on purpose: xargs, env, tee, less, man, curl, every
// interpreter and every package manager.

export interface ReadingCommand {
  readonly check: ArgumentCheck
  /** Its arguments are words, not files: they may hold variables. */
  readonly takesWords?: boolean
  /** It reads files that its arguments do not name: a folder and all below it, a repository. */
  readonly readsBelow?: (args: readonly ShellWord[]) => boolean
}

const FILES = (check: ArgumentCheck = anyArguments): ReadingCommand => ({ check })
const FOLDERS = (
  check: ArgumentCheck,
  readsBelow: (args: readonly ShellWord[]) => boolean = () => true,
): ReadingCommand => ({
  check,
  readsBelow,
})
const WORDS = (check: ArgumentCheck = anyArguments): ReadingCommand => ({ check, takesWords: true })

const PLAIN_READERS =
  'cat head tail wc nl tac rev cut paste tr fold fmt expand unexpand column comm cmp ls du df stat basename dirname realpath readlink md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum od hexdump strings which jq'
const STATE_READERS = 'pwd whoami id groups uname nproc arch uptime free tty locale seq sleep true false :'

const SORT = onlyOptions({
  flags: 'bdfghiMnRrVcCmsuz',
  values: 'kt',
  long: [
    'reverse',
    'numeric-sort',
    'general-numeric-sort',
    'human-numeric-sort',
    'version-sort',
    'month-sort',
    'random-sort',
    'unique',
    'ignore-case',
    'ignore-leading-blanks',
    'dictionary-order',
    'ignore-nonprinting',
    'stable',
    'check',
    'merge',
    'zero-terminated',
  ],
  longValues: ['key', 'field-separator', 'sort'],
})

const UNIQ = onlyOptions({
  flags: 'cdDiuz',
  values: 'fsw',
  long: ['count', 'repeated', 'all-repeated', 'unique', 'ignore-case', 'zero-terminated'],
  longValues: ['skip-fields', 'skip-chars', 'check-chars'],
  // The second one is written.
  operandsMax: 1,
})

const RIPGREP = onlyOptions({
  flags: 'nilcvwsSxoUFPHINhpaq0u.',
  values: 'ABCegtTmMjdr',
  long: [
    'line-number',
    'no-line-number',
    'ignore-case',
    'smart-case',
    'case-sensitive',
    'files-with-matches',
    'files-without-match',
    'files',
    'count',
    'count-matches',
    'invert-match',
    'word-regexp',
    'line-regexp',
    'only-matching',
    'multiline',
    'multiline-dotall',
    'fixed-strings',
    'pcre2',
    'hidden',
    'no-ignore',
    'no-ignore-vcs',
    'no-heading',
    'heading',
    'with-filename',
    'no-filename',
    'column',
    'stats',
    'json',
    'trim',
    'text',
    'null',
    'vimgrep',
    'type-list',
    'no-messages',
    'passthru',
    'pretty',
    'quiet',
    'no-config',
    'version',
  ],
  longValues: [
    'after-context',
    'before-context',
    'context',
    'regexp',
    'glob',
    'iglob',
    'type',
    'type-not',
    'max-count',
    'max-columns',
    'max-depth',
    'max-filesize',
    'sort',
    'sortr',
    'color',
    'replace',
    'threads',
  ],
})

const TREE = onlyOptions({
  flags: 'adfCpsughDFQNtrUcixnA',
  values: 'LIP',
  long: [
    'dirsfirst',
    'filesfirst',
    'noreport',
    'gitignore',
    'prune',
    'du',
    'si',
    'inodes',
    'matchdirs',
    'ignore-case',
  ],
  longValues: ['filelimit', 'sort', 'timefmt', 'charset'],
})

/** `command -v name`: where is it? Without -v it runs the name. */
const COMMAND_LOOKUP: ArgumentCheck = ([option, ...names]) =>
  option?.kind === 'literal' && /^-[vV]$/.test(option.value) && names.every(({ kind }) => kind === 'literal')
    ? undefined
    : 'it runs its argument'

/** With -R it follows links, which may lead out of the folder. */
const GREP = without(/^-[a-zA-Z]*R|^--der?/, 'it follows links')

function grepsFolders(args: readonly ShellWord[]): boolean {
  return args.some(({ kind, value }) => kind !== 'literal' || /^-[a-zA-Z]*r|^--rec|^-d|^--dir/.test(value))
}

const COMMANDS = new Map<string, ReadingCommand>([
  ...PLAIN_READERS.split(' ').map((name) => [name, FILES()] as const),
  ...STATE_READERS.split(' ').map((name) => [name, FILES()] as const),
  ['echo', WORDS()],
  ['printf', WORDS(checkPrintf)],
  ['test', WORDS(checkTest)],
  ['[', WORDS(checkTest)],
  ['exit', FILES(onlyOptions({ operandsMax: 1 }))],
  ['break', FILES(noArguments)],
  ['continue', FILES(noArguments)],
  ['type', FILES(onlyOptions({ flags: 'afptP' }))],
  ['command', FILES(COMMAND_LOOKUP)],
  ['grep', FOLDERS(GREP, grepsFolders)],
  ['egrep', FOLDERS(GREP, grepsFolders)],
  ['fgrep', FOLDERS(GREP, grepsFolders)],
  ['diff', FILES(without(/^-[a-zA-Z]*[rl]|^--(rec|pag)/, 'it follows links or runs another program'))],
  ['rg', FOLDERS(RIPGREP)],
  ['sort', FILES(SORT)],
  ['uniq', FILES(UNIQ)],
  ['tree', FILES(TREE)],
  ['file', FILES(onlyOptions({ flags: 'bihN0', long: ['brief', 'mime', 'mime-type', 'mime-encoding'] }))],
  ['hostname', FILES(onlyOptions({ flags: 'fsiId', operandsMax: 0 }))],
  ['date', FILES(checkDate)],
  ['find', FILES(checkFind)],
  ['sed', FILES(checkSed)],
  ['awk', FILES(checkAwk)],
  ['git', FOLDERS(checkGit)],
  ['node', FILES(checkVersion('-v'))],
  ['python', FILES(checkVersion('-V'))],
  ['python3', FILES(checkVersion('-V'))],
  ['gcc', FILES(checkVersion())],
  ['clang', FILES(checkVersion())],
  ['java', FILES(checkVersion('-version'))],
  ['ps', FILES(checkPs)],
])

export function findReadingCommand(name: string): ReadingCommand | undefined {
  return COMMANDS.get(name)
}
