import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { cases } from '../../../../test/kit/cases.ts'
import { hasRules, loadEvaluator, plainValues } from './evaluate-features.ts'
import { PAYLOAD_BYTES_MAX, readPayload } from './read-payload.ts'

const read = (value: unknown) => readPayload(JSON.stringify(value), undefined)
const problemsOf = (feature: unknown, name = 'micro-batch'): readonly string[] =>
  read({ features: { [name]: feature } }).problems.map(({ message }) => message)
const withRule = (rule: unknown): readonly string[] => problemsOf({ defaultValue: true, rules: [rule] })

describe('a payload', () => {
  test('gives its flags, and names what is not a flag', () => {
    const features = { 'micro-batch': { defaultValue: false }, 'new-checkout': { defaultValue: 'blue' } }
    const { payload, problems, unknown } = read({ features, dateUpdated: '2027-01-01', experiments: [] })
    expect(payload).toEqual({ features: { 'micro-batch': { defaultValue: false } }, savedGroups: {} })
    expect([problems, unknown]).toEqual([[], ['new-checkout']])
  })

  test.each([
    ['', 'this is not valid JSON: the text ends too early', 1],
    [
      '{"features": {\n"micro-batch": {"defaultV',
      'this is not valid JSON: the string does not end on its line',
      2,
    ],
    ['{"features": {}} x', 'this is not valid JSON: "x" cannot start a value', 1],
    ['[1]', 'this is not a payload: it must be an object with "features"', undefined],
    ['{}', 'the payload must contain "features": {"name": {"defaultValue": …}}', undefined],
    ['{"features": []}', 'the payload must contain "features": {"name": {"defaultValue": …}}', undefined],
    [
      '{"encryptedFeatures": "x.y"}',
      'the payload is encrypted, which is not supported. Serve it without encryption',
      undefined,
    ],
    ['['.repeat(1000), 'this is not valid JSON: the values are nested too deeply', 1],
    ['\uFEFF[]', 'this is not a payload: it must be an object with "features"', undefined],
  ])('that is not valid is refused as a whole: %j', (text, message, line) => {
    const read = readPayload(text, undefined)
    expect(read.payload).toBeUndefined()
    expect(read.problems).toEqual([line === undefined ? { message } : { line, message }])
  })

  test('of the maximum length is read without running out of stack', () => {
    const text = JSON.stringify({ features: { x: { defaultValue: 'a'.repeat(PAYLOAD_BYTES_MAX) } } })
    expect(readPayload(text, undefined).unknown).toEqual(['x'])
  })

  test('with extremely deep nesting is read, refused inside our features, and reported without its line if that is long', () => {
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`
    const ours = readPayload(
      `{"features": {"micro-batch": {"rules": [{"force": true, "condition": {"a": ${deep}}}]}, "x": ${deep}}}`,
      undefined,
    )
    expect(ours.problems).toEqual([
      { message: '"micro-batch" has a rule (number 1) that has a condition that is nested too deeply' },
    ])
    expect(readPayload(`{"features": {"x": ${deep}`, undefined).problems).toEqual([
      { message: expect.stringMatching(/^this is not valid JSON: SyntaxError/) },
    ])
  })

  test('with one wrong feature keeps that one as it was, and takes the others', () => {
    const before = read({ features: { 'micro-batch': { defaultValue: false } } }).payload
    const text = JSON.stringify({
      features: { 'micro-batch': { defaultValue: 'no' }, 'micro-cold': { defaultValue: false } },
    })
    const { payload, problems } = readPayload(text, before)
    expect(payload?.features).toEqual({
      'micro-batch': { defaultValue: false },
      'micro-cold': { defaultValue: false },
    })
    expect(problems).toEqual([{ message: '"micro-batch" must be true or false' }])
    expect(readPayload(text, undefined).payload?.features).toEqual({ 'micro-cold': { defaultValue: false } })
  })

  test('that no longer names a feature says nothing about it', () => {
    const before = read({ features: { 'micro-batch': { defaultValue: false } } }).payload
    expect(readPayload('{"features": {}}', before).payload?.features).toEqual({})
  })

  test('without a default value says nothing about the flag', () => {
    const { payload, problems } = read({
      features: { 'micro-batch': {}, 'micro-cold': { defaultValue: null } },
    })
    expect(problems).toEqual([])
    expect(payload && plainValues(payload).values).toEqual(new Map())
  })

  test('with an invalid group says so, and rules about it match nobody', async () => {
    const rule = (operator: string) => ({ condition: { id: { [operator]: 'g' } }, force: false })
    const { payload, problems } = read({
      features: {
        'micro-batch': { defaultValue: true, rules: [rule('$inGroup')] },
        'micro-cold': { defaultValue: true, rules: [rule('$notInGroup')] },
      },
      savedGroups: { g: 'x' },
    })
    expect(problems).toEqual([{ message: 'the saved group "g" is not a list' }])
    const evaluate = await loadEvaluator()
    const { values } = evaluate(payload ?? expect.unreachable(), { id: 'x', version: '1', platform: 'linux' })
    expect(values).toEqual(
      new Map([
        ['micro-batch', true],
        ['micro-cold', true],
      ]),
    )
  })
})

describe('a feature is refused', () => {
  test.each([
    [false, 'must be an object: {"defaultValue": true}'],
    [null, 'must be an object: {"defaultValue": true}'],
    [{ defaultValue: 'off' }, 'must be true or false'],
    [{ defaultValue: 0 }, 'must be true or false'],
    [{ defaultValue: true, rules: {} }, 'must have a list of rules'],
    [
      { defaultValue: true, rules: Array.from({ length: 101 }, () => ({ force: true })) },
      'has more than 100 rules',
    ],
  ])('for its form: %j', (feature, message) => {
    expect(problemsOf(feature)).toEqual([`"micro-batch" ${message}`])
  })

  test.each([
    [0, 'must be a number from 5000 to 10000000'],
    ['20000', 'must be a number from 5000 to 10000000'],
    [1e9, 'must be a number from 5000 to 10000000'],
  ])('for a number that it does not accept: %j', (defaultValue, message) => {
    expect(problemsOf({ defaultValue }, 'result-chars-max:Bash')).toEqual([
      `"result-chars-max:Bash" ${message}`,
    ])
  })

  test.each([
    [7, 'is not an object'],
    [{ force: 'off' }, 'gives "off": it must be true or false'],
    [{ variations: [true, 'x'] }, 'gives "x": it must be true or false'],
    [{ variations: 'x' }, 'gives "x": it must be true or false'],
    [{ force: false, coverage: 2 }, 'has a coverage that is not between 0 and 1'],
    [{ variations: [true, false], weights: [0.9, 0.9] }, 'has weights that do not add up to 1'],
    [{ force: false, condition: 'x' }, 'has a condition that is not an object'],
    [
      { force: false, condition: { id: { $regex: '(a+)+$' } } },
      'uses $regex, which can take hours. Name the values with $in, or versions with $vgte',
    ],
    [
      { force: false, condition: { $or: [{ $not: { id: { $not: { $regexi: 'x' } } } }] } },
      'uses $regexi, which can take hours. Name the values with $in, or versions with $vgte',
    ],
    [{ force: false, condition: { id: { $near: 3 } } }, 'uses $near, which is not supported'],
    [{ force: false, condition: { $savedGroup: { id: 'g' } } }, 'uses $savedGroup, which is not supported'],
    [
      { force: false, parentConditions: [{ id: 'other', condition: {} }] },
      'has prerequisites, which are not supported. Repeat their conditions in it',
    ],
  ])('for a rule: %j', (rule, message) => {
    expect(withRule(rule)).toEqual([`"micro-batch" has a rule (number 1) that ${message}`])
  })

  test('whatever it holds, reading it and evaluating what is left never throws', async () => {
    const evaluate = await loadEvaluator()
    const part = fc.jsonValue({ maxDepth: 4 })
    const condition = fc.dictionary(
      fc.constantFrom('id', 'model', '$or', '$and', '$not', '$in', '$size', '$elemMatch', '$regex'),
      part,
    )
    const rule = fc.record(
      {
        force: fc.oneof(fc.boolean(), part),
        variations: fc.oneof(fc.array(fc.boolean()), part),
        condition: fc.oneof(condition, part),
        coverage: fc.oneof(fc.double({ min: 0, max: 1 }), part),
        weights: part,
        filters: part,
        namespace: part,
        ranges: part,
        range: part,
        meta: part,
        hashAttribute: fc.oneof(fc.constantFrom('id', 'model'), part),
        hashVersion: fc.oneof(fc.constantFrom(1, 2), part),
        seed: part,
        key: part,
        tracks: part,
        contextualBanditRef: part,
      },
      { requiredKeys: [] },
    )
    const feature = fc.record({ defaultValue: fc.oneof(fc.boolean(), part), rules: fc.array(rule) })
    fc.assert(
      fc.property(fc.oneof(feature, part), part, (micro, savedGroups) => {
        const { payload } = read({ features: { 'micro-batch': micro }, savedGroups })
        if (!payload) return
        const values = hasRules(payload)
          ? evaluate(payload, { id: 's', model: 'm', version: '1', platform: 'linux' }).values
          : plainValues(payload).values
        const value = values.get('micro-batch')
        expect([true, false, undefined]).toContain(value)
      }),
      cases(100, 20_000),
    )
  })
})
