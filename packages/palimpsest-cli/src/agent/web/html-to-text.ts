import { Parser } from 'htmlparser2'

// HTML as plain text: what a reader would see, with simple marks for headings, lists, tables and links. One pass, no tree; the time is
// proportional to the length, whatever the page.

const SKIPPED = new Set(
  'script style noscript template svg iframe canvas object head title textarea'.split(' '),
)
const BLOCKS = new Set(
  'address article aside blockquote body dd details dialog div dl dt fieldset figcaption figure footer form header hr html main nav ol p pre section summary table tbody tfoot thead tr ul'.split(
    ' ',
  ),
)

interface State {
  readonly base: URL
  readonly parts: string[]
  preDepth: number
  /** How many open tags hide their text. */
  skipDepth: number
  /** Where the text of the open link began, and where the link leads. Undefined: no link is open. */
  link: { readonly href: string; readonly from: number } | undefined
}

export function htmlToText(html: string, base: URL): string {
  const state: State = { base, parts: [], preDepth: 0, skipDepth: 0, link: undefined }
  readTags(html, {
    onBegin: () => {
      state.preDepth = 0
      state.skipDepth = 0
      state.link = undefined
    },
    onOpen: (name, attributes) => {
      if (SKIPPED.has(name)) state.skipDepth++
      if (state.skipDepth === 0) openTag(state, name, attributes)
    },
    onText: (text) => {
      if (state.skipDepth === 0) addText(state, text)
    },
    onClose: (name) => {
      if (state.skipDepth === 0) closeTag(state, name)
      if (SKIPPED.has(name)) state.skipDepth--
    },
  })
  return tidy(state.parts.join(''))
}

export function titleOf(html: string): string | undefined {
  let title: string | undefined
  let isOpen = false
  readTags(html, {
    onBegin: () => {
      isOpen = false
    },
    onOpen: (name) => {
      isOpen = name === 'title' && title === undefined
    },
    onText: (text) => {
      if (isOpen) title = (title ?? '') + text
    },
    onClose: () => {
      isOpen = false
    },
  })
  const line = title?.replaceAll(/\s+/g, ' ').trim()
  return line === '' ? undefined : line
}

/** Twice the depth that browsers nest. At each new tag the parser moves all open ones: unclosed tags would make the time quadratic. */
const NESTED_MAX = 1_000

interface TagReader {
  /** Nothing is open: at the start, and where tags were nested so deep that all of them count as closed. */
  readonly onBegin: () => void
  readonly onOpen: (name: string, attributes: Attributes) => void
  readonly onText: (text: string) => void
  readonly onClose: (name: string) => void
}

function readTags(html: string, reader: TagReader): void {
  for (let from: number | undefined = 0; from !== undefined;) {
    const rest = readNested(from === 0 ? html : html.slice(from), reader)
    from = rest === undefined ? undefined : from + rest
  }
}

/** Where the tag begins that is nested too deep; it has not been read yet. Undefined: everything was read. */
function readNested(html: string, { onBegin, onOpen, onText, onClose }: TagReader): number | undefined {
  let depth = 0
  let deepAt: number | undefined
  const parser = new Parser({
    onopentagname: () => {
      if (++depth <= NESTED_MAX) return
      deepAt ??= parser.startIndex
      parser.pause()
    },
    // An implied tag is opened and closed at once, before the pause.
    onopentag: (name, attributes) => {
      if (deepAt === undefined) onOpen(name, attributes)
    },
    ontext: onText,
    onclosetag: (name) => {
      depth--
      if (deepAt === undefined) onClose(name)
    },
  })
  onBegin()
  parser.end(html)
  return deepAt
}

interface Attributes {
  readonly [name: string]: string | undefined
}

function openTag(state: State, name: string, attributes: Attributes): void {
  const heading = /^h([1-6])$/.exec(name)
  if (heading) state.parts.push(`\n\n${'#'.repeat(Number(heading[1]))} `)
  else if (name === 'li') state.parts.push('\n- ')
  else if (name === 'br') state.parts.push('\n')
  else if (name === 'td' || name === 'th') state.parts.push(' | ')
  else if (name === 'img') state.parts.push(imageText(attributes['alt']))
  else if (name === 'a') state.link = linkOf(attributes['href'], state)
  else if (BLOCKS.has(name)) state.parts.push('\n')
  if (name === 'pre') state.preDepth++
}

function closeTag(state: State, name: string): void {
  if (name === 'pre') state.preDepth = Math.max(0, state.preDepth - 1)
  if (name === 'a' && state.link !== undefined) {
    const text = state.parts.slice(state.link.from).join('').trim()
    if (text !== '' && text !== state.link.href) state.parts.push(` (${state.link.href})`)
    state.link = undefined
  }
  if (BLOCKS.has(name) || /^h[1-6]$/.test(name)) state.parts.push('\n')
}

/** A text comes in pieces, and an entity is one of them: spaces at the end of one piece and the start of the next make one space. */
function addText({ parts, preDepth }: State, text: string): void {
  if (preDepth > 0) parts.push(text)
  else {
    const flowing = text.replaceAll(/\s+/g, ' ')
    parts.push(parts.at(-1)?.endsWith(' ') ? flowing.trimStart() : flowing)
  }
}

function linkOf(href: string | undefined, { base, parts }: State): State['link'] {
  if (href === undefined || href.startsWith('#')) return undefined
  const url = URL.parse(href, base.href)
  return url !== null && /^https?:$/.test(url.protocol) ? { href: url.href, from: parts.length } : undefined
}

function imageText(alt = ''): string {
  return alt.trim() === '' ? '' : `[image: ${alt.trim()}]`
}

function tidy(text: string): string {
  const lines = text.split('\n').map((line) => line.trimEnd())
  const kept: string[] = []
  for (const line of lines) {
    if (line.trim() !== '' || kept.at(-1) !== '')
      kept.push(line.trim() === '' ? '' : line.replace(/^ (?=\S)/, ''))
  }
  return kept.join('\n').trim()
}
