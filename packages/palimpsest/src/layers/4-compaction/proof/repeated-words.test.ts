import { expect, test } from 'vitest'

import { withoutRepeated } from './repeated-words.ts'

const SUMMARY = `5. Problem solving:
   - Fix “it” now.
6. All user messages:
   - Fix "it" now.
   - A longer one,
     over two lines.
   - Fix it, they said.
7. Pending tasks:
   - Fix "it" now.`

test('user messages that stay in view are removed from the list of them, whatever the quotation marks', () => {
  expect(withoutRepeated(SUMMARY, ["Fix 'it' now.", 'A longer one,\nover two lines.']))
    .toBe(`5. Problem solving:
   - Fix “it” now.
6. All user messages:
   - Fix it, they said.
   (The others are shown below.)
7. Pending tasks:
   - Fix "it" now.`)
})

test('an emptied list says why; if nothing is in view, or there is no list, nothing changes', () => {
  const all = ['Fix "it" now.', 'A longer one, over two lines.', 'Fix it, they said.']
  expect(withoutRepeated(SUMMARY, all)).toContain(
    '6. All user messages:\n   (They are shown below.)\n7. Pending tasks:',
  )
  expect(withoutRepeated(SUMMARY, [])).toBe(SUMMARY)
  expect(withoutRepeated('They work.', all)).toBe('They work.')
})
