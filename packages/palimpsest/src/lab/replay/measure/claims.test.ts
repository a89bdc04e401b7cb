import { describe, expect, test } from 'vitest'

import { claimsOf } from './claims.ts'
import { makePage, wholePage } from './sight.ts'

const FILES = Array.from({ length: 12 }, (_, i) => `src/part${i}/file.ts`)

const claimed = (text: string, isStandIn = false): string[] =>
  claimsOf(wholePage(makePage(text, isStandIn))).map(({ kind, path }) => `${kind} ${path}`)

describe('a made text claims that files were changed', () => {
  test('in a line that says so, or in a list under a heading, however long', () => {
    expect(claimed('Edited src/part1/file.ts twice.')).toEqual(['edit src/part1/file.ts'])
    const listed = claimed(['## Modified files', ...FILES.map((file) => `- ${file}`)].join('\n'))
    expect(listed).toEqual(FILES.map((file) => `edit ${file}`))
  })

  test('not in a word list, whatever verb it contains', () => {
    expect(claimed(`deleted ${FILES.join(' ')}`)).toEqual([])
    expect(claimed(`Deleted: ${FILES.map((file) => `${file} and`).join(' ')}`)).toEqual([])
  })

  test('not in the place of a single tool result', () => {
    expect(claimed('Edited src/part1/file.ts.', true)).toEqual([])
  })
})
