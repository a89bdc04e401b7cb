import { commandStart } from './like-call.ts'
import { verdictOf } from './verdicts.ts'

// A program whose output goes through something else, or behind which something else runs, loses its exit code. Its words still tell.

/** What looks at things, and quotes words of checks. */
const LOOKS =
  /^(?:e?grep|rg|cat|bat|ls|find|fd|sed|awk|head|tail|less|echo|printf|git (?:diff|show|log|blame|grep)|gh|wc|diff|jq|curl|journalctl|dmesg|docker (?:compose )?logs|kubectl)\b/
/** What prepares a run and says nothing of it. */
const QUIET =
  /^(?:cd|export|source|\.|set|sleep|mkdir|rm|cp|mv|touch|chmod|git (?:add|stash|checkout|switch|restore|reset|pull|fetch)|pushd|popd|true|:)(?:\s|$)/
const CHECK =
  /(?<![A-Za-z])(?:tests?|specs?|check|lint|build|vet|clippy|typecheck|type-check|tsc|vitest|jest|mocha|pytest|unittest|tox|nox|ruff|mypy|pyright|flake8|pylint|eslint|oxlint|biome|rspec|rubocop|phpunit|phpstan|ctest|golangci-lint|staticcheck|shellcheck|xcodebuild|playwright|verify|e2e|make|compile)(?![A-Za-z])|[a-z]Tests?(?![a-z])/
/** A program of the project: what it says of a crash is its own. */
const RUNS =
  /^(?:\.{1,2}\/|(?:uv|poetry|pipenv|pdm|rye) run |(?:npx|bunx) |(?:(?:ba|z|da)?sh|python[\d.]*|pypy3?|node|deno|bun|tsx|ts-node|ruby|php|perl|lua|java|julia|Rscript|elixir|swift)\s+\S|(?:cargo|go|dotnet|stack|cabal|mix|zig|npm|pnpm|yarn) (?:run|start|exec)\b)/

/** It says that something failed and not what. */
const SAYS_NO_MORE =
  /^(?:FAIL(?:ED|URES!)?|not ok|BUILD FAIL(?:ED|URE)|(?:\[[\w:.-]{1,80}\] )?ERROR task failed)$/
/** A check tells of what went well, too, and names errors that were expected. */
const PASSING = /\(pass\)|^\s*(?:[✓✔]|ok\b|PASS\b|--- PASS)/

/** Whether something behind the command decides its exit code. Signs in quotes are words. */
export function hidesExit(command: string): boolean {
  const plain = withoutQuoted(command)
  return /\|\||;|\n/.test(plain.trim()) || (plain.includes('|') && !plain.includes('pipefail'))
}

/** How the output of a command without an exit code of its own counts: of a check its verdicts, of another program its crashes too. */
export function blindKind(command: string): 'check' | 'run' | undefined {
  if (!hidesExit(command)) return undefined
  const parts = withoutQuoted(commandStart(command))
    .split(/&&|\|\||;|\n/)
    .map((part) => commandStart(part.trim()).split('|')[0]?.trim() ?? '')
  const telling = parts.filter((part) => part !== '' && !QUIET.test(part))
  const [first] = telling
  if (first === undefined || LOOKS.test(first)) return undefined
  // What comes before a check has its own words: a formatter, a commit.
  if (telling.some((part) => CHECK.test(part) && !LOOKS.test(part))) return 'check'
  return RUNS.test(first) ? 'run' : undefined
}

/** Whether a run that hides its exit code tells of a failure. */
export function failedBlindly(command: string, text: string): boolean {
  const kind = blindKind(command)
  if (kind === undefined) return false
  const verdict = verdictOf(text)
  return verdict === 'failed' || (kind === 'run' && verdict === 'crashed')
}

/** A run that hides its exit code ends an earlier failure only if nothing in its output tells of one, least of all the same. */
export function leavesOpen(command: string, text: string, told: readonly string[]): boolean {
  if (!hidesExit(command)) return false
  const verdict = verdictOf(text)
  if (verdict !== undefined) return verdict !== 'passed'
  const said = withoutNumbers(text)
  return told.some((line) => line !== '' && said.includes(withoutNumbers(line.replace(/…$/, ''))))
}

/** Whether a line, without the spaces around it, may tell what went wrong: it is more than a verdict, and not of what went well. */
export function tellsMore(line: string): boolean {
  return !SAYS_NO_MORE.test(line) && !PASSING.test(line)
}

export function withoutQuoted(command: string): string {
  // One that is not closed goes to the end: looked for from each of its quotes, it would take the square of its length.
  return command.replace(/'[^']*(?:'|$)|"(?:[^"\\]|\\[^])*(?:"|\\?$)/g, '""')
}

/** Times and counts differ from run to run. */
function withoutNumbers(text: string): string {
  return text.replaceAll(/[\d\s]+/g, '')
}
