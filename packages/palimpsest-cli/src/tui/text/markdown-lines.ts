import { toPrintable } from '../../agent/printable.ts'
import { highlightCode } from './highlight-code.ts'
import { line, span, wrapLine, type Span, type StyledLine } from './styled-line.ts'

// Markdown as it comes, line by line. A line that is complete is drawn once and for all, so a long answer costs no more than its
// newest line. What needs later lines to be drawn (aligned tables, underlined headings) is shown as written.

export interface MarkdownState {
  /** Set inside of a code block. */
  readonly fence?: { readonly mark: string; readonly language: string }
  /** The line that is not complete yet. */
  readonly rest: string
}

export const MARKDOWN_START: MarkdownState = { rest: '' }

export interface FedMarkdown {
  readonly state: MarkdownState
  readonly lines: readonly StyledLine[]
}

/** More text: the lines that it completes. */
export function feedMarkdown(state: MarkdownState, text: string, columns: number): FedMarkdown {
  const parts = (state.rest + text).split('\n')
  const rest = parts.pop() ?? ''
  const lines: StyledLine[] = []
  let current: MarkdownState = { ...state, rest: '' }
  for (const part of parts) {
    const drawn = drawLine(current, part, columns)
    lines.push(...drawn.lines)
    current = drawn.state
  }
  return { state: { ...current, rest }, lines }
}

/** The text is at its end: what is left of it. */
export function endMarkdown(state: MarkdownState, columns: number): readonly StyledLine[] {
  return state.rest === '' ? [] : drawLine(state, state.rest, columns).lines
}

export function markdownLines(text: string, columns: number): readonly StyledLine[] {
  const { state, lines } = feedMarkdown(MARKDOWN_START, text, columns)
  return [...lines, ...endMarkdown(state, columns)]
}

const FENCE = /^\s*(`{3,}|~{3,})\s*([\w+#.-]*)/
const HEADING = /^(#{1,6})\s+(.*?)\s*#*\s*$/
const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/
const TASK = /^\[( |x|X)\]\s+(.*)$/
const QUOTE = /^\s*>\s?(.*)$/
const RULE = /^\s*([-*_])\s*(?:\1\s*){2,}$/
const CODE_INDENT = span('  ')
const RULE_COLUMNS = 24

function drawLine(state: MarkdownState, raw: string, columns: number): FedMarkdown {
  const text = toPrintable(raw.replace(/\r$/, ''))
  const { fence } = state
  const opened = FENCE.exec(text)
  if (fence) {
    const closes = opened?.[1]?.startsWith(fence.mark) === true && opened[2] === ''
    if (closes) return { state: { rest: '' }, lines: [line('  ┄', 'dim')] }
    const code = [CODE_INDENT, ...highlightCode(text, fence.language)]
    return { state, lines: wrapLine(code, columns, [CODE_INDENT]) }
  }
  if (opened?.[1] !== undefined) {
    const language = (opened[2] ?? '').toLowerCase()
    const lines = [line(`  ┄ ${language}`.trimEnd(), 'dim')]
    return { state: { rest: '', fence: { mark: opened[1], language } }, lines }
  }
  return { state, lines: drawText(text, columns) }
}

function drawText(text: string, columns: number): readonly StyledLine[] {
  const heading = HEADING.exec(text)
  if (heading) return wrapLine([span(heading[2] ?? '', 'heading')], columns)
  if (RULE.test(text)) return [line('─'.repeat(Math.min(RULE_COLUMNS, columns)), 'dim')]
  const item = ITEM.exec(text)
  if (item) return drawItem(item, columns)
  const quote = QUOTE.exec(text)
  if (quote) {
    const mark = span('│ ', 'dim')
    return wrapLine([mark, ...inlineSpans(quote[1] ?? '', 'italic')], columns, [mark])
  }
  return wrapLine(inlineSpans(text), columns)
}

function drawItem(
  [, indent = '', mark = '', text = '']: RegExpExecArray,
  columns: number,
): readonly StyledLine[] {
  const task = TASK.exec(text)
  const sign = task ? (task[1] === ' ' ? '☐' : '☑') : /\d/.test(mark) ? mark : '•'
  const head = `${indent}${sign} `
  return wrapLine([span(head), ...inlineSpans(task?.[2] ?? text)], columns, [span(' '.repeat(head.length))])
}

const INLINE =
  /(`+)(.+?)\1|(\*\*|__)(?=\S)(.+?)(?<=\S)\3|(?<![\w*])([*_])(?=[^\s*_])(.+?)(?<=[^\s*_])\5(?![\w*])|\[([^\]]+)\]\(([^)\s]+)\)/g

function inlineSpans(text: string, base: Span['style'] = 'plain'): StyledLine {
  const spans: Span[] = []
  let at = 0
  for (const match of text.matchAll(INLINE)) {
    if (match.index > at) spans.push(span(text.slice(at, match.index), base))
    spans.push(...inlineSpan(match))
    at = match.index + match[0].length
  }
  return at < text.length || spans.length === 0 ? [...spans, span(text.slice(at), base)] : spans
}

function inlineSpan([, , code, , strong, , emphasis, label, target]: RegExpMatchArray): StyledLine {
  if (code !== undefined) return [span(code, 'code')]
  if (strong !== undefined) return [span(strong, 'bold')]
  if (emphasis !== undefined) return [span(emphasis, 'italic')]
  return label === target
    ? [span(label ?? '', 'accent')]
    : [span(`${label ?? ''} `), span(`(${target ?? ''})`, 'accent')]
}
