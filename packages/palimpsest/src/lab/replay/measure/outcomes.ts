import { hashText, type Hash } from '../../../wire/hash.ts'
import { isBlock, type ToolUseBlock } from '../../../wire/message.ts'
import { checksLeft, commandKey, type CommandKey } from './command-key.ts'
import { lineText, type Corpus, type CorpusBlock } from './corpus.ts'
import { saysSomething } from './excerpts.ts'
import { isShellCall, looksAtState, sameCallKey, shellCommand } from './tool-call.ts'

// How calls ended, and which of several results is the newest. A newer result overrides what an older one says.

/** One result of a call. */
export interface Outcome {
  readonly toolUseId: string
  /** The result's lines in the history: `firstLine` inclusive, `endLine` exclusive. */
  readonly firstLine: number
  readonly endLine: number
  readonly failed: boolean
  /** Of a failure: the lines that say what went wrong, the most telling first; otherwise empty. */
  readonly evidence: readonly number[]
  /** The words by which a text names the call. */
  readonly named: string
}

/** A command that failed, until a newer result decides otherwise. */
export interface FailedCommand extends Outcome {
  /** The line at which it was fixed or a newer failure replaced it; Infinity if neither happened. */
  readonly until: number
  /** Earlier successful results of the same command. */
  readonly goodBefore: readonly Outcome[]
}

/** Results of one repeated call that do not all say the same, oldest first. */
export interface RepeatedCall {
  /** Results that say the same have the same hash. */
  readonly outcomes: readonly (Outcome & { readonly says: Hash })[]
}

export interface Outcomes {
  readonly failures: readonly FailedCommand[]
  readonly repeated: readonly RepeatedCall[]
  /** Ids of all calls that changed nothing because they failed or were refused. */
  readonly failedCalls: ReadonlySet<string>
}

export function findOutcomes(corpus: Corpus): Outcomes {
  const found = readOutcomes(corpus)
  return {
    failures: findFailures(found),
    repeated: findRepeated(found),
    failedCalls: new Set(found.flatMap(({ toolUseId, ended }) => (ended === 'good' ? [] : [toolUseId]))),
  }
}

interface FoundOutcome extends Outcome {
  /** `not-run`: the user refused, or the call was interrupted. */
  readonly ended: 'good' | 'failed' | 'not-run'
  /** Only for a shell call. */
  readonly command: CommandKey | undefined
  /** Only for a shell call or one that looks at the state: calls with the same key asked the same thing. */
  readonly asked: string | undefined
  readonly says: Hash
}

function readOutcomes(corpus: Corpus): FoundOutcome[] {
  const calls = new Map<string, ToolUseBlock>()
  const found: FoundOutcome[] = []
  for (const block of corpus.blocks) {
    if (isBlock(block.block, 'tool_use')) calls.set(block.block.id, block.block)
    if (!isBlock(block.block, 'tool_result')) continue
    const { tool_use_id: toolUseId } = block.block
    const call = calls.get(toolUseId)
    if (!call) continue
    const outcome = outcomeOf(corpus, block, call)
    const before = found.findLast(({ command }) => isRunAgain(command, outcome.command))
    found.push(isToldAgain(corpus, outcome, before) ? asFailed(corpus, block, outcome) : outcome)
  }
  return found
}

/** The same command, however its output was viewed. */
function isRunAgain(before: CommandKey | undefined, now: CommandKey | undefined): boolean {
  return before !== undefined && now !== undefined && before.bare === now.bare
}

function asFailed(corpus: Corpus, block: CorpusBlock, outcome: FoundOutcome): FoundOutcome {
  const { firstLine, endLine } = block
  const text = corpus.text.slice(corpus.lineStarts[firstLine], corpus.lineStarts[endLine])
  return {
    ...outcome,
    ended: 'failed',
    failed: true,
    evidence: evidenceLines(corpus, block, outcome.command),
    says: hashText(`failed ${withoutNumbers(text)}`),
  }
}

function outcomeOf(corpus: Corpus, block: CorpusBlock, call: ToolUseBlock): FoundOutcome {
  const { firstLine, endLine } = block
  const text = corpus.text.slice(corpus.lineStarts[firstLine], corpus.lineStarts[endLine])
  const command = isShellCall(call) ? commandKey(shellCommand(call)) : undefined
  const isMarked = isBlock(block.block, 'tool_result') && block.block.is_error === true
  const ended = endOf(text, isMarked, command)
  return {
    toolUseId: call.id,
    firstLine,
    endLine,
    failed: ended === 'failed',
    evidence: ended === 'failed' ? evidenceLines(corpus, block, command) : [],
    named: command?.named ?? call.name,
    ended,
    command,
    asked: command ? `shell ${command.same}` : looksAtState(call) ? sameCallKey(call) : undefined,
    says: hashText(`${ended} ${withoutNumbers(text)}`),
  }
}

