import { describe, expect, test } from 'vitest'
import {
  parsePercent,
  parseSwitch,
  parseTokens,
  parseWorkingWindow,
  readCompactionSwitches,
} from './setting.ts'

describe('a switch', () => {
  test.each(['1', 'true', 'yes', 'on', 'TRUE', ' On '])('is on for %j', (text) => {
    expect(parseSwitch('DISABLE_COMPACT', text)).toEqual({ value: true })
  })

  test.each([undefined, '', '0', 'false', 'no', 'off', 'No'])('is off for %j', (text) => {
    expect(parseSwitch('DISABLE_COMPACT', text)).toEqual({ value: false })
  })

  test.each(['2', 'maybe', 'enabled', 'y'])('is off, with a warning, for %j', (text) => {
    const { value, warning } = parseSwitch('DISABLE_COMPACT', text)
    expect(value).toBe(false)
    expect(warning).toContain(`DISABLE_COMPACT=${text}`)
  })
})

describe('a number', () => {
  test.each([
    ['120000', 120_000],
    ['120_000', 120_000],
    ['120,000', 120_000],
    [' 1 ', 1],
  ])('of tokens is read from %j', (text, value) => {
    expect(parseTokens('PALIMPSEST_WINDOW', text)).toEqual({ value })
  })

  test.each(['0', '-5', '1.5', 'lots', '1e5', '99999999999999999999'])(
    'of tokens is ignored with a warning: %j',
    (text) => {
      const setting = parseTokens('PALIMPSEST_WINDOW', text)
      expect(setting).not.toHaveProperty('value')
      expect(setting.warning).toContain(`PALIMPSEST_WINDOW=${text}`)
    },
  )

  test.each([undefined, '', '  '])('that is not set has neither a value nor a warning: %j', (text) => {
    expect(parseTokens('PALIMPSEST_WINDOW', text)).toEqual({})
    expect(parsePercent('PALIMPSEST_AUTOCOMPACT_PCT', text)).toEqual({})
  })

  test.each([
    ['80', 80],
    ['80%', 80],
    ['0.5', 0.5],
    ['100', 100],
  ])('of percent is read from %j', (text, value) => {
    expect(parsePercent('PALIMPSEST_AUTOCOMPACT_PCT', text)).toEqual({ value })
  })

  test.each(['0', '101', '-1', 'half'])('of percent is ignored with a warning: %j', (text) => {
    const setting = parsePercent('PALIMPSEST_AUTOCOMPACT_PCT', text)
    expect(setting).not.toHaveProperty('value')
    expect(setting.warning).toContain('PALIMPSEST_AUTOCOMPACT_PCT')
  })

  test('or the word full is a working window', () => {
    expect(parseWorkingWindow('workingWindow', 'full')).toEqual({ value: 'full' })
    expect(parseWorkingWindow('workingWindow', '300000')).toEqual({ value: 300_000 })
    expect(parseWorkingWindow('workingWindow', 'wide').warning).toContain('workingWindow=wide')
  })
})

describe('the switches of compaction', () => {
  test('allow everything by default', () => {
    expect(readCompactionSwitches({})).toEqual({ manual: true, auto: true, warnings: [] })
  })

  test('stop all compaction, or only automatic compaction', () => {
    expect(readCompactionSwitches({ disableCompact: '1' })).toEqual({
      manual: false,
      auto: false,
      warnings: [],
    })
    expect(readCompactionSwitches({ disableAutoCompact: 'yes' })).toEqual({
      manual: true,
      auto: false,
      warnings: [],
    })
    expect(readCompactionSwitches({ autoCompactEnabled: false })).toEqual({
      manual: true,
      auto: false,
      warnings: [],
    })
  })

  test('report values that could not be understood', () => {
    const { auto, warnings } = readCompactionSwitches({ disableCompact: 'perhaps', disableAutoCompact: 'hm' })
    expect(auto).toBe(true)
    expect(warnings).toHaveLength(2)
  })
})
