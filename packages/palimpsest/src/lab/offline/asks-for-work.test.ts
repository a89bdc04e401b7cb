import fc from 'fast-check'
import { readFileSync, globSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

import { cases } from '../../../../../test/kit/cases.ts'
import { ROOT } from '../../../../../test/kit/source-tree.ts'
import { asksForWork } from './asks-for-work.ts'

const polite = fc.constantFrom(
  '',
  'please ',
  'Please, ',
  'can you ',
  'Could you please ',
  "I'd like you to ",
  'now ',
  'OK, ',
  "Let's ",
)
const order = fc.constantFrom(
  'fix the bug in parser.ts',
  'add a test for the retry delay',
  'rename foo to bar everywhere',
  'run npm test',
  'write a file hello.txt with "hi" in it',
  'delete the old module and update its callers',
  'make the tests pass',
  'refactor this function',
  'install the dependencies',
  'commit everything',
)
const before = fc.constantFrom(
  '',
  'There is a typo in the README. ',
  'The tests fail since yesterday, ',
  'Find where it is read and ',
)
const end = fc.constantFrom('', '.', '!', ' please', '\n')

test('a request to change or run something is recognised, however it is phrased', () => {
  fc.assert(
    fc.property(before, polite, order, end, (start, words, wish, stop) => {
      expect(asksForWork(`${start}${words}${wish}${stop}`)).toBe(true)
    }),
    cases(500, 100_000),
  )
})

test.each([
  'The retry delay should be 1 second',
  'FIRST_WAIT_MS must be 1000 in retry.ts.',
  'I want the retry delay to be 1 second',
  "I'd like a dark mode",
  'We need a test for this',
  'The parser has to accept tabs too',
  'It is far too slow. The cache ought to be larger',
])('%j is a request for work, although it is no command', (asked) => {
  expect(asksForWork(asked)).toBe(true)
})

test.each([
  'The retry delay should be 1 second. Where is it set?',
  'I want to know where the delay is set',
  "I'd like an overview of the modules",
  'the place where sessions should be removed',
  'tests that must be skipped on Windows',
  'I need to find the default',
  'How do I add a test?',
  'Where is the retry delay computed?',
  'Which function writes the file?',
  'what does run do',
  'Explain how to install it',
  'Tell me where the default is set.',
  'Show me the code that deletes rows',
  'Should we remove it?',
  'Is there a test for "fix the bug"?',
  'Where does `delete x` happen?',
  'retry delay',
  'List the files',
  'Hello!',
  '',
])('%j is not a request for work', (asked) => {
  expect(asksForWork(asked)).toBe(false)
})

test('no question asked of the offline model about the four code bases is mistaken for a request', () => {
  const files = globSync(join(ROOT, 'bench/questions/*.json'))
  const questions = files.flatMap((file): { question: string }[] => JSON.parse(readFileSync(file, 'utf8')))
  expect(questions.length).toBeGreaterThan(400)
  expect(questions.map(({ question }) => question).filter(asksForWork)).toEqual([])
})
