import { commandStart } from './like-call.ts'

// A test, build or linter whose output goes through something else loses its exit code. Its words still tell.

/** What looks at things, and quotes words of checks. */
const LOOKS = /^(?:e?grep|rg|cat|ls|find|fd|sed|awk|head|tail|echo|printf|git|gh|wc|diff|jq|curl)\b/
const CHECK =
  /\b(?:tests?|specs?|check|lint|build|vet|clippy|typecheck|type-check|tsc|vitest|jest|mocha|pytest|tox|nox|ruff|mypy|pyright|flake8|pylint|eslint|oxlint|biome|rspec|rubocop|phpunit|phpstan|ctest|golangci-lint|staticcheck|shellcheck|xcodebuild|playwright|verify|e2e|make|compile)\b/
const GOES_ON = /\||;/

const RED_START =
  /^(?: {0,20}(?:-{1,5} )?FAIL(?:ED)?\b| {0,20}(?:[✗✘×✖]|\(fail\)) |not ok\b|error(?:\[\w{1,20}\]|: (?:script |test failed|could not compile|aborting))|npm (?:ERR!|error )|make: \*\*\* |panic: |Traceback \(most recent call last\)|test result: FAILED)/
const RED_ANYWHERE = /\berror TS\d{1,6}: |\bpanicked at\b|\bBUILD FAILED\b|\bERROR task failed\b/
const COUNTED =
  /^(?:[^A-Za-z]{0,80}|\s{0,20}Tests?(?: Files| Suites)?:?\s{1,20})[1-9]\d{0,6} fail(?:ed|ing|ures?)?\b/
/** Longer lines are data, not a verdict. */
const VERDICT_CHARS_MAX = 400

/** It says that something failed and not what. */
const SAYS_NO_MORE = /^(?:FAIL(?:ED)?|not ok|BUILD FAILED|(?:\[[\w:.-]{1,80}\] )?ERROR task failed)$/
/** A check tells of what went well, too, and names errors that were expected. */
const PASSING = /\(pass\)|^\s*(?:[✓✔]|ok\b|PASS\b|--- PASS)/

/** Whether the command is a check whose exit code says nothing of it. */
export function isBlindCheck(command: string): boolean {
  const start = commandStart(command)
  const [first = ''] = start.split('|')
  return GOES_ON.test(start) && !LOOKS.test(start) && CHECK.test(first)
}

/** A line by which a check says that it failed. */
export function saysFailed(line: string): boolean {
  if (line.length > VERDICT_CHARS_MAX) return false
  return RED_START.test(line) || RED_ANYWHERE.test(line) || COUNTED.test(line)
}

/** Whether a line, without the spaces around it, may tell what went wrong: it is more than a verdict, and not of what went well. */
export function tellsMore(line: string): boolean {
  return !SAYS_NO_MORE.test(line) && !PASSING.test(line)
}
