import { expect, test } from 'vitest'

import { visibleText } from './visible-text.ts'

test('characters that could move the cursor or change the writing direction are made visible; tabs and line ends stay', () => {
  expect(visibleText('a\tb\r\nc\u001b[31mred\u0007\u009b\u202e\u0000')).toBe('a\tb\nc␛[31mred␇\ufffd\ufffd␀')
})
