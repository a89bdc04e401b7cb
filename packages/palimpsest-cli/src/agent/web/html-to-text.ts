import { Parser } from 'htmlparser2'

// HTML as plain text: what a reader would see, with headings, lists, tables and links marked in a simple way. One pass, no tree; the time
// is proportional to the length, whatever the page.

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
  /** How many tags are open whose text nobody sees. */
  skipDepth: number
  /** Where the text of the open link began, and where it leads. */
  link: { readonly href: string; readonly from: number } | undefined
}

export function htmlToText(html: string, base: URL): string {
  const state: State = { base, parts: [], preDepth: 0, skipDepth: 0, link: undefined }
  const parser = new Parser({
    onopentag: (name, attributes) => {
      if (SKIPPED.has(name)) state.skipDepth++
      if (state.skipDepth === 0) openTag(state, name, attributes)
    },
    ontext: (text) => {
      if (state.skipDepth === 0) addText(state, text)
    },
    onclosetag: (name) => {
      if (state.skipDepth === 0) closeTag(state, name)
      if (SKIPPED.has(name)) state.skipDepth--
    },
  })
  parser.end(html)
  return tidy(state.parts.join(''))
}

export function titleOf(html: string): string | undefined {
  let title: string | undefined
  let isOpen = false
  const parser = new Parser({
    onopentagname: (name) => {
      isOpen = name === 'title' && title === undefined
    },
    ontext: (text) => {
      if (isOpen) title = (title ?? '') + text
    },
    onclosetag: () => {
      isOpen = false
    },
  })
  parser.end(html)
  const line = title?.replaceAll(/\s+/g, ' ').trim()
  return line === '' ? undefined : line
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

/** A text comes in pieces, an entity is one: space at the end of one and the beginning of the next is one space. */
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
