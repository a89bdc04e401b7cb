import { expect, test } from 'vitest'

import { sandboxNote } from '../packages/palimpsest-cli/src/agent/sandbox/sandbox-note.ts'
import { htmlToText } from '../packages/palimpsest-cli/src/agent/web/html-to-text.ts'
import { replaceText } from '../packages/palimpsest-cli/src/agent/files/replace-text.ts'
import { typedText } from '../packages/palimpsest/src/facts/own-words.ts'
import { readResult } from '../packages/palimpsest/src/facts/read-result.ts'
import { findInvented } from '../packages/palimpsest/src/layers/4-compaction/proof/find-invented.ts'
import { readNotes } from '../packages/palimpsest/src/layers/3-session-memory/prompt.ts'
import { parseOverflow } from '../packages/palimpsest/src/tokens/overflow.ts'

// Texts that once took the square of their length or more: minutes each. What is slow again does not come to its end here.

const CHARS = 400_000
const long = (part: string): string => part.repeat(CHARS / part.length)

const FAILED = { type: 'tool_result', tool_use_id: 't', content: 'exit code: 1' } as const

test.each<[string, () => unknown, unknown]>([
  ['tags that are never closed', () => htmlToText(long('<b>'), new URL('https://a.example')), ''],
  ['dollar signs in a summary', () => findInvented(long('a$'), () => false), []],
  ['slashes in a summary', () => findInvented(`${long('a/')}/`, () => true), []],
  ['notes that do not end', () => readNotes(long('<notes> ')), undefined],
  ['spaces in notes', () => readNotes(`<notes>${long(' ')}`), undefined],
  ['notices that do not end', () => typedText(long('[Image: source:\n')).length > 0, true],
  ['a command with open quotes', () => readResult(FAILED, `grep "${long('\\"')}`).failed, false],
  ['a refusal with many beginnings', () => parseOverflow(long('Prompt contains 1 tokens ')), undefined],
  [
    'a line of paths that a command printed',
    () => sandboxNote({ output: long('/a '), failed: true, folders: [] }),
    [],
  ],
  [
    'a repetitive text, replaced in another',
    () => replaceText(long('a'), `${'a'.repeat(2_000)}b`, '', true).ok,
    false,
  ],
])('%s', (_, read, expected) => {
  expect(read()).toEqual(expected)
})
