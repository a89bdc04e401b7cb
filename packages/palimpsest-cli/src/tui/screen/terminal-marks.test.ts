import { expect, test } from 'vitest'

import { createMarks } from './terminal-marks.ts'

test('the title says that something runs; the bell rings when that took long', () => {
  let at = 0
  let written: string[] = []
  const taken = (): readonly string[] => written.splice(0)
  const marks = createMarks(
    { write: (text) => void written.push(text) },
    { title: 'a\x1b[2J', now: () => at },
  )
  expect(taken()).toEqual(['\x1b[22;0t', '\x1b]0;a\\x1b[2J\x07'])
  marks.setBusy(true)
  at = 19_000
  marks.setBusy(false)
  expect(taken()).toEqual(['\x1b]0;✻ a\\x1b[2J\x07', '\x1b]0;a\\x1b[2J\x07'])
  marks.setBusy(true)
  at = 40_000
  marks.setBusy(false)
  marks.setBusy(false)
  expect(taken().at(-1)).toBe('\x07')
  marks.close()
  expect(taken()).toEqual(['\x1b[23;0t'])
  written = []
})
