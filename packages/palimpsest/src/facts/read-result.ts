import { failedBlindly, tellsMore, withoutQuoted } from './failed-check.ts'
import { saysFailed } from './verdicts.ts'
import { isBlock, toBlocks, type ToolResultBlock } from '../wire/message.ts'

// How a call ended, according to its result.

export interface ReadResult {
  readonly failed: boolean
  readonly exit?: number
  /** Not an error: the user said no, or stopped it. */
  readonly refused: boolean
  readonly text: string
}

/** Exit codes are at the beginning or the end of a result; in between they may be quoted. */
const EXIT_HEAD_CHARS = 400
const EXIT_TAIL_CHARS = 200
const EXIT =
  /(?:^|\n)\W{0,3}(?:(?:command |process )?exit(?:ed)?(?: with)? ?(?:code|status):? ?|<exit_code>|"exit_code": ?)(-?\d+)/i
const REFUSED =
  /^(?:the user (?:doesn't want|does not want|rejected|declined|denied)|\[request interrupted|tool (?:use|execution) (?:was )?(?:rejected|aborted)|user rejected|<tool_use_error>Sibling tool call)/i

/** Programs whose exit code 1 means "no" and not "failed". */
const SAYS_NO = /(?:^|[|;&]\s*)(?:e?grep|rg|diff|cmp|test|\[|which|git diff)\b[^|;&]*$/

export function readResult(block: ToolResultBlock, command: string | undefined): ReadResult {
  const text = resultText(block)
  const refused = REFUSED.test(text.slice(0, EXIT_TAIL_CHARS).trimStart())
  const exit = exitOf(text)
  const saysNo = exit === 1 && command !== undefined && SAYS_NO.test(withoutQuoted(command).trim())
  const isRed = exit === undefined ? block.is_error === true : exit !== 0
  const failed =
    !refused &&
    !saysNo &&
    (isRed || (command !== undefined && (failedBlindly(command, text) || printsFailure(command, text))))
  return { failed, refused, text, ...(exit !== undefined && { exit }) }
}

/** `make; echo $?` prints the code that would be lost. */
function printsFailure(command: string, text: string): boolean {
  if (!/;\s*echo\b[^;|&]*\$(?:\?|\{PIPESTATUS\[0\]\})/.test(command)) return false
  const [, code = '0'] = /(?:^|[^\w.])(\d{1,3})\W*$/.exec(text.slice(-EXIT_TAIL_CHARS)) ?? []
  return Number(code) !== 0
}

function exitOf(text: string): number | undefined {
  const found = EXIT.exec(text.slice(0, EXIT_HEAD_CHARS)) ?? EXIT.exec(text.slice(-EXIT_TAIL_CHARS))
  return found ? Number(found[1]) : undefined
}

function resultText({ content }: ToolResultBlock): string {
  if (typeof content === 'string') return content
  return toBlocks(content)
    .flatMap((block) => (isBlock(block, 'text') ? [block.text] : []))
    .join('\n')
}

const TELLING =
  /error|fail|exception|denied|not found|no such|does not exist|cannot|can't|could not|panic|fatal|unexpected|undefined|timed out|timeout/i
/** What a tool says about the call, before the program's output. */
const ENVELOPE =
  /^(?:chunk id|wall time|process exited|original token count|total output lines|output|exit code|warning: truncated|\(?no output)\b/i
const SCANNED_CHARS_MAX = 20_000
const LINE_CHARS_MAX = 300
/** Longer lines are minified code. */
const TELLING_CHARS_MAX = 1_000

/** The first line in which a check says what failed; otherwise the first that mentions an error; otherwise the first that says anything. */
export function tellingLine(text: string): string {
  const lines = linesAtEnds(text)
    .map((line) => line.trim())
    .filter((line) => line !== '')
  const telling =
    lines.find((line) => saysFailed(line) && tellsMore(line)) ??
    lines.find((line) => line.length <= TELLING_CHARS_MAX && TELLING.test(line) && tellsMore(line)) ??
    lines.find(saysFailed) ??
    lines.find((line) => !ENVELOPE.test(line)) ??
    lines[0] ??
    ''
  return telling.length > LINE_CHARS_MAX ? `${telling.slice(0, LINE_CHARS_MAX)}…` : telling
}

/** In a text that is too long to search completely, the error is at the beginning or the end. */
function linesAtEnds(text: string): string[] {
  if (text.length <= 2 * SCANNED_CHARS_MAX) return text.split('\n')
  return [
    ...text.slice(0, SCANNED_CHARS_MAX).split('\n'),
    ...text.slice(-SCANNED_CHARS_MAX).split('\n').slice(1),
  ]
}
