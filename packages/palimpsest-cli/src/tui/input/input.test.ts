import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { cases } from '../../../../../test/kit/cases.ts'
import { completed, completionAt, rankMatches } from './complete-text.ts'
import { decodeKeys, flushKeys, KEYS_START, type Key } from './decode-keys.ts'
import { editText, emptyEditor, submitted, withWords, type Editor } from './edit-text.ts'
import { unfoldPastes } from './pasted-text.ts'
import { createPicker, pickItem } from './pick-item.ts'

function key(name: string, held: { ctrl?: boolean; alt?: boolean; shift?: boolean } = {}): Key {
  return { kind: 'key', name, ctrl: false, alt: false, shift: false, ...held }
}

describe('keys', () => {
  test.each<[string, Key]>([
    ['\r', key('enter')],
    ['\n', key('j', { ctrl: true })],
    ['\x03', key('c', { ctrl: true })],
    ['\x7f', key('backspace')],
    ['\x1b[A', key('up')],
    ['\x1bOB', key('down')],
    ['\x1b[1;5C', key('right', { ctrl: true })],
    ['\x1b[3~', key('delete')],
    ['\x1b[Z', key('tab', { shift: true })],
    ['\x1b\r', key('enter', { alt: true })],
    ['\x1bb', key('b', { alt: true })],
    ['\x1b[13;2u', key('enter', { shift: true })],
    ['\x1b[99;5u', key('c', { ctrl: true })],
    ['宽é', { kind: 'text', text: '宽é' }],
  ])('%j', (text, expected) => {
    expect(decodeKeys(KEYS_START, text)).toEqual({ state: KEYS_START, keys: [expected] })
  })

  test('a lone escape is the Escape key once nothing follows', () => {
    const { state, keys } = decodeKeys(KEYS_START, '\x1b')
    expect(keys).toEqual([])
    expect(flushKeys(state)).toEqual({ state: KEYS_START, keys: [key('escape')] })
  })

  test('lines in one read without paste marks are a paste, and send nothing', () => {
    expect(decodeKeys(KEYS_START, 'one\r\ttwo\r\nthree\r').keys).toEqual([
      { kind: 'paste', text: 'one\n\ttwo\nthree\n' },
    ])
    expect(decodeKeys(KEYS_START, 'yes\rno\r').keys).toEqual([
      { kind: 'text', text: 'yes' },
      key('enter'),
      { kind: 'text', text: 'no' },
      key('enter'),
    ])
    expect(decodeKeys(KEYS_START, 'a\rb\rc\x03').keys.at(-1)).toEqual(key('c', { ctrl: true }))
  })

  test('reads cut anywhere give the same keys', () => {
    const text = 'ab\x1b[A\x1b[200~pasted\r\nlines \x1b[31m\x1b[201~\x1b[1;5D\x1bf宽\r'
    const flat = (keys: readonly Key[]): string =>
      keys.map((each) => (each.kind === 'text' ? each.text : JSON.stringify(each))).join('')
    const whole = flat(decodeKeys(KEYS_START, text).keys)
    fc.assert(
      fc.property(fc.uniqueArray(fc.integer({ min: 1, max: text.length - 1 })), (cuts) => {
        const places = [0, ...cuts.toSorted((a, b) => a - b), text.length]
        let state = KEYS_START
        const keys: Key[] = []
        for (let i = 1; i < places.length; i++) {
          const decoded = decodeKeys(state, text.slice(places[i - 1], places[i]))
          state = decoded.state
          keys.push(...decoded.keys)
        }
        expect(state).toEqual(KEYS_START)
        expect(flat(keys)).toBe(whole)
      }),
      cases(500, 100_000),
    )
  })
})

function typed(editor: Editor, ...keys: readonly (Key | string)[]): Editor {
  return keys.reduce<Editor>((before, each) => {
    const pressed: Key = typeof each === 'string' ? { kind: 'text', text: each } : each
    return editText(before, pressed) ?? before
  }, editor)
}

describe('the input', () => {
  test('is edited at the cursor, by whole characters', () => {
    const editor = typed(emptyEditor(), 'ab👩‍👩‍👧', key('backspace'), key('left'), 'x')
    expect(editor).toMatchObject({ text: 'axb', cursor: 2 })
  })

  test('has lines: Alt-Enter, Ctrl-J, and a backslash before Enter', () => {
    const editor = typed(
      emptyEditor(),
      'a',
      key('enter', { alt: true }),
      'b',
      key('j', { ctrl: true }),
      'c\\',
      key('enter'),
      'd',
    )
    expect(editor.text).toBe('a\nb\nc\nd')
    expect(typed(editor, key('up'), key('up'), 'x').text).toBe('a\nbx\nc\nd')
  })

  test('does not handle Enter alone', () => {
    expect(editText(typed(emptyEditor(), 'a'), key('enter'))).toBeUndefined()
  })

  test('recalls what was sent, and what was being written', () => {
    let editor = submitted(typed(submitted(typed(emptyEditor(), 'one')), 'two'))
    editor = typed(editor, 'dra', key('up'))
    expect(editor.text).toBe('two')
    expect(typed(editor, key('up')).text).toBe('one')
    expect(typed(editor, key('up'), key('up'), key('down'), key('down')).text).toBe('dra')
  })

  test('a long paste shows as a marker that is deleted at once; what is sent is the paste', () => {
    const long = Array.from({ length: 300 }, (_, i) => `line ${i}`).join('\n')
    const editor = typed(emptyEditor(), 'see ', { kind: 'paste', text: long }, '!')
    expect(editor.text).toBe('see [paste #1: 300 lines]!')
    expect(unfoldPastes(editor.text, editor.pastes)).toBe(`see ${long}!`)
    expect(typed(editor, key('backspace'), key('backspace')).text).toBe('see ')
  })

  test('the cursor stays inside, whatever keys are pressed', () => {
    const names = ['left', 'right', 'up', 'down', 'home', 'end', 'backspace', 'delete']
    const presses = fc.oneof(
      fc.constantFrom(...names).map((name) => key(name)),
      fc.constantFrom('w', 'u', 'k', 'a', 'e', 'j').map((name) => key(name, { ctrl: true })),
      fc.constantFrom('b', 'f', 'd', 'backspace').map((name) => key(name, { alt: true })),
      fc.constantFrom('a b', '宽', '👍', '\n').map((text): Key => ({ kind: 'paste', text })),
    )
    fc.assert(
      fc.property(fc.array(presses, { maxLength: 40 }), (keys) => {
        const { text, cursor } = typed(emptyEditor(['said', 'two\nlines']), ...keys)
        expect(cursor).toBeGreaterThanOrEqual(0)
        expect(cursor).toBeLessThanOrEqual(text.length)
      }),
      cases(500, 100_000),
    )
  })
})

