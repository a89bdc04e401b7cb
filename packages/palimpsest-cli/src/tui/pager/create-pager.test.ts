import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { cases } from '../../../../../test/kit/cases.ts'
import type { Key } from '../input/decode-keys.ts'
import { line, lineText, lineWidth } from '../text/styled-line.ts'
import { createPager, type Pager } from './create-pager.ts'
import type { PageSource } from './page-source.ts'

const SIZE = { columns: 60, rows: 5 }

/** Pieces of so many lines, `piece.line` each; which pieces were laid out is noted. */
function numbered(counts: readonly number[], opensAtEnd: boolean): PageSource & { laid: Set<number> } {
  const laid = new Set<number>()
  return {
    title: 'numbers',
    count: counts.length,
    lines: async (piece) => {
      laid.add(piece)
      return Array.from({ length: counts[piece] ?? 0 }, (_, at) => line(`${piece}.${at}`))
    },
    mayHold: async (piece, words) => words.startsWith(`${piece}.`),
    opensAtEnd,
    close: async () => undefined,
    laid,
  }
}

async function shown(pager: Pager, size = SIZE): Promise<readonly string[]> {
  return (await pager.frame(size, '')).slice(0, -1).map(lineText)
}

function key(name: string): Key {
  return name.length === 1
    ? { kind: 'text', text: name }
    : { kind: 'key', name, ctrl: false, alt: false, shift: false }
}

async function press(pager: Pager, ...names: readonly string[]): Promise<boolean> {
  let isOpen = true
  for (const name of names) isOpen = await pager.press(key(name), SIZE)
  return isOpen
}

describe('a long text', () => {
  test('opens at its end, and lays out only what is shown', async () => {
    const source = numbered(
      Array.from({ length: 10_000 }, () => 2),
      true,
    )
    const pager = createPager(source)
    expect(await shown(pager)).toEqual(['9998.0', '9998.1', '9999.0', '9999.1'])
    expect([...source.laid].toSorted((a, b) => a - b)).toEqual([9998, 9999])
    expect(lineText((await pager.frame(SIZE, '')).at(-1) ?? [])).toMatch(/^numbers · 100% {2}↑↓ PgUp/)
  })

  test('scrolls by lines and screenfuls, to its ends and not beyond', async () => {
    const pager = createPager(numbered([3, 0, 2, 4], false))
    expect(await shown(pager)).toEqual(['0.0', '0.1', '0.2', '2.0'])
    await press(pager, 'up', 'down')
    expect(await shown(pager)).toEqual(['0.1', '0.2', '2.0', '2.1'])
    await press(pager, 'pagedown', 'pagedown', 'pagedown')
    expect(await shown(pager)).toEqual(['3.0', '3.1', '3.2', '3.3'])
    await press(pager, 'k')
    expect(await shown(pager)).toEqual(['2.1', '3.0', '3.1', '3.2'])
    await press(pager, 'g')
    expect(await shown(pager)).toEqual(['0.0', '0.1', '0.2', '2.0'])
    expect(await press(pager, 'q')).toBe(false)
  })

  test('is searched upwards from what is shown; n continues, N goes back; a miss is reported', async () => {
    const source = numbered(
      Array.from({ length: 500 }, () => 3),
      true,
    )
    const pager = createPager(source)
    await shown(pager)
    await press(pager, '/', '7', '.', '1', 'enter')
    expect(await shown(pager)).toEqual(['6.2', '7.0', '7.1', '7.2'])
    expect((await pager.frame(SIZE, '')).map((spans) => spans[0]?.style)).toEqual([
      'plain',
      'plain',
      'chosen',
      'plain',
      'bold',
    ])
    // Pieces that cannot hold the words are not laid out.
    expect(source.laid.size).toBeLessThan(12)
    await press(pager, 'n')
    expect(lineText((await pager.frame(SIZE, '')).at(-1) ?? [])).toContain('"7.1" is not further up')
    await press(pager, '/', '9', '.', '0', 'enter')
    expect(lineText((await pager.frame(SIZE, '')).at(-1) ?? [])).toContain('"9.0" is not further up')
    await press(pager, 'N')
    expect(await shown(pager)).toEqual(['8.1', '8.2', '9.0', '9.1'])
  })

  test('fills the screen, whatever its pieces, keys and size', async () => {
    const keys = fc.array(fc.constantFrom('up', 'down', 'pageup', 'pagedown', 'g', 'G', 'b', ' '))
    const sizes = fc.record({
      columns: fc.integer({ min: 10, max: 80 }),
      rows: fc.integer({ min: 2, max: 30 }),
    })
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(5)),
        keys,
        fc.array(sizes, { minLength: 1 }),
        async (counts, pressed, all) => {
          const pager = createPager(numbered(counts, true))
          const total = counts.reduce((sum, count) => sum + count, 0)
          for (const size of all) {
            const lines = await pager.frame(size, '')
            expect(lines).toHaveLength(size.rows)
            expect(Math.max(...lines.map(lineWidth))).toBeLessThanOrEqual(size.columns)
            const filled = lines.slice(0, -1).filter((spans) => lineText(spans) !== '').length
            expect(filled).toBe(Math.min(total, size.rows - 1))
            for (const name of pressed) await pager.press(key(name), size)
          }
        },
      ),
      cases(100, 5_000),
    )
  })

  test('shows its end at once; what comes before it is added without moving what is shown', async () => {
    let give: (source: PageSource) => void = () => undefined
    const whole = new Promise<PageSource>((resolve) => {
      give = resolve
    })
    const all = numbered(
      Array.from({ length: 100 }, () => 2),
      true,
    )
    const end: PageSource = {
      ...all,
      count: 3,
      lines: async (piece) => await all.lines(piece + 97, 0),
      whole,
    }
    let changes = 0
    const pager = createPager(end, () => changes++)
    expect(await shown(pager)).toEqual(['98.0', '98.1', '99.0', '99.1'])
    await press(pager, 'up')
    give(all)
    await whole
    expect(await shown(pager)).toEqual(['97.1', '98.0', '98.1', '99.0'])
    expect(changes).toBe(1)
    await press(pager, 'g')
    expect(await shown(pager)).toEqual(['0.0', '0.1', '1.0', '1.1'])
  })
})
