import { documentsRemark, findDocuments } from '../../../wire/json-documents.ts'
import { parseJsonObject, type JsonObject, type JsonText } from '../../../wire/json.ts'
import type { RecordedSession } from './recorded-session.ts'
import type { Tally } from './tally.ts'

/** Takes a recorded file line by line, blank lines left out, and says at the end what it was. */
export interface LineReader {
  readonly line: (text: string, number: number) => void
  readonly end: () => RecordedSession
}

/** One JSON object of a file that has one per line. */
export interface RecordLine {
  readonly record: JsonObject
  readonly text: JsonText
  /** Of its line, counted from 1. */
  readonly number: number
  /** No other record of the file has it: the number, and a second one where several stand on the line. */
  readonly key: string
}

export interface RecordReader {
  readonly tally: Tally
  readonly record: (line: RecordLine) => void
  /** A line of which nothing can be read. */
  readonly unreadable?: () => void
  readonly end: () => RecordedSession
}

/** What to say of a line that is no JSON object. */
const NOT_JSON = 'not a JSON object (torn, binary, or of another format)'

/** For formats with one JSON object per line. Where a writer was interrupted, a line may hold several: each is a record. */
export function readRecords(reader: RecordReader): LineReader {
  return {
    line(text, number) {
      const record = parseJsonObject(text)
      if (record) return reader.record({ record, text, number, key: String(number) })
      const found = findDocuments(text)
      const remark = documentsRemark(found)
      if (remark === undefined) {
        reader.unreadable?.()
        return reader.tally.reported(number, NOT_JSON)
      }
      reader.tally.note(number, remark)
      for (const [index, { value, start, end }] of found.documents.entries())
        reader.record({
          record: value,
          text: text.slice(start, end),
          number,
          key: index === 0 ? String(number) : `${number}-${index + 1}`,
        })
    },
    end: reader.end,
  }
}
