import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { cases } from '../../../../test/kit/cases.ts'
import {
  BUILT_IN_FLAGS,
  createFlags,
  explainFlag,
  findFlag,
  problemOfValue,
  type FlagSource,
} from './create-flags.ts'
import { FLAGS, type Flag } from './flags.ts'

const source = (name: string, values: { readonly [key: string]: boolean | number }): FlagSource => ({
  name,
  find: (key) => (Object.hasOwn(values, key) ? values[key] : undefined),
})

describe('flags', () => {
  test('have a valid built-in value', () => {
    const wrong = Object.entries<Flag>(FLAGS).filter(([, flag]) => problemOfValue(flag, flag.builtIn))
    expect(wrong).toEqual([])
  })

  test('have their built-in value if no source sets them', () => {
    expect(BUILT_IN_FLAGS.value('tool-result-storage')).toBe(true)
    expect(BUILT_IN_FLAGS.value('collapse')).toBe(false)
    expect(BUILT_IN_FLAGS.value('result-chars-max')).toBe(50_000)
    expect(BUILT_IN_FLAGS.value('result-chars-max:Bash')).toBe(50_000)
  })

  test('the first source that knows a flag decides, and is named', () => {
    const sources = [
      source('first', { 'micro-batch': false }),
      source('second', { 'micro-batch': true, collapse: true }),
    ]
    expect(createFlags(sources).value('micro-batch')).toBe(false)
    expect(explainFlag('micro-batch', sources)).toEqual({ value: false, from: 'first' })
    expect(explainFlag('collapse', sources)).toEqual({ value: true, from: 'second' })
    expect(explainFlag('dreaming', sources)).toEqual({ value: true })
  })

  test('a value of the wrong type or out of bounds is skipped', () => {
    const sources = [
      source('wrong', { 'tool-result-storage': 0, 'result-chars-max': 1, 'answer-chars-max': Number.NaN }),
      source('right', { 'tool-result-storage': false }),
    ]
    const flags = createFlags(sources)
    expect(flags.value('tool-result-storage')).toBe(false)
    expect(flags.value('result-chars-max')).toBe(50_000)
    expect(flags.value('answer-chars-max')).toBe(200_000)
  })

  test('a limit for one tool wins over the limit for all tools of the same source, which wins over the next source', () => {
    const sources = [
      source('file', { 'result-chars-max:Bash': 10_000 }),
      source('service', { 'result-chars-max': 20_000, 'result-chars-max:Bash': 30_000 }),
    ]
    const flags = createFlags(sources)
    expect(flags.value('result-chars-max:Bash')).toBe(10_000)
    expect(flags.value('result-chars-max:Grep')).toBe(20_000)
    expect(createFlags(sources.toReversed()).value('result-chars-max:Bash')).toBe(30_000)
    const ofAllFirst = [source('file', { 'result-chars-max': 20_000 }), ...sources]
    expect(createFlags(ofAllFirst).value('result-chars-max:Bash')).toBe(20_000)
  })

  test('only names in the list are flags, and only some have tools', () => {
    for (const key of ['__proto__', 'constructor', 'toString', '', ':', 'result-chars-max:', 'dreaming:Bash'])
      expect([key, findFlag(key)]).toEqual([key, undefined])
    expect(findFlag('result-chars-max:mcp__server__tool')).toBe(FLAGS['result-chars-max'])
  })

  test('whatever sources say, reading a flag gives a valid value', () => {
    const names = Object.entries<Flag>(FLAGS)
    const anything = fc.dictionary(
      fc.constantFrom(...Object.keys(FLAGS)),
      fc.oneof(fc.boolean(), fc.double(), fc.integer()),
    )
    fc.assert(
      fc.property(fc.array(anything, { maxLength: 3 }), (said) => {
        const sources = said.map((values, i) => source(String(i), values))
        for (const [name, flag] of names)
          expect(problemOfValue(flag, explainFlag(name, sources)?.value)).toBeUndefined()
      }),
      cases(500, 100_000),
    )
  })
})
