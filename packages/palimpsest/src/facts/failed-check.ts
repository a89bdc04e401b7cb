import { commandStart } from './like-call.ts'
import { verdictOf } from './verdicts.ts'

// A command loses its exit code if its output goes through another program, or another command runs after it. Its output still shows how it
// went.

/** Commands that look at things, and may quote the words of checks. */
const LOOKS =
  /^(?:e?grep|rg|cat|bat|ls|find|fd|sed|awk|head|tail|less|echo|printf|git (?:diff|show|log|blame|grep)|gh|wc|diff|jq|curl|journalctl|dmesg|docker (?:compose )?logs|kubectl)\b/
/** Commands that prepare a run and say nothing about its outcome. */
const QUIET =
  /^(?:cd|export|source|\.|set|sleep|mkdir|rm|cp|mv|touch|chmod|git (?:add|stash|checkout|switch|restore|reset|pull|fetch)|pushd|popd|true|:)(?:\s|$)/
const CHECK =
  /(?<![A-Za-z])(?:tests?|specs?|check|lint|build|vet|clippy|typecheck|type-check|tsc|vitest|jest|mocha|pytest|unittest|tox|nox|ruff|mypy|pyright|flake8|pylint|eslint|oxlint|biome|rspec|rubocop|phpunit|phpstan|ctest|golangci-lint|staticcheck|shellcheck|xcodebuild|playwright|verify|e2e|make|compile)(?![A-Za-z])|[a-z]Tests?(?![a-z])/
/** A program of the project: a crash in its output is its own. */
const RUNS =
  /^(?:\.{1,2}\/|(?:uv|poetry|pipenv|pdm|rye) run |(?:npx|bunx) |(?:(?:ba|z|da)?sh|python[\d.]*|pypy3?|node|deno|bun|tsx|ts-node|ruby|php|perl|lua|java|julia|Rscript|elixir|swift)\s+\S|(?:cargo|go|dotnet|stack|cabal|mix|zig|npm|pnpm|yarn) (?:run|start|exec)\b)/

/** Says that something failed, but not what. */
const SAYS_NO_MORE =
  /^(?:FAIL(?:ED|URES!)?|not ok|BUILD FAIL(?:ED|URE)|(?:\[[\w:.-]{1,80}\] )?ERROR task failed)$/
/** A check also reports what went well, and names errors that were expected. */
const PASSING = /\(pass\)|^\s*(?:[✓✔]|ok\b|PASS\b|--- PASS)/

/** Whether something after the command determines its exit code. Signs in quotes do not count. */
export function hidesExit(command: string): boolean {
  const plain = withoutQuoted(command)
  return /\|\||;|\n/.test(plain.trim()) || (plain.includes('|') && !plain.includes('pipefail'))
}

/**
 * How to read the output of a command without an exit code of its own: for a check its verdicts count, for another program its crashes too.
 */
export function blindKind(command: string): 'check' | 'run' | undefined {
  if (!hidesExit(command)) return undefined
  const parts = withoutQuoted(commandStart(command))
    .split(/&&|\|\||;|\n/)
    .map((part) => commandStart(part.trim()).split('|')[0]?.trim() ?? '')
  const telling = parts.filter((part) => part !== '' && !QUIET.test(part))
  const [first] = telling
  if (first === undefined || LOOKS.test(first)) return undefined
  // Commands before a check have words of their own: a formatter, a commit.
  if (telling.some((part) => CHECK.test(part) && !LOOKS.test(part))) return 'check'
  return RUNS.test(first) ? 'run' : undefined
}

/** Whether the output of a run that hides its exit code shows a failure. */
export function failedBlindly(command: string, text: string): boolean {
  const kind = blindKind(command)
  if (kind === undefined) return false
  const verdict = verdictOf(text)
  return verdict === 'failed' || (kind === 'run' && verdict === 'crashed')
}

/** A run that hides its exit code ends an earlier failure only if its output shows no failure, above all not the same one. */
export function leavesOpen(command: string, text: string, told: readonly string[]): boolean {
  if (!hidesExit(command)) return false
  const verdict = verdictOf(text)
  if (verdict !== undefined) return verdict !== 'passed'
  const said = withoutNumbers(text)
  return told.some((line) => line !== '' && said.includes(withoutNumbers(line.replace(/…$/, ''))))
}

/** Whether a trimmed line may show what went wrong: it is more than a verdict, and not about something that went well. */
export function tellsMore(line: string): boolean {
  return !SAYS_NO_MORE.test(line) && !PASSING.test(line)
}

export function withoutQuoted(command: string): string {
  // An unclosed quote extends to the end: searching from each of its quotes would take quadratic time.
  return command.replace(/'[^']*(?:'|$)|"(?:[^"\\]|\\[^])*(?:"|\\?$)/g, '""')
}

/** Times and counts differ from run to run. */
function withoutNumbers(text: string): string {
  return text.replaceAll(/[\d\s]+/g, '')
}
