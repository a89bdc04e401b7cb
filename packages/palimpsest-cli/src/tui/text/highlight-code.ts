import { span, type Span, type StyledLine } from './styled-line.ts'

// Words, strings, comments and numbers in a line of code. One line at a time and without a grammar: only a hint for the eye.

const WORDS = new Set(
  (
    'abstract as async await begin bool break case catch class const continue def default defer delete do done elif else end enum ' +
    'esac except export extends extern false fi final finally fn for foreach from func function go if impl implements import in ' +
    'instanceof int interface is lambda let local match mod module mut new nil none not null of or package pass private protected ' +
    'pub public raise return self static struct super switch then this throw trait true try type typeof undefined union unsafe ' +
    'use using var void where while with yield None True False SELECT FROM WHERE INSERT UPDATE DELETE'
  ).split(' '),
)

const HASH_COMMENTS =
  /^(sh|bash|zsh|shell|console|py|python|rb|ruby|yaml|yml|toml|make|makefile|dockerfile|r|perl|ini)$/
const SLASH_TOKENS =
  /(\/\/.*|\/\*.*?(?:\*\/|$))|("(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?|`(?:[^`\\]|\\.)*`?)|(\b\d[\w.]*\b)|([A-Za-z_]\w*)/g
const HASH_TOKENS =
  /((?<![\w$])#.*)|("(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?|`(?:[^`\\]|\\.)*`?)|(\b\d[\w.]*\b)|([A-Za-z_]\w*)/g

/** Longer lines are minified code or data, and are shown as they are. */
const HIGHLIGHTED_CHARS_MAX = 1_000

export function highlightCode(text: string, language: string): StyledLine {
  if (text.length > HIGHLIGHTED_CHARS_MAX) return [span(text)]
  if (/^(diff|patch)$/.test(language)) return [diffSpan(text)]
  if (/^(text|txt|plain|markdown|md|)$/.test(language)) return [span(text)]
  const tokens = HASH_COMMENTS.test(language) ? HASH_TOKENS : SLASH_TOKENS
  const spans: Span[] = []
  let at = 0
  for (const match of text.matchAll(tokens)) {
    if (match.index > at) spans.push(span(text.slice(at, match.index)))
    spans.push(tokenSpan(match))
    at = match.index + match[0].length
  }
  return at < text.length ? [...spans, span(text.slice(at))] : spans
}

function tokenSpan([text, comment, quoted, number, word]: RegExpMatchArray): Span {
  if (comment !== undefined) return span(text ?? '', 'comment')
  if (quoted !== undefined) return span(text ?? '', 'string')
  if (number !== undefined) return span(text ?? '', 'number')
  return span(text ?? '', word !== undefined && WORDS.has(word) ? 'keyword' : 'plain')
}

function diffSpan(text: string): Span {
  if (text.startsWith('+')) return span(text, 'added')
  if (text.startsWith('-')) return span(text, 'removed')
  return span(text, text.startsWith('@@') ? 'accent' : 'plain')
}
