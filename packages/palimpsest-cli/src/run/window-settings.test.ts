import { expect, test } from 'vitest'

import { readWindow } from './window-settings.ts'

test.each([
  [{}, 200_000],
  [{ workingWindow: 'full' }, 1_000_000],
  [{ workingWindow: 50_000 }, 50_000],
] as const)('the setting %j leaves a working window of %d tokens', (settings, working) => {
  expect(readWindow('claude-opus-5', { env: {} }, settings).window.working).toBe(working)
})

test('the environment bounds the window whatever the setting says', () => {
  const env = { PALIMPSEST_WINDOW: '60000' }
  expect(readWindow('claude-opus-5', { env }, { workingWindow: 'full' }).window.working).toBe(60_000)
})
