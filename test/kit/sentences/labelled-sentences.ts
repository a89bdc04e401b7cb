import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { textField, textsField } from '../../../packages/palimpsest/src/lab/replay/read/field.ts'
import { isJsonObject } from '../../../packages/palimpsest/src/wire/json.ts'
import { readSentences, type Half, type RecordedSentence, type SessionRow } from './recorded-sentences.ts'

// Sentences labelled by reading them: does it tell the agent how to behave from now on? `docs/labelled-sentences.md` says what the labels
// mean. The list of recorded ones holds no text; the text comes from the recordings.

const LABELS = ['instruction', 'none', 'revocation', 'unclear'] as const
export type Label = (typeof LABELS)[number]

const KINDS = ['prohibition', 'obligation', 'preference', 'constraint'] as const

/** What a sentence lifts stands in the user's instruction files, which the recordings do not hold. */
export const REVOKES_FILE = 'file'

export interface LabelledSentence {
  readonly text: string
  /** The user's whole message that it stands in. */
  readonly message: string
  /** The user's earlier messages, oldest first. */
  readonly before: readonly string[]
  readonly label: Label
  /** Of an instruction. */
  readonly kind?: (typeof KINDS)[number]
  /** The sentence that it lifts or replaces: `entry:sentence` in the same session, `REVOKES_FILE`, or the id of an invented one. */
  readonly revokes?: string
}

export interface LabelledRecorded extends LabelledSentence {
  readonly session: string
  readonly entry: string
  readonly index: number
  readonly project: string
  readonly half: Half
}

export interface LabelledInvented extends LabelledSentence {
  readonly id: string
  readonly language: string
}

/** One line of the list. */
export interface ListRow extends Labels {
  readonly session: string
  readonly entry: string
  readonly sentence: number
  /** Labels of the first and the second reading, where there were two. */
  readonly readings?: readonly [Label, Label]
  readonly hash: string
}

type Labels = Pick<LabelledSentence, 'label' | 'kind' | 'revokes'>

const FOLDER = join(import.meta.dirname, '..', '..', 'recorded')
const LIST = 'standing-sentences.tsv'
const COLUMNS = ['session', 'entry', 'sentence', 'label', 'kind', 'revokes', 'readings', 'hash'] as const

export function readList(): ListRow[] {
  const [head, ...lines] = readFileSync(join(FOLDER, LIST), 'utf8').trimEnd().split('\n')
  if (head !== COLUMNS.join('\t'))
    throw new Error(`${LIST} begins with other columns than ${COLUMNS.join(', ')}`)
  return lines.map(parseRow)
}

function parseRow(line: string, at: number): ListRow {
  const cells = line.split('\t')
  const [session = '', entry = '', sentence = '', label, kind, revokes, readings, hash = ''] = cells
  const isWhole = cells.length === COLUMNS.length && entry !== '' && /^\d+$/.test(sentence)
  if (!isWhole || !/^[0-9a-f]{8}$/.test(hash))
    throw new Error(`${LIST}, line ${at + 2} is not a labelled sentence`)
  const [first, second] = readings ? readings.split(' ') : []
  return {
    session,
    entry,
    sentence: Number(sentence),
    ...parseLabels({ label, kind, revokes }),
    ...(readings && { readings: [parseLabel(first), parseLabel(second)] as const }),
    hash,
  }
}

/** What the list has of some sessions, with the texts. Only where the recordings are. Throws when a sentence is not the one that was labelled. */
export async function readLabelled(sessions: readonly SessionRow[]): Promise<LabelledRecorded[]> {
  const rows = Map.groupBy(readList(), ({ session }) => session)
  const labelled: LabelledRecorded[] = []
  for (const sessionRow of sessions) {
    const listed = rows.get(sessionRow.session)
    if (!listed) continue
    const sentences = new Map((await readSentences(sessionRow)).map((one) => [placeOf(one), one]))
    for (const row of listed) {
      const found = sentences.get(placeOf({ entry: row.entry, index: row.sentence }))
      const { label, kind, revokes } = row
      labelled.push({
        ...checked(row, found),
        ...sessionRow,
        label,
        ...(kind && { kind }),
        ...(revokes && { revokes }),
      })
    }
  }
  return labelled
}

export function readInvented(): LabelledInvented[] {
  const items: unknown = JSON.parse(readFileSync(join(FOLDER, 'invented-sentences.json'), 'utf8'))
  if (!Array.isArray(items) || !items.every(isJsonObject))
    throw new Error('invented-sentences.json is no list')
  return items.map((item) => {
    const text = textField(item, 'text') ?? ''
    return {
      id: textField(item, 'id') ?? '',
      language: textField(item, 'language') ?? '',
      text,
      message: textField(item, 'message') ?? text,
      before: textsField(item, 'before'),
      ...parseLabels({
        label: textField(item, 'label'),
        kind: textField(item, 'kind'),
        revokes: textField(item, 'revokes'),
      }),
    }
  })
}

/** The first 8 hexadecimal digits of its SHA-256. */
export function sentenceHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8)
}

export function placeOf({ entry, index }: Pick<RecordedSentence, 'entry' | 'index'>): string {
  return `${entry}:${index}`
}

function checked(row: ListRow, found: RecordedSentence | undefined): RecordedSentence {
  if (found && sentenceHash(found.text) === row.hash) return found
  const place = `${row.session}, entry ${row.entry}, sentence ${row.sentence}`
  throw new Error(
    `${place}: ${found ? 'another sentence stands there' : 'no such sentence'} now. The recordings, their readers or the splitter changed: label it anew.`,
  )
}

function parseLabels(cells: { readonly [name in keyof Labels]: string | undefined }): Labels {
  const kind = KINDS.find((one) => one === cells.kind)
  if (cells.kind && !kind) throw new Error(`no such kind of instruction: ${cells.kind}`)
  return {
    label: parseLabel(cells.label),
    ...(kind && { kind }),
    ...(cells.revokes && { revokes: cells.revokes }),
  }
}

function parseLabel(text: string | undefined): Label {
  const label = LABELS.find((one) => one === text)
  if (!label) throw new Error(`no such label: ${text}`)
  return label
}
