import { expect, test } from 'vitest'

import { CLEARED_TEXT, standIn } from './stand-in.ts'

const result = { type: 'tool_result', tool_use_id: 't1', content: 'a long text' } as const
const call = { type: 'tool_use', id: 't1', name: 'Read', input: { file_path: '/a/b.ts' } } as const

test('a plain stand-in has only the first line', () => {
  expect(JSON.parse(standIn(result))).toEqual({
    type: 'tool_result',
    tool_use_id: 't1',
    content: CLEARED_TEXT,
  })
})

test('with details it says what was there and how to restore it', () => {
  const block: { content: string } = JSON.parse(
    standIn(result, { call, chars: 11, digest: 'const fooBar = 1' }),
  )
  expect(block.content.split('\n')).toEqual([
    CLEARED_TEXT,
    'Read {"file_path":"/a/b.ts"}, 11 characters; call it again to see it whole',
    'const fooBar = 1',
  ])
})

test('for a result stored on disk it says where the file is', () => {
  const path = '/home/a/results/t1.txt'
  const block: { content: string } = JSON.parse(standIn(result, { call, chars: 11, digest: '', path }))
  expect(block.content).toBe(`${CLEARED_TEXT}\nRead {"file_path":"/a/b.ts"}; stored whole in ${path}`)
})

test('a long argument is shortened, and an error remains an error', () => {
  const long = { ...call, input: { command: 'x'.repeat(500) } }
  const text = standIn({ ...result, is_error: true }, { call: long, chars: 11, digest: '' })
  const block: { content: string; is_error: boolean } = JSON.parse(text)
  expect(block.is_error).toBe(true)
  expect(block.content.length).toBeLessThan(320)
})
