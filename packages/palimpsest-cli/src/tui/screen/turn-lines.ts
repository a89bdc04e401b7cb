import { whyEdited } from 'palimpsest/engine'
import type { LoopEvent, TurnEnd } from 'palimpsest/loop'
import { isRemoval, type BoundaryEntry, type Entry } from 'palimpsest/transcript'
import type { JsonObject } from 'palimpsest/wire'

import { toPrintable } from '../../agent/printable.ts'
import type { EndedWork } from '../host/work-watch.ts'
import { checkedText } from '../../run/compaction/checked-text.ts'
import { problemOf } from '../../run/turn-problem.ts'
import { pathName } from '../../stored/path-name.ts'
import { endMarkdown, feedMarkdown, MARKDOWN_START, type MarkdownState } from '../text/markdown-lines.ts'
import { letterLine } from '../../team/letter-line.ts'
import { line, span, wrapLine, type Style, type StyledLine } from '../text/styled-line.ts'
import { shortCount } from './status-line.ts'
import { toolLabel, toolLines } from './tool-lines.ts'

// How a turn is shown: each event adds lines that stay, and changes the current activity.

export interface TurnScreen {
  readonly markdown: MarkdownState
  /** Calls that run now, by id. */
  readonly calls: ReadonlyMap<string, { readonly name: string; readonly input: JsonObject }>
  /** The current activity, in a few words; empty between turns. */
  readonly activity: string
  /** The last line that stays is empty. */
  readonly isApart: boolean
  /** How to see what a compaction removed. */
  readonly toRemoved: string
  /** How to see text that is too long for the screen. */
  readonly toAll: string
  /** Why the last request is sent again. */
  readonly waitsFor?: string
}

/** The activity starts with this word during a compaction. */
export const COMPACTING = 'Compacting'

export const TURN_START: TurnScreen = {
  markdown: MARKDOWN_START,
  calls: new Map(),
  activity: '',
  isApart: true,
  toRemoved: '/context shows what was removed',
  toAll: '/export writes all',
}

export interface TurnStep {
  readonly screen: TurnScreen
  readonly lines: readonly StyledLine[]
}

/** How many messages a compaction removed from the window, and how many it left unchanged. */
export interface RemovedCounts {
  readonly gone: number
  readonly stayed: number
}

/** What an event does not say. */
export interface TurnFacts {
  readonly countRemoved: (boundary: BoundaryEntry) => RemovedCounts | undefined
  readonly workOf: (toolUseId: string) => EndedWork | undefined
}

const NO_FACTS: TurnFacts = { countRemoved: () => undefined, workOf: () => undefined }

export function showEvent(
  screen: TurnScreen,
  event: LoopEvent,
  columns: number,
  { countRemoved, workOf }: TurnFacts = NO_FACTS,
): TurnStep {
  switch (event.type) {
    case 'request-start':
      return { screen: { ...screen, activity: 'Waiting for the answer' }, lines: [] }
    case 'text-delta':
      return showText(screen, event.text, columns)
    case 'thinking-delta':
      return { screen: { ...screen, activity: 'Thinking' }, lines: [] }
    case 'tool-input-delta':
      return { screen: { ...screen, activity: 'Writing a tool call' }, lines: [] }
    case 'answer-discarded':
      return note(
        endText(screen, columns),
        `the answer above broke off and is discarded; asking again: ${event.reason}`,
        columns,
      )
    case 'retry-wait':
      return showWait(screen, event, columns)
    case 'message':
      return event.entry.message.role === 'assistant' ? endText(screen, columns) : { screen, lines: [] }
    case 'tool-start':
      return startCall(screen, event)
    case 'tool-end':
      return endCall(screen, event, columns, workOf)
    case 'engine':
      return showEntries(screen, event.entries, columns, countRemoved)
    case 'cache-break':
      return note(endText(screen, columns), breakText(event.break), columns)
    case 'notice':
      return note(endText(screen, columns), event.text, columns)
    case 'letter':
      return noteOf(endText(screen, columns), letterLine(event), 'plain', columns)
    case 'compaction-start':
      return { screen: { ...screen, activity: COMPACTING }, lines: [] }
    case 'compaction-path':
      return { screen: { ...screen, activity: `${COMPACTING} by ${pathName(event.path)}` }, lines: [] }
    case 'keep-alive':
      return { screen, lines: [] }
    case 'compaction-end':
      return { screen: { ...screen, activity: 'Working' }, lines: [] }
    case 'turn-end':
      return endTurn(screen, event.end, columns)
    default:
      return event satisfies never
  }
}

