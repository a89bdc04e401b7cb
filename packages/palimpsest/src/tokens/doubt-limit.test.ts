import { describe, expect, test } from 'vitest'

import { doubtLimit, limitNamed } from './doubt-limit.ts'

describe('a limit that an error names', () => {
  const refused = { sentTokens: 61_000, outputTokens: 32_000, answeredTokens: 40_000 }

  test.each([
    ['is plausible', 50_000, refused, true, undefined],
    ['is plausible for prompt and answer together', 90_000, refused, true, undefined],
    ['is too small for any window', 4, refused, true, 'tiny'],
    ['was exceeded by an answered request', 40_000, refused, true, 'answered'],
    ['was not reached by the refused request', 200_000, refused, true, 'not-over'],
    ['leaves no room next to system and tools', 50_000, refused, false, 'no-room'],
  ] as const)('%s', (_what, limit, given, hasRoom, doubt) => {
    expect(doubtLimit(limit, given, hasRoom)).toBe(doubt)
  })

  test('is our own count minus the excess if only that is named', () => {
    expect(limitNamed({ limit: 8_192 }, 12_213)).toBe(8_192)
    expect(limitNamed({ excess: 4_021 }, 12_213)).toBe(8_192)
    expect(limitNamed({}, 12_213)).toBeUndefined()
  })
})
