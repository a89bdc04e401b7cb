import { isCommonWord } from './common-words.ts'

// What counts as a distinctive token of a text: a string that points to one thing, so that an agent that writes it must have seen it
// or made it up. Classes are tried in order at each place, longer ones before shorter ones; no character belongs to two tokens.

export const TOKEN_CLASSES = [
  'url',
  'path',
  'file',
  'hash',
  'error',
  'issue',
  'flag',
  'symbol',
  'number',
  'quoted',
] as const
export type TokenClass = (typeof TOKEN_CLASSES)[number]

export interface Token {
  readonly class: TokenClass
  readonly text: string
  /** Offset in the text that the token comes from. */
  readonly at: number
}

const EXTENSIONS =
  'astro|bash|bat|c|cc|cfg|cjs|conf|cpp|cs|css|csv|dart|db|env|ex|exs|fish|go|gradle|graphql|h|hpp|html|ini|ipynb|java|jpeg|jpg|js|' +
  'json|jsonl|jsx|kt|less|lock|log|lua|m|md|mdx|mjs|ml|mod|mts|nix|patch|pdf|php|pid|pl|png|proto|ps1|py|pyi|r|rb|rs|rst|scala|scss|' +
  'sh|sql|sqlite|sum|svelte|svg|swift|tf|toml|ts|tsx|txt|vue|wasm|webp|xml|yaml|yml|zig|zip|zsh'

const SEGMENT = '[\\w@+.~-]+'

/** One alternative per class. A path needs a slash; `a/b` of plain words is prose and is filtered out below. */
const TOKEN = new RegExp(
  [
    `(?<url>https?://[^\\s"'\`<>()[\\]{}|\\\\^]+)`,
    `(?<path>(?<![\\w/])(?:[A-Za-z]:\\\\(?:[\\w@+. ~-]+\\\\)*[\\w@+.~-]+|(?:~|\\.{1,2})?(?:/${SEGMENT})+|${SEGMENT}(?:/${SEGMENT})+))`,
    `(?<file>(?<![\\w.-])[\\w@+.-]*\\w\\.(?:${EXTENSIONS})(?![\\w-]))`,
    '(?<hash>\\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\\b|\\b(?=[a-f]*\\d)(?=\\d*[a-f])[0-9a-f]{7,40}\\b)',
    '(?<error>\\bE[A-Z]{4,}\\b|\\b[A-Z]{1,4}\\d{3,5}\\b|\\b0x[0-9a-fA-F]{2,}\\b|\\bHTTP[ /]\\d{3}\\b)',
    '(?<issue>(?<!\\w)#\\d{1,6}\\b|\\b[A-Z]{2,}-\\d+\\b)',
    '(?<flag>(?<![\\w-])--[a-z][a-z0-9]*(?:-[a-z0-9]+)*)',
    '(?<symbol>[A-Za-z_$][\\w$]*(?:(?:\\.|::|->)[A-Za-z_$][\\w$]*)*)',
    '(?<number>(?<![\\w.])\\d+(?:\\.\\d+)*(?![\\w]))',
  ].join('|'),
  'g',
)

/** The distinctive tokens of a text, in order. */
export function extractTokens(text: string): Token[] {
  const tokens: Token[] = []
  for (const match of text.matchAll(TOKEN)) {
    const found = toToken(match)
    if (found && isDistinctive(found)) tokens.push(found)
  }
  return tokens
}

const QUOTED = /(["'`])([^"'`\n]{4,80})\1/g

/** Quoted strings of a tool's input that contain no other token: search patterns, messages, names with spaces. */
export function extractQuoted(text: string, tokens: readonly Token[]): Token[] {
  const quoted: Token[] = []
  for (const match of text.matchAll(QUOTED)) {
    const inner = match[2] ?? ''
    const at = match.index + 1
    const overlaps = tokens.some((token) => token.at < at + inner.length && token.at + token.text.length > at)
    if (!overlaps && /\w\W+\w/.test(inner) && /[A-Za-z]{3}/.test(inner))
      quoted.push({ class: 'quoted', text: inner.trim(), at })
  }
  return quoted
}

function toToken(match: RegExpExecArray): Token | undefined {
  const name = TOKEN_CLASSES.find((name) => match.groups?.[name] !== undefined)
  if (!name) return undefined
  const text = name === 'url' || name === 'path' || name === 'file' ? trimEnd(match[0]) : match[0]
  return { class: name, text, at: match.index }
}

/** Punctuation of the sentence is not part of an address. */
function trimEnd(text: string): string {
  return text.replace(/[.,;:!?'"~-]+$/, '')
}

function isDistinctive({ class: name, text }: Token): boolean {
  if (isCommonWord(text)) return false
  switch (name) {
    case 'url':
      return text.length > 'https://a.b'.length
    case 'path':
      return isDistinctivePath(text)
    case 'symbol':
      return isDistinctiveSymbol(text)
    case 'number':
      return isDistinctiveNumber(text)
    case 'file':
    case 'hash':
    case 'error':
    case 'issue':
    case 'flag':
    case 'quoted':
      return true
    default:
      return name satisfies never
  }
}

/** `and/or` is prose and `1/2` a fraction: two plain words or numbers around one slash do not name a file. */
function isDistinctivePath(text: string): boolean {
  if (!/[A-Za-z]/.test(text)) return false
  const parts = text.split(/[\\/]/).filter((part) => part !== '' && !/^\.+$/.test(part))
  if (parts.length < 2) return /^[~/.]/.test(text) && /[._-]|\d/.test(parts[0] ?? '')
  if (parts.length === 2 && !/^[~/.]/.test(text)) return parts.some((part) => /[._\d]|[a-z][A-Z]/.test(part))
  return true
}

/** A single word must look coined: an inner underscore or a change of case. No part of a qualified name may be a single letter. */
function isDistinctiveSymbol(text: string): boolean {
  const parts = text.split(/\.|::|->/)
  if (parts.length > 1) return parts.every((part) => part.length > 1) && text.length > 5
  return /[A-Za-z0-9]_+[A-Za-z0-9]/.test(text) || /[a-z][A-Z]/.test(text) || /[A-Z][a-z0-9]+[A-Z]/.test(text)
}

/** At least three digits; round numbers and years are in every text. */
function isDistinctiveNumber(text: string): boolean {
  const digits = text.replaceAll('.', '')
  if (digits.length < 3) return false
  return !/^\d{1,2}0+$/.test(text) && !/^(?:19|20)\d\d$/.test(text)
}
