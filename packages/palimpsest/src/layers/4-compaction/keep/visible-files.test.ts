import { expect, test } from 'vitest'

import { said } from '../../../../../../test/kit/said.ts'
import { viewOf } from '../../../transcript/view.ts'
import { visibleFiles } from './visible-files.ts'

test('a file is fully in view only if it was read or printed completely', () => {
  const { nodes } = viewOf(
    said([
      { user: 'go' },
      { call: 'Read', input: { file_path: '/p/whole.ts' }, result: '1\twhole' },
      { call: 'Read', input: { file_path: '/p/part.ts', offset: 10 }, result: '10\tpart' },
      { call: 'Read', input: { file_path: '/p/gone.ts' }, result: 'no such file', error: true },
      { call: 'Bash', input: { command: 'cat /p/printed.txt' }, result: 'printed' },
      { call: 'Bash', input: { command: 'cat /p/long.txt' }, result: 'x'.repeat(26_000) },
      { call: 'Bash', input: { command: 'cat /p/one.txt /p/two.txt' }, result: 'which is which?' },
      { call: 'Bash', input: { command: 'cat /p/piped.txt | head' }, result: 'its head' },
    ]),
  )
  expect([...visibleFiles(nodes)]).toEqual(['/p/whole.ts', '/p/printed.txt'])
})
