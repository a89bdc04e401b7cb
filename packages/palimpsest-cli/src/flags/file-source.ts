import { closeSync, constants, fstatSync, openSync, readSync, statSync } from 'node:fs'

import type { FlagSource } from 'palimpsest'

import { systemCode } from '../agent/files/system-code.ts'
import { createPayloadSource, type PayloadSource, type PayloadSourceOptions } from './payload-source.ts'
import { PAYLOAD_BYTES_MAX, readPayload } from './read-payload.ts'

// The user's own file. Every lookup checks whether it changed, which is one system call, so that a change counts from the next decision on.
// An unusable file changes nothing; a deleted file says nothing.

export interface FileSource extends FlagSource, Pick<PayloadSource, 'payload' | 'settled'> {}

export function createFileSource(path: string, options: Omit<PayloadSourceOptions, 'name'>): FileSource {
  const { report } = options
  const source = createPayloadSource({ ...options, name: 'flags.json' })
  let seen = ABSENT
  const look = (): void => {
    const now = markOf(path)
    if (now === seen) return
    seen = now
    if (now === ABSENT) source.take(undefined)
    else takeFile(path, source, report)
  }
  look()
  return {
    name: source.name,
    payload: source.payload,
    settled: source.settled,
    find: (key) => {
      look()
      return source.find(key)
    },
  }
}

const ABSENT = ''

/** Differs whenever the file does: its place, length, and times in nanoseconds. */
function markOf(path: string): string {
  try {
    const found = statSync(path, { bigint: true, throwIfNoEntry: false })
    if (!found) return ABSENT
    const { dev, ino, size, mtimeNs, ctimeNs } = found
    return [dev, ino, size, mtimeNs, ctimeNs].join(' ')
  } catch (error) {
    return `unreadable ${systemCode(error) ?? String(error)}`
  }
}

function takeFile(path: string, source: PayloadSource, report: (problem: string) => void): void {
  const read = readSmallFile(path)
  const { payload, problems, unknown } =
    'problem' in read
      ? { problems: [{ message: read.problem }], unknown: [] }
      : readPayload(read.text, source.payload())
  for (const { line, message } of problems)
    report(`${path}${line === undefined ? '' : `:${line}`}: ${message}. It is ignored`)
  if (unknown.length > 0) report(`${path}: unknown flags: ${toList(unknown)}. docs/flags.md lists all flags`)
  if (payload) source.take(payload)
}

type ReadFile = { readonly text: string } | { readonly problem: string }

/** Does not wait for anything but a plain file, such as a pipe that no one writes to. */
function readSmallFile(path: string): ReadFile {
  let file: number | undefined
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    if (!fstatSync(file).isFile()) return { problem: 'this is not a regular file' }
    const bytes = Buffer.alloc(PAYLOAD_BYTES_MAX + 1)
    const length = readWhole(file, bytes)
    if (length > PAYLOAD_BYTES_MAX) return { problem: `it is larger than ${PAYLOAD_BYTES_MAX} bytes` }
    return { text: bytes.toString('utf8', 0, length) }
  } catch (error) {
    return { problem: `it cannot be read (${systemCode(error) ?? String(error)})` }
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

function readWhole(file: number, bytes: Buffer): number {
  let length = 0
  for (;;) {
    const more = readSync(file, bytes, length, bytes.length - length, null)
    if (more === 0) return length
    length += more
  }
}

const SHOWN_MAX = 5
const NAME_CHARS = 60

function toList(names: readonly string[]): string {
  const first = names.slice(0, SHOWN_MAX).map((name) => JSON.stringify(name.slice(0, NAME_CHARS)))
  const more = names.length - first.length
  return more > 0 ? `${first.join(', ')} and ${more} more` : first.join(', ')
}