describe('completion', () => {
  test('of commands at the beginning, of files anywhere', () => {
    const at = (text: string) => completionAt(withWords(emptyEditor(), text))
    expect(at('/co')).toEqual({ kind: 'command', query: 'co', from: 0 })
    expect(at('say /co')).toBeUndefined()
    expect(at('look at @src/m')).toEqual({ kind: 'file', query: 'src/m', from: 8 })
    expect(at('me@example')).toBeUndefined()
  })

  test('recalled text completes nothing, so that the arrows go further back; once changed, it does again', () => {
    const recalled = editText(emptyEditor(['say it', '/context']), key('up'))
    expect(recalled?.text).toBe('/context')
    expect(recalled && completionAt(recalled)).toBeUndefined()
    expect(recalled && editText(recalled, key('up'))?.text).toBe('say it')
    const changed = recalled && editText(recalled, key('backspace'))
    expect(changed && completionAt(changed)).toMatchObject({ query: 'contex' })
  })

  test('replaces what was written with the candidate', () => {
    const editor = typed(emptyEditor(), 'look at @ma')
    expect(completed(editor, { kind: 'file', query: 'ma', from: 8 }, 'src/main.ts').text).toBe(
      'look at @src/main.ts ',
    )
  })

  test('the nearest comes first', () => {
    const files = ['docs/tall.md', 'src/main.ts', 'test/domain.ts', 'main.go']
    expect(rankMatches(files, 'main', 3)).toEqual(['main.go', 'src/main.ts', 'test/domain.ts'])
    expect(rankMatches(files, 'dtl', 3)).toEqual(['docs/tall.md'])
  })
})

test('a list is chosen from by letter, by number, by arrows; a searched one by words', () => {
  const items = [
    { label: 'Yes', letter: 'y', value: 'yes' },
    { label: 'No', letter: 'n', value: 'no' },
  ]
  const plain = createPicker('May it?', items, false)
  expect(pickItem(plain, { kind: 'text', text: 'n' })).toEqual({ kind: 'picked', value: 'no' })
  expect(pickItem(plain, { kind: 'text', text: '1' })).toEqual({ kind: 'picked', value: 'yes' })
  const down = pickItem(plain, key('down'))
  expect(down.kind === 'going' && pickItem(down.picker, key('enter'))).toEqual({
    kind: 'picked',
    value: 'no',
  })
  expect(pickItem(plain, key('escape'))).toEqual({ kind: 'left' })
  const searched = pickItem(createPicker('Which?', items, true), { kind: 'text', text: 'no' })
  expect(searched.kind === 'going' && pickItem(searched.picker, key('enter'))).toEqual({
    kind: 'picked',
    value: 'no',
  })
})

test('Ctrl-U clears what a list is searched for', () => {
  const items = [{ label: 'Yes', value: 'yes' }]
  const searched = pickItem(createPicker('Which?', items, true), { kind: 'text', text: 'no' })
  if (searched.kind !== 'going') throw new Error('it is over')
  const cleared = pickItem(searched.picker, key('u', { ctrl: true }))
  expect(cleared.kind === 'going' && pickItem(cleared.picker, key('enter'))).toEqual({
    kind: 'picked',
    value: 'yes',
  })
})

test.each([
  ['/tmp/shot.png', '@/tmp/shot.png '],
  ["'/tmp/my shot.PNG'", '@"/tmp/my shot.PNG" '],
  [String.raw`/tmp/my\ shot.jpeg`, '@"/tmp/my shot.jpeg" '],
  ['file:///tmp/my%20shot.webp', '@"/tmp/my shot.webp" '],
  ['~/shot.gif\n', '@~/shot.gif '],
])('a pasted path to an image, %s, attaches it', (pasted, text) => {
  expect(editText(emptyEditor(), { kind: 'paste', text: pasted })?.text).toBe(text)
})

test.each(['/tmp/shot.txt', 'see /tmp/shot.png', 'shot.png', '/a.png\n/b.png'])(
  'a pasted %j stays what it is',
  (pasted) => {
    expect(editText(emptyEditor(), { kind: 'paste', text: pasted })?.text).toBe(pasted)
  },
)

test('text of any length can be edited further: long text shows as a marker and is sent whole', () => {
  const long = 'x'.repeat(10_000_000)
  const editor = withWords(emptyEditor(), long)
  expect(editor.text).toBe('[paste #1: 10000000 characters]')
  expect(unfoldPastes(editor.text, editor.pastes)).toBe(long)
  expect(withWords(emptyEditor(), 'short\nwords').text).toBe('short\nwords')
})
