import { describe, expect, test } from 'vitest'

import { sandboxNote } from './sandbox-note.ts'

const note = (output: string, failed = true): 'certain' | 'likely' | 'none' => {
  const [text] = sandboxNote({ output, failed, folders: ['/work/x'] })
  if (text === undefined) return 'none'
  expect(text).toMatch(/send the same command again with outside_sandbox set to true\.\]$/)
  return text.includes('may be why') ? 'likely' : 'certain'
}

describe('what the note says about the sandbox', () => {
  test.each([
    ["touch: cannot touch 'x': Read-only file system", true, 'certain'],
    ['Error: EROFS: read-only file system, open', true, 'certain'],
    ['curl: (6) Could not resolve host: example.com', true, 'certain'],
    ['OSError: [Errno 100] Network is down', false, 'certain'],
    ['cat: secrets/key: Permission denied', true, 'likely'],
    ["ls: cannot access '/opt/x': No such file or directory", true, 'likely'],
    ["Error: ENOENT: no such file or directory, open '/home/u/.gitconfig'", true, 'likely'],
    ["ls: cannot access '/work/x/y': No such file or directory", true, 'none'],
    ['cat: nofile: No such file or directory', true, 'none'],
    ['grep: nothing to see here', true, 'none'],
    ['all is well', false, 'none'],
  ] as const)('%j, failed: %s: %s', (output, failed, expected) => {
    expect(note(output, failed)).toBe(expected)
  })
})