/** Shows the reason once; further attempts for the same reason only update the activity. */
function showWait(
  screen: TurnScreen,
  { waitMs, attempt, reason }: Extract<LoopEvent, { type: 'retry-wait' }>,
  columns: number,
): TurnStep {
  const isTold = screen.waitsFor === reason
  const { screen: ended, lines } = note(endText(screen, columns), isTold ? undefined : reason, columns)
  const seconds = (waitMs / 1000).toFixed(waitMs < 10_000 ? 1 : 0)
  const activity = `Asking again in ${seconds} s (attempt ${attempt + 1})`
  return { screen: { ...ended, waitsFor: reason, activity }, lines }
}

function showText(screen: TurnScreen, text: string, columns: number): TurnStep {
  const { state, lines } = feedMarkdown(screen.markdown, text, columns)
  const isNew = screen.markdown === MARKDOWN_START
  return apart({ ...screen, markdown: state, activity: 'Answering' }, isNew ? [[], ...lines] : lines)
}

/** Empty lines separate the pieces; never two in a row. */
function apart(screen: TurnScreen, lines: readonly StyledLine[]): TurnStep {
  const kept: StyledLine[] = []
  let { isApart } = screen
  for (const each of lines) {
    const isEmpty = each.every(({ text }) => text === '')
    if (isEmpty && isApart) continue
    kept.push(each)
    isApart = isEmpty
  }
  return { screen: { ...screen, isApart }, lines: kept }
}

/** Whatever was being written is complete. */
function endText(screen: TurnScreen, columns: number): TurnStep {
  const rest = endMarkdown(screen.markdown, columns)
  return apart(
    { ...screen, markdown: MARKDOWN_START },
    screen.isApart && rest.length === 0 ? [] : [...rest, []],
  )
}

function startCall(screen: TurnScreen, event: Extract<LoopEvent, { type: 'tool-start' }>): TurnStep {
  const { toolUseId, name, input } = event
  const calls = new Map([...screen.calls, [toolUseId, { name, input }]])
  return { screen: { ...screen, calls, activity: `Running ${toolLabel(name, input)}` }, lines: [] }
}

function endCall(
  screen: TurnScreen,
  event: Extract<LoopEvent, { type: 'tool-end' }>,
  columns: number,
  workOf: TurnFacts['workOf'],
): TurnStep {
  const { toolUseId, name, entry, denied } = event
  const input = screen.calls.get(toolUseId)?.input ?? {}
  const calls = new Map(screen.calls)
  calls.delete(toolUseId)
  return apart(
    { ...screen, calls, activity: 'Working' },
    toolLines(
      { name, input, toolUseId, entry, denied, work: workOf(toolUseId), toAll: screen.toAll },
      columns,
    ),
  )
}

function showEntries(
  screen: TurnScreen,
  entries: readonly Entry[],
  columns: number,
  countRemoved: (boundary: BoundaryEntry) => RemovedCounts | undefined,
): TurnStep {
  const lines = entries.flatMap((entry) => {
    if (entry.kind === 'boundary')
      return compactedLines(entry, countRemoved(entry), screen.toRemoved, columns)
    if (entry.kind !== 'edit' || !isRemoval(entry)) return []
    return noteLines(
      `cleared ${shortCount(entry.freedTokens)} tokens of old results (${whyEdited(entry)})`,
      'dim',
      columns,
    )
  })
  return apart(screen, lines)
}

/** What was removed, what stayed, and how to see it. */
function compactedLines(
  { meta }: BoundaryEntry,
  counts: RemovedCounts | undefined,
  toRemoved: string,
  columns: number,
): readonly StyledLine[] {
  const { preTokens, postTokens, messagesSummarized, path, proof } = meta
  const after = postTokens === undefined ? '?' : shortCount(postTokens)
  const gone = counts?.gone ?? messagesSummarized
  const parts = [
    `compacted by ${pathName(path)}: ${shortCount(preTokens)} → ${after} tokens`,
    ...(gone === undefined ? [] : [`${gone} messages removed${counts ? `, ${counts.stayed} kept` : ''}`]),
    ...(proof ? [checkedText(proof)] : []),
    toRemoved,
  ]
  return noteLines(parts.join(' · '), 'accent', columns)
}

