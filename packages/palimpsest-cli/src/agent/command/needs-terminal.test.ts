import { expect, test } from 'vitest'

import { findScreenProgram } from './needs-terminal.ts'

test.each(['vim a.ts', 'cd x && nano b', 'git status; htop', 'git rebase -i HEAD~3', 'git add -p', 'top'])(
  '%s is refused, with what to do instead',
  (line) => {
    expect(findScreenProgram(line)).toMatch(/needs a terminal .* instead$/)
  },
)

test.each([
  'vim -es +q a.ts',
  'emacs --batch -l x.el',
  'top -b -n 1',
  'git rebase main',
  'git add a.ts',
  'echo vim',
  'grep -n vim docs/editor.md',
  'which nano',
  'git log --oneline -i --grep add',
])('%s runs', (line) => {
  expect(findScreenProgram(line)).toBeUndefined()
})
