// Which command a shell call runs, so that two runs of the same command can be recognized. It ignores where the command runs and, for
// tests, builds and linters, what happens to their output.

export interface CommandKey {
  /** Two calls with the same value ran the same command. */
  readonly same: string
  /** A test, build, linter or type checker: its newest result shows the current state. */
  readonly isCheck: boolean
  /** A program of the project; its output shows when it crashed. */
  readonly isRun: boolean
  /** The command without what happens to its output, whatever the command is. */
  readonly bare: string
  /** Of a check: its parts that run in sequence. */
  readonly checks: readonly string[]
  /** A pipe, `||` or `;` hides the exit code. */
  readonly losesExit: boolean
  /** The part that runs last; the exit code comes from it. */
  readonly last: string
  /** Program and subcommand of each part that runs in sequence. */
  readonly programs: readonly string[]
  /** The first words, by which a text names the command. */
  readonly named: string
}

const SHELL_PREFIX = /^(?:\/\S*\/)?(?:ba|z|da)?sh -l?c /
/** Where the command runs, with which variables, for how long. */
const GOES_FIRST =
  /^(?:cd\s+(?:"[^"]*"|'[^']*'|[^\s;&|]+)\s*(?:&&|;)\s*|[A-Za-z_]\w*=(?:"[^"]*"|'[^']*'|[^\s;&|]*)\s+|(?:timeout\s+\S+|time|env|command|nice(?:\s+-n\s*\S+)?)\s+(?![|;&>]))+/
const MERGED = / ?2>&1/g
/** Programs that people use to look at a check's output. */
const VIEWERS = /^(?:tail|head|cat|less|grep|egrep|rg|tee|sort|uniq|wc|sed|awk)\b/

const CHECK_WORDS =
  /^(?:(?:npx|bunx|pnpm exec|pnpm dlx|yarn dlx|uv run|poetry run|python3? -m|bundle exec)\s+(?:--?[\w-]+\s+)*)?(?:(?:npm|pnpm|yarn|bun|mise|just|task|make|turbo|nx|deno|cargo|go|swift|dotnet|mix|rake|composer|gradle|\.\/gradlew|mvn)\s+(?:(?:run|r|-[-\w]+(?:=\S+)?)\s+)*[\w:.-]*(?:test|spec|check|lint|build|vet|clippy|typecheck|type-check|tsc|compile|verify|fmt|format|e2e|ci)[\w:.-]*|(?:tsc|vitest|jest|mocha|ava|pytest|tox|nox|unittest|ruff|mypy|pyright|flake8|pylint|black|eslint|oxlint|biome|prettier|rspec|phpunit|phpstan|ctest|golangci-lint|staticcheck|shellcheck|xcodebuild|rubocop|make|turbo|playwright)\b|(?:(?:ba|z|da)?sh\s+)?(?:\.{0,2}\/)?[\w./-]*(?:test|check|lint|verify)[\w-]*\.sh\b)/
const RUN_WORDS =
  /^(?:\.{1,2}\/|(?:(?:ba|z|da)?sh|python[\d.]*|node|deno|bun|tsx|ruby|php|perl|java)\s+\S|(?:cargo|go|dotnet|npm|pnpm|yarn) (?:run|start)\b)/

export function commandKey(command: string): CommandKey {
  const plain = squeeze(withoutStart(squeeze(command.replace(SHELL_PREFIX, ''))).replaceAll(MERGED, ''))
  const isCheck = CHECK_WORDS.test(plain)
  const same = isCheck ? withoutLooks(plain) : plain
  return {
    same,
    isCheck,
    isRun: RUN_WORDS.test(plain),
    bare: withoutLooks(plain).replace(/ ?(?:\|\||;) (?:true|:)$/, ''),
    checks: inTurn(same)
      .map(withoutLooks)
      .filter((part) => isCheck && CHECK_WORDS.test(part)),
    losesExit: operatorsIn(plain).some(({ sign }) => sign === '|' || sign === '||' || sign === ';'),
    last: plain.slice(startOfLast(plain)).trim(),
    programs: programsOf(command),
    named: same.split(' ').slice(0, NAMED_WORDS).join(' '),
  }
}

function startOfLast(command: string): number {
  const operator = operatorsIn(command).findLast(({ sign }) => sign !== '>')
  return operator ? operator.at + operator.sign.length : 0
}

/** A text names a command by this many words. */
const NAMED_WORDS = 2

/** Of a command's checks, those that another, successful command does not cover. */
export function checksLeft(checks: readonly string[], done: CommandKey): string[] {
  return checks.filter((narrow) => !done.checks.some((wide) => doesAllOf(wide, narrow)))
}

/** More words narrow a check; with no words besides its own, it covers everything. */
function doesAllOf(wide: string, narrow: string): boolean {
  if (narrow === wide || narrow.startsWith(`${wide} `)) return true
  if (NARROWS.test(wide)) return false
  const own = wide.split(' ').filter((word) => !/^(?:-.*|\.|\.\/\.\.\.)$/.test(word))
  return own.length <= OWN_WORDS_MAX && narrow.startsWith(`${own.join(' ')} `)
}

/** As in `npm run test`. */
const OWN_WORDS_MAX = 3
const NARROWS = / (?:-run|-k|-t|-m|-g|--?grep|--filter|--only|--testNamePattern|--tests)\b/

function squeeze(text: string): string {
  return text.split(/\s/).filter(Boolean).join(' ')
}

function withoutStart(command: string): string {
  return command.replace(GOES_FIRST, '')
}

/** Cuts off viewers at the end of the command, an `echo` of the exit code, and redirection to `/dev/null`. */
function withoutLooks(command: string): string {
  let end = command.length
  for (const { at, sign } of operatorsIn(command).toReversed()) {
    const behind = command.slice(at + sign.length, end).trim()
    if (!isLook(sign, behind)) break
    end = at
  }
  return command.slice(0, end).trim()
}

function isLook(sign: Operator['sign'], behind: string): boolean {
  switch (sign) {
    case '|':
      return VIEWERS.test(behind)
    case ';':
      return /^echo\b/.test(behind)
    case '>':
      return behind === '/dev/null'
    case '&&':
    case '||':
    case '\n':
      return false
    default:
      return sign satisfies never
  }
}

interface Operator {
  readonly at: number
  readonly sign: '&&' | '||' | '|' | ';' | '\n' | '>'
}

const SIGNS = ['&&', '||', '|', ';', '\n', '>'] as const

/** Operators outside quotes. */
function operatorsIn(command: string): Operator[] {
  const found: Operator[] = []
  for (let at = 0; at < command.length; at++) {
    const char = command[at]
    if (char === '\\') at++
    else if (char === '"' || char === "'") {
      const close = command.indexOf(char, at + 1)
      // An unclosed quote is an ordinary character.
      if (close > 0) at = close
    } else {
      const sign = SIGNS.find((one) => command.startsWith(one, at))
      if (sign) found.push({ at, sign })
      if (sign) at += sign.length - 1
    }
  }
  return found
}

/** The parts that run one after another. */
function inTurn(command: string): string[] {
  const parts: string[] = []
  let from = 0
  for (const { at, sign } of operatorsIn(command)) {
    if (sign === '|' || sign === '>') continue
    parts.push(command.slice(from, at))
    from = at + sign.length
  }
  return [...parts, command.slice(from)].map((part) => part.trim()).filter((part) => part !== '')
}

function programsOf(command: string): string[] {
  // The content of a here-document is not a command of this shell.
  const [own = ''] = command.replace(SHELL_PREFIX, '').split('<<')
  return inTurn(own)
    .map((part) =>
      programOf(
        withoutStart(`${squeeze(part)} `)
          .trim()
          .split(' '),
      ),
    )
    .filter((program) => program !== '' && !/^cd\b/.test(program))
}

/** The first word, plus the second unless it is a flag, a path or text. */
function programOf([program = '', next = '']: readonly string[]): string {
  return /^[a-z][\w-]*$/.test(next) ? `${program} ${next}` : program
}
