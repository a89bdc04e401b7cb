import { MEMORY_TYPES, TRUSTS, type Memory, type MemorySource } from './memory.ts'

// A memory as its file has it: front matter in YAML, then Markdown. We write a small part of YAML and read a little more, because people
// write these files too. Lines that mean nothing here stay as they are.

const FENCE = '---'

export function printMemory(memory: Memory): string {
  const { name, description, type, source, trust, created, verified, ended, endedBy, other, body } = memory
  const lines = [
    FENCE,
    `name: ${scalar(name)}`,
    `description: ${scalar(oneLine(description))}`,
    `type: ${type}`,
    ...(source.length === 0 ? ['source: []'] : ['source:', ...source.map(sourceLine)]),
    `trust: ${trust}`,
    `created: ${created}`,
    `verified: ${verified}`,
    ...(ended === undefined ? [] : [`ended: ${ended}`]),
    ...(endedBy === undefined ? [] : [`ended_by: ${scalar(oneLine(endedBy))}`]),
    ...other,
    FENCE,
  ]
  const rest = body.trim()
  const text = `${lines.join('\n')}\n${rest === '' ? '' : `\n${rest}\n`}`
  // With a NUL in it the file would not count as text, and nobody would read it again.
  return text.replaceAll('\0', '')
}

function sourceLine({ session, message }: MemorySource): string {
  return `  - { session: ${scalar(session)}, message: ${scalar(message)} }`
}

/** A description ends with its line: the index has one line for it, with characters that a terminal shows. */
export function oneLine(text: string): string {
  return ONE_LINE.test(text) ? text : text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim()
}

/** Nothing to change: most texts match, and all of them are read again and again. */
const ONE_LINE = /^[!-~]+(?: [!-~]+)*$/

const PLAIN = /^[A-Za-z][\w ./-]*[\w./]$/
/** Words that YAML does not read as text. */
const MEANS_ELSE = /^(?:true|false|yes|no|on|off|null|y|n)$/i

function scalar(text: string): string {
  return PLAIN.test(text) && !MEANS_ELSE.test(text) ? text : JSON.stringify(text)
}

/** What the file says about a memory; what it leaves out comes from `unknown`. Undefined if there is no front matter. */
export function parseMemory(text: string, unknown: Omit<Memory, 'other' | 'body'>): Memory | undefined {
  const [first, ...lines] = text
    .replaceAll('\r\n', '\n')
    .replace(/^\uFEFF/, '')
    .split('\n')
  const end = lines.findIndex((line) => line.trimEnd() === FENCE)
  if (first?.trimEnd() !== FENCE || end === -1) return undefined
  const { fields, source, other } = readFields(lines.slice(0, end))
  return {
    name: unknown.name,
    description: oneLine(fields.get('description') ?? unknown.description),
    type: typeIn(fields) ?? unknown.type,
    source: source ?? unknown.source,
    trust: TRUSTS.find((trust) => trust === fields.get('trust')) ?? unknown.trust,
    created: isoTime(fields.get('created')) ?? unknown.created,
    verified: isoTime(fields.get('verified') ?? fields.get('modified')) ?? unknown.verified,
    ended: isoTime(fields.get('ended')),
    endedBy: fields.get('ended_by'),
    other,
    body: lines
      .slice(end + 1)
      .join('\n')
      .trim(),
  }
}

function typeIn(fields: ReadonlyMap<string, string>): Memory['type'] | undefined {
  return MEMORY_TYPES.find((type) => type === (fields.get('type') ?? fields.get('nested type')))
}

const OWN = new Set(['name', 'description', 'type', 'trust', 'created', 'verified', 'ended', 'ended_by'])

interface Fields {
  readonly fields: ReadonlyMap<string, string>
  readonly source: readonly MemorySource[] | undefined
  readonly other: readonly string[]
}

function readFields(lines: readonly string[]): Fields {
  const fields = new Map<string, string>()
  const other: string[] = []
  let source: MemorySource[] | undefined
  let isInSource = false
  let isInMetadata = false
  for (const line of lines) {
    const [, key = '', value = ''] = /^([A-Za-z_][\w-]*):(?![^\s])(.*)$/s.exec(line) ?? []
    if (key === '' && isInSource) source = addSource(source ?? [], line)
    else if (key === 'source') source = []
    else if (OWN.has(key) && !fields.has(key)) fields.set(key, unquoted(value))
    else {
      other.push(line)
      if (key === 'modified') fields.set(key, unquoted(value))
      // Other agents have it one level down. The upper level counts more.
      const [, nested] = isInMetadata ? (/^\s+type:\s*(\S+)\s*$/.exec(line) ?? []) : []
      if (nested !== undefined && !fields.has('nested type')) fields.set('nested type', unquoted(nested))
    }
    if (key !== '') [isInSource, isInMetadata] = [key === 'source', key === 'metadata']
  }
  return { fields, source: source?.filter(({ message }) => message !== ''), other }
}

const PAIR = /(session|message):\s*("(?:[^"\\]|\\.)*"|'[^']*'|[^\s,{}]+)/g

/** A line of the list: with both members, or with one of them. */
function addSource(before: readonly MemorySource[], line: string): MemorySource[] {
  const found = new Map([...line.matchAll(PAIR)].map(([, key = '', value = '']) => [key, unquoted(value)]))
  if (found.size === 0) return [...before]
  const last = before.at(-1)
  const isNext = /^\s*-/.test(line) || last === undefined
  const start = isNext ? { session: '', message: '' } : last
  const added = {
    session: found.get('session') ?? start.session,
    message: found.get('message') ?? start.message,
  }
  return [...(isNext ? before : before.slice(0, -1)), added]
}

function unquoted(value: string): string {
  const text = value.trim()
  if (/^".*"$/s.test(text)) {
    try {
      const parsed: unknown = JSON.parse(text)
      if (typeof parsed === 'string') return parsed
    } catch {
      // Quotes as in another kind of YAML: use what is between them.
    }
    return text.slice(1, -1)
  }
  return /^'.*'$/s.test(text) ? text.slice(1, -1).replaceAll("''", "'") : text
}

function isoTime(text: string | undefined): string | undefined {
  if (text === undefined || AS_WE_WRITE.test(text)) return text
  const ms = Date.parse(text)
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString()
}

/** A time on a day that every month has: parsing and printing it gives the same. */
const AS_WE_WRITE =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/
