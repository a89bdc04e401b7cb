// The lines in which a program says how it went.

const RED_START =
  /^(?: {0,20}(?:-{1,5} )?FAIL(?:ED)?\b| {0,20}(?:[✗✘×✖]|\(fail\)) (?!\d{1,7} problems? \(0 errors)|not ok\b|# fail [1-9]|FAILURES!|ERRORS!|Failed! |error(?:\[\w{1,20}\]|: (?:script |test failed|could not compile|aborting|.{0,200}\bfailed\b))|npm (?:ERR!|error )|make(?:\[\d{1,3}\])?: \*\*\* |panic: |Traceback \(most recent call last\)|test result: FAILED|Segmentation fault)/
const RED_ANYWHERE =
  /\berror TS\d{1,6}: |\bpanicked at\b|\b(?:BUILD|TESTS?) FAIL(?:ED|URE)\b|\bERROR task failed\b|: command not found$|\b(?:Failed|Failures?|failures|not ok):? {0,20}=? {0,20}[1-9]\d{0,6}\b|\bTests run: .{0,60}\bErrors: [1-9]/
/** A name and its outcome: `FooTest > bar() FAILED`, `a.py::test_b FAILED [ 50%]`. */
const RED_END = /\s(?:FAILED|FAILURE)(?:\s{1,4}\[\s{0,3}\d{1,3}%\])?$/
/** What comes before a count of failures; in a sentence, other words do. */
const COUNTED =
  /^(?:[^A-Za-z]{0,80}|\s{0,20}(?:Tests?|Specs?|Snapshots?)(?: Files| Suites)?:?\s{1,20}|test result: \w{1,10}\. )(?:\d{1,7}%? (?:tests?|specs?|examples?|scenarios?|runs?|assertions?|checks?|suites?|steps?)?\s?(?:passed|passing|skipped|pending|todo|total|ok|expectations?)?[,;|. ]{1,5}(?:with )?){0,4}[1-9]\d{0,6} (?:(?:tests?|specs?|examples?|suites?|checks?|scenarios?) )?fail(?:ed|ing|ures?)?\b/
const EXECUTED =
  /\bExecuted \d{1,7} tests?, with [1-9]\d{0,6} failures?\b|^=+ .{0,200}\b[1-9]\d{0,6} errors?\b.{0,200}=$/
const GREEN =
  /\b(?:0 fail(?:ed|ing|ures?)?|# fail 0|BUILD SUCCESS(?:FUL)?|test result: ok)\b|^\s*(?:OK\b|PASS(?:ED)?\b)|^[^A-Za-z]{0,80}[1-9]\d{0,6} (?:tests? )?(?:passed|passing)\b|^\s{0,20}Tests?(?: Files| Suites)?:?\s{1,20}[1-9]\d{0,6} passed\b/
/** Where the program was when it crashed: stack frames of Python and others. */
const FRAME = /^\s{1,20}(?:File ".{1,300}", line \d{1,7}|at .{1,300}[:(]\d{1,7}(?::\d{1,7})?\)?$)/
const THROWN = /^(?:Uncaught |Unhandled |thread '.{0,80}' )?[\w.]{0,80}(?:Error|Exception|panicked)\b/

/** Longer lines are data, not a verdict. */
const VERDICT_CHARS_MAX = 400

/** Whether a check says with this line that it failed. */
export function saysFailed(line: string): boolean {
  if (line.length > VERDICT_CHARS_MAX) return false
  const end = line.trimEnd()
  return (
    RED_START.test(line) ||
    RED_ANYWHERE.test(end) ||
    RED_END.test(end) ||
    COUNTED.test(line) ||
    EXECUTED.test(end)
  )
}

/** The verdict of a whole output. `crashed`: it shows a stack but no verdict. Undefined: it shows neither. */
export function verdictOf(text: string): 'failed' | 'passed' | 'crashed' | undefined {
  const lines = text.split('\n').filter((line) => line.length <= VERDICT_CHARS_MAX)
  if (lines.some(saysFailed)) return 'failed'
  if (lines.some((line) => GREEN.test(line))) return 'passed'
  return lines.some((line) => FRAME.test(line)) && lines.some((line) => THROWN.test(line))
    ? 'crashed'
    : undefined
}
