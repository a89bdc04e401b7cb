import type { ShellWord } from '../shell-word.ts'
import { scriptWantsMore } from './script-reads.ts'

// Programs that people use to read, and the signs that a call is meant to do more. This decides what is worth trying in the sandbox, not
// what is safe: everything is safe there.

/** Returns why the call does not fit the sandbox. Undefined: it fits. */
export type ProgramCheck = (args: readonly ShellWord[]) => string | undefined

const always: ProgramCheck = () => undefined

const READERS =
  `cat tac head tail wc nl rev cut paste tr fold fmt expand unexpand column comm cmp diff diff3 ls du df stat basename dirname
  realpath readlink md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum od hexdump xxd strings which whereis jq grep
  egrep fgrep zgrep zegrep zfgrep rg ag ack fd fdfind bat batcat eza exa tree join seq sleep uname whoami nproc arch locale getconf uptime
  free numfmt factor bc dc expr tsort shuf base64 base32 iconv zcat bzcat xzcat zstdcat zipinfo nm objdump readelf ldd size c++filt
  awk gawk mawk nawk cloc tokei scc shellcheck true false yes tput pdftotext exiftool identify
  look printenv htmlq xq pup gron dasel csvcut csvgrep csvlook csvstat mlr`
    .trim()
    .split(/\s+/)

/** Built into the shell. In the sandbox their effects end with the line. */
const BUILTINS =
  `cd pushd popd echo printf test [ [[ pwd type command export declare typeset local readonly read mapfile readarray set shopt
  unset shift return exit break continue : let getopts wait hash ulimit umask times dirs`
    .trim()
    .split(/\s+/)

const lacks =
  (pattern: RegExp, why: string): ProgramCheck =>
  (args) =>
    args.some(({ value }) => pattern.test(value)) ? why : undefined
const has =
  (pattern: RegExp, why: string): ProgramCheck =>
  (args) =>
    args.some(({ value }) => pattern.test(value)) ? undefined : why
const operandsMax =
  (max: number, why: string): ProgramCheck =>
  (args) =>
    args.filter(({ value }) => !/^[-+\d]/.test(value)).length > max ? why : undefined

const WRITES = 'it writes a file'
const CHANGES = 'it changes the system'

const CHECKED = new Map<string, ProgramCheck>([
  ['sed', lacks(/^(-[a-zA-Z]*i|--in-place)/, WRITES)],
  ['gsed', lacks(/^(-[a-zA-Z]*i|--in-place)/, WRITES)],
  ['yq', lacks(/^(-[a-zA-Z]*i|--inplace|--in-place)/, WRITES)],
  ['sort', lacks(/^(-[a-zA-Z]*o|--output)/, WRITES)],
  ['uniq', operandsMax(1, WRITES)],
  ['file', lacks(/^(-C|--compile)/, WRITES)],
  ['date', lacks(/^(-s|--set|\d)/, CHANGES)],
  ['hostname', operandsMax(0, CHANGES)],
  // In the sandbox, groups have no names.
  ['id', has(/^-(u|un|nu)$/, 'groups are not known in the sandbox')],
  ['tar', has(/^(-?[a-zA-Z]*t|--list)/, WRITES)],
  ['unzip', has(/^-[a-zA-Z]*[lpvZ]/, WRITES)],
  ['gzip', has(/^-[a-zA-Z]*[cl]/, WRITES)],
  ['gunzip', has(/^-[a-zA-Z]*[cl]/, WRITES)],
  ['xz', has(/^-[a-zA-Z]*[cl]/, WRITES)],
  ['zstd', has(/^-[a-zA-Z]*[cl]/, WRITES)],
  ['xmllint', lacks(/^(--output|-o)/, WRITES)],
  ['gofmt', lacks(/^-w/, WRITES)],
  ['sqlite3', has(/^(-readonly|--readonly|file:.*mode=ro)/, 'it may write the database')],
  ['tee', lacks(/^(?!-|\/dev\/(null|stderr|stdout)$)/, WRITES)],
  ['bash', has(/^-n$/, 'may do more than read')],
  ['sh', has(/^-n$/, 'may do more than read')],
])

/** A single word that asks for version or help, whatever the program. */
const ABOUT = /^(--version|-V|version|--help)$/
const SHORT_ABOUT = /^(--version|-V|-v|version|--help|-h|-version)$/
const HAS_SHORT = new Set('node npm npx pnpm yarn ruby php perl gcc clang java javac'.split(' '))

export function programCheck(name: string, args: readonly ShellWord[]): string | undefined {
  const [only, ...more] = args
  const asks = HAS_SHORT.has(name) ? SHORT_ABOUT : ABOUT
  if (only !== undefined && more.length === 0 && only.kind === 'literal' && asks.test(only.value))
    return undefined
  if (BUILTINS.includes(name) || READERS.includes(name)) return always(args)
  const check = CHECKED.get(name)
  if (check !== undefined) return check(args)
  const code = codeOption(name)
  return code === undefined ? 'may do more than read' : checkScript(args, code)
}

export function isBuiltin(name: string): boolean {
  return BUILTINS.includes(name)
}

/** Options by which an interpreter takes its program. */
function codeOption(name: string): RegExp | undefined {
  if (/^python3?(\.\d+)?$/.test(name)) return /^-c$/
  if (name === 'node') return /^(-e|-p|-pe|--eval|--print)$/
  if (name === 'ruby' || name === 'perl') return /^-[nplaF0]*e$/
  return undefined
}

/** `python3 - <<EOF` also has its program in the line; see `judgeInside`. */
function checkScript(args: readonly ShellWord[], option: RegExp): string | undefined {
  const [first, second] = args
  if (first?.value === '-m' && second?.value === 'json.tool') return undefined
  const at = args.findIndex(({ value }) => option.test(value))
  if (at === -1) return first === undefined || first.value === '-' ? undefined : 'it runs a program'
  const script = args[at + 1]
  if (script === undefined || at > 0) return 'it runs a program'
  return scriptWantsMore(script.value) ? 'its program wants more than to read' : undefined
}
