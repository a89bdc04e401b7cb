// HTML as plain text: what a reader would see, with headings, lists, tables and links marked in a simple way. One pass, no tree; the time
// is proportional to the length, whatever the page.

const SKIPPED = new Set([
  'script',
  'style',
  'noscript',
  'template',
  'svg',
  'iframe',
  'canvas',
  'object',
  'head',
  'title',
])
const BLOCKS = new Set(
  'address article aside blockquote body dd details dialog div dl dt fieldset figcaption figure footer form header hr html main nav ol p pre section summary table tbody tfoot thead tr ul'.split(
    ' ',
  ),
)

interface State {
  readonly html: string
  /** The same length as `html`: only letters of ASCII are made small. */
  readonly lower: string
  readonly base: URL
  readonly parts: string[]
  preDepth: number
  /** Where the text of the open link began, and where it leads. */
  link: { readonly href: string; readonly from: number } | undefined
}

export function htmlToText(html: string, base: URL): string {
  const lower = html.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase())
  const state: State = { html, lower, base, parts: [], preDepth: 0, link: undefined }
  let at = 0
  while (at < html.length) {
    const open = html.indexOf('<', at)
    addText(state, html.slice(at, open === -1 ? html.length : open))
    if (open === -1) break
    at = afterTag(state, open)
  }
  return tidy(state.parts.join(''))
}

export function titleOf(html: string): string | undefined {
  const open = /<title[^>]{0,200}>/i.exec(html)
  if (open === null) return undefined
  const from = open.index + open[0].length
  const end = html.indexOf('<', from)
  const title = decodeEntities(html.slice(from, end === -1 ? undefined : end))
    .replaceAll(/\s+/g, ' ')
    .trim()
  return title === '' ? undefined : title
}

/** Handles the tag at `open` and says where to go on. */
function afterTag(state: State, open: number): number {
  const { html, lower } = state
  if (html.startsWith('<!--', open)) return after(html.indexOf('-->', open + 4), 3, html)
  if (html[open + 1] === '!' || html[open + 1] === '?') return after(html.indexOf('>', open), 1, html)
  const [, slash, name = ''] = /^<(\/?)([a-z][a-z0-9-]*)/.exec(lower.slice(open, open + 40)) ?? []
  if (slash === undefined) {
    addText(state, '<')
    return open + 1
  }
  const end = endOfTag(html, open)
  if (slash === '' && SKIPPED.has(name)) {
    const close = lower.indexOf(`</${name}`, end)
    return close === -1 ? html.length : after(html.indexOf('>', close), 1, html)
  }
  const attributes = html.slice(open + 1 + name.length, end)
  if (slash === '') openTag(state, name, attributes)
  else closeTag(state, name)
  return end
}

function after(found: number, length: number, html: string): number {
  return found === -1 ? html.length : found + length
}

/** A `>` in quotes does not end a tag. */
function endOfTag(html: string, open: number): number {
  let quote = ''
  for (let at = open + 1; at < html.length; at++) {
    const character = html.charAt(at)
    if (quote !== '') quote = character === quote ? '' : quote
    else if (character === '"' || character === "'") quote = character
    else if (character === '>') return at + 1
  }
  return html.length
}

function openTag(state: State, name: string, attributes: string): void {
  const heading = /^h([1-6])$/.exec(name)
  if (heading) state.parts.push(`\n\n${'#'.repeat(Number(heading[1]))} `)
  else if (name === 'li') state.parts.push('\n- ')
  else if (name === 'br') state.parts.push('\n')
  else if (name === 'td' || name === 'th') state.parts.push(' | ')
  else if (name === 'img') state.parts.push(imageText(attributes))
  else if (name === 'a') state.link = linkOf(attributes, state.base, state.parts.length)
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

function linkOf(attributes: string, base: URL, from: number): State['link'] {
  const href = attributeOf(attributes, 'href')
  if (href === undefined || href.startsWith('#')) return undefined
  const url = URL.parse(href, base.href)
  return url !== null && /^https?:$/.test(url.protocol) ? { href: url.href, from } : undefined
}

function imageText(attributes: string): string {
  const alt = attributeOf(attributes, 'alt')?.trim()
  return alt === undefined || alt === '' ? '' : `[image: ${alt}]`
}

function attributeOf(attributes: string, name: string): string | undefined {
  const found = new RegExp(String.raw`(?:^|\s)${name}\s?=\s?(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))`, 'i').exec(
    attributes,
  )
  const value = found?.[1] ?? found?.[2] ?? found?.[3]
  return value === undefined ? undefined : decodeEntities(value)
}

function addText(state: State, raw: string): void {
  if (raw === '') return
  const text = decodeEntities(raw)
  state.parts.push(state.preDepth > 0 ? text : text.replaceAll(/\s+/g, ' '))
}

const ENTITIES = new Map(
  Object.entries({
    amp: '&',
    lt: '<',
    gt: '>',
    quot: '"',
    apos: "'",
    nbsp: ' ',
    ndash: '–',
    mdash: '—',
    hellip: '…',
    lsquo: '‘',
    rsquo: '’',
    ldquo: '“',
    rdquo: '”',
    laquo: '«',
    raquo: '»',
    copy: '©',
    reg: '®',
    trade: '™',
    middot: '·',
    bull: '•',
    times: '×',
    larr: '←',
    rarr: '→',
    para: '¶',
    sect: '§',
    deg: '°',
    euro: '€',
  }),
)

function decodeEntities(text: string): string {
  return text.replaceAll(
    /&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([a-zA-Z]{2,8}));/g,
    (whole, decimal, hex, name) => {
      if (typeof name === 'string') return ENTITIES.get(name) ?? whole
      const code = typeof hex === 'string' ? Number.parseInt(hex, 16) : Number(decimal)
      return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff)
        ? String.fromCodePoint(code)
        : whole
    },
  )
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
