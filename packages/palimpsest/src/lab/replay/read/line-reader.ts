import { documentsRemark, findDocuments } from '../../../wire/json-documents.ts'
import { parseJsonObject, type JsonObject, type JsonText } from '../../../wire/json.ts'
import type { RecordedSession } from './recorded-session.ts'
import type { Tally } from './tally.ts'

/** Takes a recorded file line by line, without blank lines, and returns the session at the end. */
export interface LineReader {
  readonly line: (text: string, number: number) => void
  readonly end: () => RecordedSession
}

/** One JSON object of a file that has one per line. */
export interface RecordLine {
  readonly record: JsonObject
  readonly text: JsonText
  /** Line number, counted from 1. */
  readonly number: number
  /** Unique in the file: the line number; further records on the same line add a second number. */
  readonly key: string
}

export interface RecordReader {
  readonly tally: Tally
  readonly record: (line: RecordLine) => void
  /** Called for a line of which nothing can be read. */
  readonly unreadable?: () => void
  readonly end: () => RecordedSession
}

/** The report for a line that is not a JSON object. */
const NOT_JSON = 'not a JSON object (torn, binary, or of another format)'

/** For formats with one JSON object per line. If a writer was interrupted, a line may contain several: each is a record. */
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