/** Exit codes are at the start or the end of a result; between them they may be quotes. */
const EXIT_HEAD_CHARS = 400
const EXIT_TAIL_CHARS = 200
const EXIT_CODE =
  /^\W{0,3}(?:(?:command |process )?exit(?:ed)?(?: with)?(?: code| status):? |exit_code"?:? ?)(-?\d+)/im
const NOT_RUN =
  /^\s*(?:The user (?:doesn't want|does not want|rejected|declined|denied)|\[?Request interrupted|\[Interrupted before|<tool_use_error>(?:Sibling tool call|Blocked:)|User rejected|aborted by user|Permission (?:for this action was|to use \S+ (?:has been|was)) denied|Tool (?:use|execution) (?:was )?(?:rejected|aborted))/i
/** For these programs exit code 1 means no: nothing found, or things differ. */
const SAYS_NO = /^(?:e?grep|rg|diff|cmp|test|\[|which|git (?:diff|grep)|p?grep|ps)\b/

/** How a check says that it failed. Piping a check through something loses its exit code, but not its words. */
const RED_START =
  /^(?: {0,20}(?:-{1,5} )?FAIL(?:ED)?\b| {0,20}(?:[✗✘×✖]|\(fail\)) |not ok\b|error(?:\[\w{1,20}\]|: (?:script |test failed|could not compile|aborting))|npm (?:ERR!|error )|make: \*\*\* |panic: |Traceback \(most recent call last\)|# fail [1-9]|FAILURES!|ERRORS!|Failed! )/
const RED_ANYWHERE =
  /\berror TS\d{1,6}: |\bpanicked at\b|\b(?:BUILD|TESTS?) FAIL(?:ED|URE)\b|\bERROR task failed\b|\b(?:Failed|Failures?|failures)[:=] {0,20}[1-9]|\bTests run: .{0,60}\bErrors: [1-9]|, with [1-9]\d{0,6} failures?\b/
/** A name, then its result. */
const RED_END = /\s(?:FAILED|FAILURE)(?:\s{1,4}\[\s{0,3}\d{1,3}%\])?\s{0,4}$/
const COUNTED = /(?<![\w.])[1-9]\d{0,6} (?:(?:tests?|specs?|examples?|suites?) )?fail(?:ed|ing|ures?)?\b/
/** What precedes a count of failures. In a sentence, other words precede it. */
const BEFORE_COUNT =
  /^(?:[^A-Za-z]{0,80}|\s{0,20}Tests?:?\s{1,20}|\s{0,20}Test (?:Files|Suites):?\s{1,20}|test result: \w{1,10}\. \d{1,7} passed; |\s{0,20}(?:\d{1,7}%? (?:tests?|specs?|examples?|scenarios?|assertions?)?\s?(?:passed|passing|skipped|pending|todo|total)?[,;| ]{1,5}){1,4})$/
/** A place in a file and what is wrong there. */
const DIAGNOSTIC = /^\s*(?:error\b.*|\S+\.\w+[:(]\d+(?:[:,]\d+)?\)?:? \S.*)/

function endOf(text: string, isMarked: boolean, command: CommandKey | undefined): FoundOutcome['ended'] {
  if (NOT_RUN.test(text)) return 'not-run'
  const exit = exitCode(text)
  if (exit === 1 && command && (SAYS_NO.test(command.same) || SAYS_NO.test(command.last))) return 'good'
  if (exit === undefined ? isMarked : exit !== 0) return 'failed'
  if (!command?.losesExit || !(command.isCheck || command.isRun)) return 'good'
  const lines = text.split('\n')
  if (lines.some(isRed)) return 'failed'
  return command.isRun && lines.some((line) => THROWN.test(line)) && lines.some((line) => FRAME.test(line))
    ? 'failed'
    : 'good'
}

/** What a program of the project prints when it crashes, and where. */
const THROWN = /^(?:Uncaught |Unhandled )?[\w.]{0,80}(?:Error|Exception)\b/
const FRAME = /^\s{1,20}(?:File ".{1,300}", line \d{1,7}|at .{1,300}[:(]\d{1,7}(?::\d{1,7})?\)?$)/

/** Whether a run hides its exit code and repeats the last failure's message: then it fixed nothing. */
function isToldAgain(corpus: Corpus, now: FoundOutcome, before: FoundOutcome | undefined): boolean {
  if (now.ended !== 'good' || now.command?.losesExit !== true || before?.ended !== 'failed') return false
  const [most] = before.evidence
  const text = most === undefined ? '' : withoutNumbers(lineText(corpus, most))
  if (text.length < TOLD_CHARS_MIN) return false
  const said = corpus.text.slice(corpus.lineStarts[now.firstLine], corpus.lineStarts[now.endLine])
  return withoutNumbers(said).includes(text)
}

/** A shorter text may appear anywhere. */
const TOLD_CHARS_MIN = 8

/** Longer lines are data, not a verdict. */
const VERDICT_CHARS_MAX = 400

function isRed(line: string): boolean {
  if (line.length > VERDICT_CHARS_MAX) return false
  const counted = COUNTED.exec(line)
  const isCounted = counted !== null && BEFORE_COUNT.test(line.slice(0, counted.index))
  return isCounted || RED_START.test(line) || RED_ANYWHERE.test(line) || RED_END.test(line)
}

function isDiagnostic(line: string): boolean {
  return line.length <= VERDICT_CHARS_MAX && DIAGNOSTIC.test(line)
}

function exitCode(text: string): number | undefined {
  const found = EXIT_CODE.exec(text.slice(0, EXIT_HEAD_CHARS)) ?? EXIT_CODE.exec(text.slice(-EXIT_TAIL_CHARS))
  return found ? Number(found[1]) : undefined
}

/** Times, counts and line numbers differ between runs and carry no news; callers add whether the run failed. */
function withoutNumbers(text: string): string {
  return text.replaceAll(/[\d\s]+/g, '')
}

const TELLING =
  /error|fail|exception|denied|not found|no such|does not exist|cannot|can't|could not|panic|fatal|unexpected|undefined|timed out|refused|conflict/i
/** What a tool says about the call before the program's output. */
const ENVELOPE =
  /^(?:exit code|chunk id|wall time|process exited|original token count|total output lines|output:|warning: truncated)/i
/** A check also reports what passed, and names errors that were expected. */
const PASSING = /\(pass\)|^\s*(?:[✓✔]|ok\b|PASS\b|--- PASS)/
/** More lines of one failure add nothing. */
const EVIDENCE_MAX = 40

function evidenceLines(
  corpus: Corpus,
  { firstLine, endLine }: CorpusBlock,
  command: CommandKey | undefined,
): number[] {
  const lines = Array.from({ length: endLine - firstLine }, (_, i) => firstLine + i)
  const written = lines.filter((line) => saysSomething(lineText(corpus, line)))
  const isTold = (line: number): boolean => command?.isCheck !== true || !PASSING.test(lineText(corpus, line))
  const matching = (is: (text: string) => boolean): number[] =>
    written.filter((line) => is(lineText(corpus, line)) && isTold(line))
  const printed = written.filter((line) => !ENVELOPE.test(lineText(corpus, line).trim()))
  const red = command?.isCheck ? [...matching(isRed), ...matching(isDiagnostic)] : []
  const choices = [[...new Set(red)], matching((text) => TELLING.test(text)), printed, written, [firstLine]]
  return (choices.find((choice) => choice.length > 0) ?? []).slice(0, EVIDENCE_MAX)
}

function findFailures(found: readonly FoundOutcome[]): FailedCommand[] {
  const run = found.filter(({ ended, command }) => command && ended !== 'not-run')
  return run.flatMap((outcome, i) => {
    if (!outcome.failed) return []
    const same = run.slice(0, i).filter(({ command }) => command?.same === outcome.command?.same)
    return [
      {
        ...outcome,
        until: decidedAt(outcome, run.slice(i + 1)),
        goodBefore: same.filter(({ failed }) => !failed),
      },
    ]
  })
}

/** The line where newer results show how a failed command stands now; Infinity if none does. */
function decidedAt({ command }: FoundOutcome, later: readonly FoundOutcome[]): number {
  let left = command?.checks ?? []
  // Of parts that run in sequence, the last one was the goal.
  const wanted = command?.programs.at(-1)
  for (const { command: next, failed, firstLine } of later) {
    if (!next || !command) continue
    if (next.same === command.same) return firstLine
    if (!command.isCheck && wanted !== undefined && next.programs.includes(wanted)) return firstLine
    if (failed || left.length === 0) continue
    left = checksLeft(left, next)
    if (left.length === 0) return firstLine
  }
  return Infinity
}

function findRepeated(found: readonly FoundOutcome[]): RepeatedCall[] {
  const run = found.filter(({ ended, asked }) => asked !== undefined && ended !== 'not-run')
  return [...Map.groupBy(run, ({ asked }) => asked).values()]
    .filter((outcomes) => new Set(outcomes.map(({ says }) => says)).size > 1)
    .map((outcomes) => ({ outcomes }))
}
