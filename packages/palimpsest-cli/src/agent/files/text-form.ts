// Files as text and back, byte for byte. A UTF-8 file is edited as bytes (a latin1 string with one character per byte), so that an edit
// preserves everything it does not touch: byte order mark, mixed line ends, even bytes that are not valid UTF-8.

export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be'

export interface TextForm {
  readonly encoding: Encoding
  readonly hasMark: boolean
  /** The content in the units that edits work on, without the byte order mark. */
  readonly units: string
}

const MARKS: readonly { readonly encoding: Encoding; readonly bytes: readonly number[] }[] = [
  { encoding: 'utf-8', bytes: [0xef, 0xbb, 0xbf] },
  { encoding: 'utf-16le', bytes: [0xff, 0xfe] },
  { encoding: 'utf-16be', bytes: [0xfe, 0xff] },
]

/** Enough to recognize what a file is. */
const SNIFFED_BYTES = 8192

/** The encoding that the first bytes show. Undefined: not text. */
export function findEncoding(bytes: Uint8Array): Encoding | undefined {
  const marked = MARKS.find((mark) => startsWith(bytes, mark.bytes))
  if (marked !== undefined) return marked.encoding
  return bytes.subarray(0, SNIFFED_BYTES).includes(0) ? undefined : 'utf-8'
}

/** Undefined if it is not text: a NUL byte, half a UTF-16 unit. */
export function toTextForm(bytes: Uint8Array): TextForm | undefined {
  const encoding = findEncoding(bytes)
  if (encoding === undefined) return undefined
  const mark = MARKS.find(
    (candidate) => candidate.encoding === encoding && startsWith(bytes, candidate.bytes),
  )
  const body = Buffer.from(bytes.subarray(mark?.bytes.length ?? 0))
  const hasMark = mark !== undefined
  if (encoding === 'utf-8') return { encoding, hasMark, units: body.toString('latin1') }
  if (body.length % 2 !== 0) return undefined
  return { encoding, hasMark, units: inLittleEndian(body, encoding).toString('utf16le') }
}

export function toBytes(form: TextForm): Uint8Array {
  const mark = form.hasMark ? (MARKS.find(({ encoding }) => encoding === form.encoding)?.bytes ?? []) : []
  const body =
    form.encoding === 'utf-8'
      ? Buffer.from(form.units, 'latin1')
      : inLittleEndian(Buffer.from(form.units, 'utf16le'), form.encoding)
  return Buffer.concat([Uint8Array.from(mark), body])
}

/** A text in the units of a file with this encoding. */
export function toUnits(text: string, encoding: Encoding): string {
  return encoding === 'utf-8' ? Buffer.from(text, 'utf8').toString('latin1') : text
}

/** Units as readable text. Bytes that are not UTF-8 become U+FFFD. */
export function fromUnits(units: string, encoding: Encoding): string {
  return encoding === 'utf-8' ? Buffer.from(units, 'latin1').toString('utf8') : units
}

/** Swaps the bytes of each unit if they are big-endian; returns a copy then, and never changes the input. */
function inLittleEndian(bytes: Buffer, encoding: Encoding): Buffer {
  return encoding === 'utf-16be' ? Buffer.from(bytes).swap16() : bytes
}

function startsWith(bytes: Uint8Array, start: readonly number[]): boolean {
  return start.every((byte, index) => bytes[index] === byte)
}
