// The front matter of a Markdown file. People write it by hand, often with an unquoted colon in a description, so text that strict YAML
// refuses is read line by line. The YAML parser is loaded with the first file: most starts have none.

export type HeadField = string | number | boolean | readonly string[] | undefined

export interface FrontMatter {
  readonly fields: ReadonlyMap<string, HeadField>
  readonly body: string
}

const FENCE = /^---[ \t]*$/

/** Undefined if there is none. */
export async function readFrontMatter(text: string): Promise<FrontMatter | undefined> {
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/)
  const [first = '', ...rest] = lines
  const end = rest.findIndex((line) => FENCE.test(line))
  if (!FENCE.test(first) || end === -1) return undefined
  const head = rest.slice(0, end)
  const body = rest.slice(end + 1).join('\n')
  return { fields: (await fromYaml(head.join('\n'))) ?? fromLines(head), body: body.trim() }
}

async function fromYaml(head: string): Promise<FrontMatter['fields'] | undefined> {
  const { parseDocument } = await import('yaml')
  const document = parseDocument(head, { uniqueKeys: false, logLevel: 'silent' })
  if (document.errors.length > 0) return undefined
  const value: unknown = toPlain(() => document.toJS({ maxAliasCount: 0 }))
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  return new Map(Object.entries(value).map(([name, one]) => [name, fieldOf(one)]))
}

/** The parser throws for aliases; they have no place in a few lines. */
function toPlain(read: () => unknown): unknown {
  try {
    return read()
  } catch {
    return undefined
  }
}

function fieldOf(value: unknown): HeadField {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value
  if (Array.isArray(value))
    return value.flatMap((one) => (typeof one === 'string' || typeof one === 'number' ? [String(one)] : []))
  return value === null || value === undefined ? undefined : JSON.stringify(value)
}

const NAME = /^[A-Za-z_][\w-]*$/
const ITEM = '- '
/** The text follows on the next lines. */
const FOLDED = /^[|>][+-]?$/

function fromLines(lines: readonly string[]): FrontMatter['fields'] {
  const fields = new Map<string, HeadField>()
  let name: string | undefined
  for (const line of lines) {
    const colon = line.indexOf(':')
    const [key, value] = [line.slice(0, Math.max(0, colon)), line.slice(colon + 1)]
    if (NAME.test(key) && (value === '' || value.trimStart() !== value)) {
      name = key
      fields.set(key, FOLDED.test(value.trim()) ? '' : scalarOf(value))
    } else if (name !== undefined && line.trim() !== '' && !line.startsWith('#')) {
      fields.set(name, withMore(fields.get(name), line))
    }
  }
  return fields
}

function withMore(before: HeadField, line: string): HeadField {
  const text = line.trim()
  const isList = typeof before === 'object' || before === '' || before === undefined
  if (text.startsWith(ITEM) && isList)
    return [...(typeof before === 'object' ? before : []), String(scalarOf(text.slice(ITEM.length)))]
  const said = typeof before === 'object' ? before.join(', ') : String(before ?? '')
  return said === '' ? text : `${said} ${text}`
}

function scalarOf(text: string): string | number | boolean {
  const bare = text.trim()
  const isQuoted = bare.length > 1 && bare[0] === bare.at(-1) && (bare[0] === '"' || bare[0] === "'")
  if (isQuoted) return bare.slice(1, -1)
  if (bare === 'true' || bare === 'false') return bare === 'true'
  return /^\d+$/.test(bare) ? Number(bare) : bare
}
