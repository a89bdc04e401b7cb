import { expect, test } from 'vitest'

import { said } from '../../../../../../test/kit/said.ts'
import { factsOf } from '../../../facts/facts-of.ts'
import { viewOf } from '../../../transcript/view.ts'
import { filesToRestore, outdatedFiles } from './conclude.ts'

test('files in use are restored first: named by an open error, changed, named by the next step, then read last', () => {
  const read = (path: string) => ({ call: 'Read', input: { file_path: path }, result: 'x' })
  const facts = factsOf(
    viewOf(
      said([
        { user: 'Mend it.' },
        read('/p/broken.ts'),
        read('/p/next.ts'),
        { call: 'Edit', input: { file_path: '/p/edited.ts', new_string: 'x' }, result: 'ok' },
        { call: 'Bash', input: { command: 'npm test | tail' }, result: 'FAIL broken.ts > is mended' },
        read('/p/other.ts'),
        read('/p/last.ts'),
      ]),
    ),
  )
  expect(filesToRestore(facts, '8. Current work:\n   other.ts\n9. Next step:\n   Look at next.ts.')).toEqual([
    '/p/broken.ts',
    '/p/edited.ts',
    '/p/next.ts',
    '/p/last.ts',
    '/p/other.ts',
  ])
})

test('a file is not in view if its newest change is not', () => {
  const facts = factsOf(
    viewOf(
      said([
        { call: 'Read', input: { file_path: '/p/a.ts' }, result: 'x' },
        { call: 'Edit', input: { file_path: '/p/a.ts', new_string: 'y' }, result: 'ok' },
      ]),
    ),
  )
  expect([...outdatedFiles(facts, new Set(['e1', 'e2']))]).toEqual(['/p/a.ts'])
  expect([...outdatedFiles(facts, new Set(['e1', 'e2', 'e3']))]).toEqual([])
})