/** Progress while a model writes the summary. */
export function writingActivity(activity: string, chars: number): string {
  const [path = COMPACTING] = activity.split(':')
  return `${path}: ${shortCount(chars)} characters written`
}

function endTurn(screen: TurnScreen, end: TurnEnd, columns: number): TurnStep {
  const ended = endText(screen, columns)
  const idle = { ...ended.screen, calls: new Map(), activity: '' }
  if (end.reason === 'aborted')
    return noteTo(idle, ended.lines, end.keepsAnswer ? ANSWER_KEPT : INTERRUPTED, columns)
  const problem = problemOf(end)
  if (problem === undefined) return apart(idle, [...ended.lines, []])
  return noteTo(idle, ended.lines, problem === screen.waitsFor ? NO_ANSWER : problem, columns)
}

/** The reason is on the screen already. */
const NO_ANSWER = 'no answer came. Send it again when that is fixed'
const INTERRUPTED = 'interrupted. What was done so far is kept'
const ANSWER_KEPT = 'interrupted. The answer so far is kept, and the model knows that it ends here'

function noteTo(screen: TurnScreen, lines: readonly StyledLine[], text: string, columns: number): TurnStep {
  const { screen: shown, lines: kept } = apart(screen, [...noteLines(text, 'warning', columns), []])
  return { screen: shown, lines: [...lines, ...kept] }
}

function note(step: TurnStep, text: string | undefined, columns: number): TurnStep {
  return text === undefined ? step : noteOf(step, text, 'warning', columns)
}

function noteOf({ screen, lines }: TurnStep, text: string, style: Style, columns: number): TurnStep {
  const added = apart(screen, noteLines(text, style, columns))
  return { screen: added.screen, lines: [...lines, ...added.lines] }
}

/** `!` marks what the user should look at; a dot marks what went well. */
export function noteLines(text: string, style: Style, columns: number): readonly StyledLine[] {
  const sign = style === 'warning' || style === 'error' ? '! ' : '· '
  return toPrintable(text)
    .split('\n')
    .flatMap((part, place) =>
      wrapLine([span(place === 0 ? sign : '  ', style), span(part, style)], columns, [span('  ')]),
    )
}

/** The user's message as it appears above the answer. Of a long text: the beginning, and the end, which is often the question. */
export function saidLines(text: string, columns: number): readonly StyledLine[] {
  const lines = text.split('\n')
  const hidden = lines.length - 2 * SAID_LINES_MAX
  const cut = (each: string): string =>
    each.length <= SAID_CHARS_MAX
      ? each
      : `${each.slice(0, SAID_CHARS_MAX / 2)} … ${each.slice(-SAID_CHARS_MAX / 2)}`
  const draw = (each: string, sign: string): readonly StyledLine[] =>
    wrapLine([span(sign, 'accent'), span(toPrintable(cut(each)), 'bold')], columns, [span('  ')])
  const drawAll = (some: readonly string[]): readonly StyledLine[] =>
    some.flatMap((each, place) => draw(each, some === lines && place === 0 ? '> ' : '  '))
  if (hidden <= 1) return [...drawAll(lines), []]
  const [first = '', ...head] = lines.slice(0, SAID_LINES_MAX)
  return [
    ...draw(first, '> '),
    ...drawAll(head),
    line(`  … ${hidden} more lines`, 'dim'),
    ...drawAll(lines.slice(-SAID_LINES_MAX)),
    [],
  ]
}

const SAID_LINES_MAX = 8
const SAID_CHARS_MAX = 2_000

function breakText({
  cause,
  path,
  expectedTokens,
  readTokens,
}: Extract<LoopEvent, { type: 'cache-break' }>['break']): string | undefined {
  if (cause === 'unknown') return undefined
  return `the prompt cache broke at ${path}: ${expectedTokens} tokens were expected from it, ${readTokens} were read`
}
