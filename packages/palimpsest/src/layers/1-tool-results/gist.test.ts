import { expect, test } from 'vitest'

import { gistOf } from './gist.ts'
import { storedStandIn, withoutPreview } from './stand-in.ts'

const result = { type: 'tool_result', tool_use_id: 't1' } as const
const GREEN = `${'building\n'.repeat(500)}Tests  4 passed\nDuration 1s\nDone.\n`
const RED = `${'ok\n'.repeat(300)}--- FAIL: TestLogin\n    login_test.go:3: got 3\nFAIL\tpkg/login\n${'ok\n'.repeat(300)}`

test('the gist of a result is its end, or the lines that report a failure, wherever they are', () => {
  expect(gistOf(result, GREEN)).toEqual({ what: 'end', text: 'Tests  4 passed\nDuration 1s\nDone.' })
  expect(gistOf(result, RED)).toEqual({
    what: 'failure',
    text: '--- FAIL: TestLogin\n    login_test.go:3: got 3\nFAIL\tpkg/login',
  })
  expect(gistOf({ ...result, is_error: true }, 'a\nb\nno such file: x\nc\nd').text).toBe(
    'no such file: x\nc\nd',
  )
})

test('one very long line is cut', () => {
  expect(gistOf(result, 'x'.repeat(9_000)).text).toBe('x'.repeat(600))
})

test('if there is no room for the beginning, the gist stays', () => {
  const stored = { path: '/results/t1.txt', text: RED, previewBytes: 100, gist: gistOf(result, RED) }
  const block = { ...result, ...JSON.parse(storedStandIn(result, stored)) }
  const short = { ...result, ...JSON.parse(withoutPreview(block) ?? '{}') }
  expect(short.content).toMatchInlineSnapshot(`
    "<persisted-output>
    This result has 1862 characters in 604 lines. It is stored whole in /results/t1.txt

    Where it tells of a failure:
    --- FAIL: TestLogin
        login_test.go:3: got 3
    FAIL	pkg/login
    </persisted-output>"
  `)
  expect(withoutPreview(short)).toBeUndefined()
})

test('a gist that the beginning contains is not repeated, and stays when the beginning is dropped', () => {
  const text = `Exit code 1\nerror: one\nb\nc\n${'d\n'.repeat(500)}`
  const stored = { path: '/results/t1.txt', text, previewBytes: 100, gist: gistOf(result, text) }
  const standIn = storedStandIn(result, stored)
  expect(standIn.match(/error: one/g)).toHaveLength(1)
  expect(withoutPreview({ ...result, ...JSON.parse(standIn) })).toContain('failure:\\nerror: one\\nb\\nc')
})
