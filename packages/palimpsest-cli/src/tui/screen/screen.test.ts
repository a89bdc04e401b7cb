import fc from 'fast-check'
import type { LoopEvent, ToolOutput } from 'palimpsest/loop'
import type { MessageEntry } from 'palimpsest/transcript'
import type { JsonObject } from 'palimpsest/wire'
import { describe, expect, test } from 'vitest'

import { cases } from '../../../../../test/kit/cases.ts'
import { emptyEditor, withText } from '../input/edit-text.ts'
import { createPicker } from '../input/pick-item.ts'
import { line, lineText, lineWidth } from '../text/styled-line.ts'
import { drawAgain, drawFrame, NO_FRAME, rowsAbove, type Frame } from './draw-frame.ts'
import { layoutLive, type LiveView } from './live-region.ts'
import { afterResponse, estimated, shortCount, statusLine } from './status-line.ts'
import { proposalLines, toolLabel, toolLines } from './tool-lines.ts'
import { saidLines, showEvent, TURN_START, writingActivity } from './turn-lines.ts'

const SEQUENCE = new RegExp(String.raw`\x1b\[\??(\d*)([A-Za-z])|[\s\S]`, 'g')

/** A terminal that knows the sequences we use, of endless height: rows above the screen are its scrollback. */
function createTerminal(): {
  readonly write: (text: string) => void
  readonly rows: () => readonly string[]
  readonly cursor: () => Frame['cursor']
} {
  const rows: string[] = ['']
  let [row, column] = [0, 0]
  const at = (): string => (rows[row] ?? '').padEnd(column)
  const control = (count: number, letter: string): void => {
    if (letter === 'A') row -= count
    else if (letter === 'B') row = Math.min(row + count, rows.length - 1)
    else if (letter === 'C') column += count
    else if (letter === 'K') rows[row] = at().slice(0, column)
    else if (letter === 'J') {
      rows[row] = at().slice(0, column)
      rows.length = row + 1
    } else expect(['h', 'l']).toContain(letter)
  }
  return {
    write: (text) => {
      for (const [part, number, letter] of text.matchAll(SEQUENCE)) {
        if (letter !== undefined) control(Number(number || 1), letter)
        else if (part === '\r') column = 0
        else if (part === '\n') {
          row++
          if (row === rows.length) rows.push('')
        } else {
          const before = at()
          rows[row] = before.slice(0, column) + part + before.slice(column + 1)
          column++
        }
        if (row < 0) throw new Error('above the first row')
      }
    },
    rows: () => rows,
    cursor: () => ({ row, column }),
  }
}

const lines = fc.array(fc.constantFrom('', 'a', 'bb', 'a longer line'), { maxLength: 5 })
const frames = fc
  .record({
    lines: fc.array(fc.constantFrom('', 'x', 'yy', 'status'), { minLength: 1, maxLength: 6 }),
    row: fc.nat(5),
    column: fc.nat(9),
  })
  .map(({ lines, row, column }): Frame => ({
    lines,
    widths: lines.map((text) => text.length),
    cursor: { row: Math.min(row, lines.length - 1), column },
  }))

describe('the frame', () => {
  test('what stays is written once, in order, above what is redrawn', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(lines, frames), { minLength: 1, maxLength: 12 }), (steps) => {
        const terminal = createTerminal()
        const stayed: string[] = []
        let before = NO_FRAME
        for (const [added, frame] of steps) {
          terminal.write(drawFrame(before, added, frame))
          stayed.push(...added)
          before = frame
          expect(terminal.rows().map((text) => text.trimEnd())).toEqual([...stayed, ...frame.lines])
          expect(terminal.cursor()).toEqual({
            row: stayed.length + frame.cursor.row,
            column: frame.cursor.column,
          })
        }
      }),
      cases(60, 10_000),
    )
  })

  test('a frame that did not change costs nothing', () => {
    const frame: Frame = { lines: ['a', 'b'], widths: [1, 1], cursor: { row: 1, column: 1 } }
    expect(drawFrame(frame, [], frame)).toBe('')
  })

  test('a change to one line writes one line', () => {
    const frame: Frame = { lines: ['a', 'b', 'status'], widths: [1, 1, 6], cursor: { row: 1, column: 1 } }
    const next: Frame = { ...frame, lines: ['a', 'bc', 'status'], cursor: { row: 1, column: 2 } }
    expect(drawFrame(frame, [], next)).not.toContain('status')
  })

  test('after the screen becomes narrower, a wrapped line counts as the rows that it takes', () => {
    const frame: Frame = { lines: ['', '', ''], widths: [79, 10, 60], cursor: { row: 2, column: 45 } }
    expect(rowsAbove(frame, 40)).toBe(4)
    expect(drawAgain(4, NO_FRAME)).toContain('\x1b[4A\r\x1b[J')
  })
})

const VIEW: LiveView = {
  streaming: [],
  activity: '',
  printing: [],
  queued: [],
  agents: [],
  proposal: [],
  editor: emptyEditor(),
  completions: [],
  completion: 0,
  status: line('status'),
  hint: '',
}

describe('the live region', () => {
  test('has input, status, and what is queued', () => {
    const view = {
      ...VIEW,
      editor: withText(VIEW.editor, 'two\nlines'),
      activity: 'Working',
      queued: ['later'],
    }
    const { lines, cursor } = layoutLive(view, 20, 24)
    expect(lines.map(lineText)).toEqual([
      'Working',
      '  queued: later',
      '─'.repeat(20),
      '> two',
      '  lines',
      'status',
    ])
    expect(cursor).toEqual({ row: 4, column: 7 })
  })

  test('is never taller or wider than the screen, and the cursor is in it', () => {
    const view = fc.record({
      text: fc.string({ unit: fc.constantFrom('a', ' ', '宽', '\n', '👍'), maxLength: 300 }),
      streaming: fc.array(fc.constant(line('streaming '.repeat(20))), { maxLength: 40 }),
      items: fc.array(
        fc.constantFrom(
          { label: 'item '.repeat(30), value: 'x' },
          { label: 'item '.repeat(30), detail: 'detail '.repeat(20), value: 'x' },
        ),
        { maxLength: 30 },
      ),
      hasPicker: fc.boolean(),
      isSearched: fc.boolean(),
      chosen: fc.nat(30),
      proposal: fc.array(fc.constant(line('proposal '.repeat(20))), { maxLength: 30 }),
      columns: fc.integer({ min: 10, max: 100 }),
      rows: fc.integer({ min: 8, max: 40 }),
      at: fc.nat(300),
    })
    fc.assert(
      fc.property(
        view,
        ({ text, streaming, items, hasPicker, isSearched, chosen, proposal, columns, rows, at }) => {
          const editor = { ...withText(emptyEditor(), text), cursor: Math.min(at, text.length) }
          const picker = hasPicker
            ? {
                ...createPicker('Which?', items, isSearched),
                chosen: Math.min(chosen, Math.max(0, items.length - 1)),
              }
            : undefined
          const { lines, cursor } = layoutLive(
            { ...VIEW, streaming, editor, picker, proposal },
            columns,
            rows,
          )
          if (picker && items.length > 0) expect(lines.map(lineText).join('\n')).toContain('▸')
          expect(lines.length).toBeLessThan(rows)
          for (const each of lines) expect(lineWidth(each)).toBeLessThanOrEqual(columns)
          expect(cursor.row).toBeLessThan(lines.length)
          expect(cursor.column).toBeLessThanOrEqual(columns)
        },
      ),
      cases(60, 10_000),
    )
  })
})

describe('a question', () => {
  const items = [
    { label: 'Yes, this once', letter: 'y', value: 'yes' },
    {
      label: 'Always allow `one two` and `three` in /a/b',
      detail: 'Bash(one two), Bash(three)',
      letter: 'a',
      value: 'a',
    },
    { label: 'No', letter: 'n', value: 'no' },
  ]

  test('shows in full what always allows, and says when there is more of what is asked about', () => {
    const proposal = ['one', 'two', 'three', 'four'].map((text) => line(`    ${text}`))
    const view = { ...VIEW, proposal, picker: createPicker('May it run?', items, false) }
    expect(layoutLive(view, 30, 13).lines.map(lineText)).toEqual([
      '─'.repeat(30),
      'May it run?',
      '    one',
      '    two',
      '    … 2 more lines',
      '▸ (y) Yes, this once',
      '  (a) Always allow `one two`',
      '      and `three` in /a/b',
      '      Bash(one two),',
      '      Bash(three)',
      '  (n) No',
      '↑↓ Enter, or the letter · Esc',
    ])
  })
})

describe('the status line', () => {
  const facts = {
    model: 'm',
    window: { window: 200_000, effective: 180_000, scale: 1, working: 200_000 },
    thresholds: { warning: 147_000, error: 157_000, auto: 167_000, blocking: 177_000 },
    autoEnabled: true,
  }
  const start = { used: 0, isExact: true, costUsd: 0, promptTokens: 0, readTokens: 0 }

  test('is the provider’s figures after a response, and says ~ between', () => {
    const usage = {
      input_tokens: 1_000,
      output_tokens: 500,
      cache_read_input_tokens: 82_000,
      cache_creation_input_tokens: 0,
    }
    const figures = afterResponse(start, usage, 0.1234)
    expect(lineText(statusLine(figures, facts, 80))).toBe(
      '50% context left · compacts in 83.5k tokens · cache 99% · $0.1234 · m',
    )
    expect(lineText(statusLine(estimated(figures, 150_000, 0.1234), facts, 80))).toBe(
      '~10% context left · compacts in ~17.0k tokens · cache ~99% · ~$0.1234 · m',
    )
  })

  test('leaves out on a narrow screen what matters least', () => {
    const figures = { ...start, promptTokens: 10, readTokens: 5 }
    const widths = [80, 55, 45, 30, 12].map((columns) => lineText(statusLine(figures, facts, columns)))
    expect(widths).toEqual([
      '100% context left · compacts in 167k tokens · cache 50% · $0.0000 · m',
      '100% context left · cache 50% · $0.0000 · m',
      '100% context left · cache 50% · $0.0000 · m',
      '100% context left · $0.0000 · m'.slice(0, 29) + '…',
      '100% contex…',
    ])
  })

  test.each([
    [950, '950'],
    [12_345, '12.3k'],
    [141_546, '142k'],
    [1_200_000, '1.20M'],
  ])('%d is %s', (count, text) => {
    expect(shortCount(count)).toBe(text)
  })
})

describe('a turn', () => {
  function shown(events: readonly LoopEvent[]): readonly string[] {
    let screen = TURN_START
    const all: string[] = []
    for (const event of events) {
      const step = showEvent(screen, event, 60)
      screen = step.screen
      all.push(...step.lines.map(lineText))
    }
    return all
  }

  test('shows complete lines as they come, and a line for what was interrupted', () => {
    expect(
      shown([
        { type: 'text-delta', text: 'one\ntw' },
        { type: 'text-delta', text: 'o' },
        { type: 'answer-discarded', reason: 'the connection was lost' },
        { type: 'turn-end', end: { reason: 'aborted' } },
      ]),
    ).toEqual([
      'one',
      'two',
      '',
      '! the answer above broke off and is discarded; asking',
      '  again: the connection was lost',
      '',
      '! interrupted. What was done so far is kept',
      '',
    ])
  })

  test('says that what is shown of a stopped answer is kept', () => {
    const end = { reason: 'aborted', keepsAnswer: true } as const
    expect(
      shown([
        { type: 'text-delta', text: 'half of it' },
        { type: 'turn-end', end },
      ]),
    ).toEqual([
      'half of it',
      '',
      '! interrupted. The answer so far is kept, and the model',
      '  knows that it ends here',
      '',
    ])
  })

  test('says once why a request is repeated, however often that happens', () => {
    const reason = 'The provider could not be reached.'
    const wait = (attempt: number, waitMs: number) =>
      ({ type: 'retry-wait', attempt, waitMs, reason }) as const
    expect(shown([wait(1, 400), wait(2, 12_000)])).toEqual(['! The provider could not be reached.', ''])
    const { activity } = [wait(1, 400), wait(2, 12_000)].reduce(
      (screen, event) => showEvent(screen, event, 60).screen,
      TURN_START,
    )
    expect(activity).toBe('Asking again in 12 s (attempt 3)')
    const failure = { kind: 'overloaded' } as const
    const failed = { type: 'turn-end', end: { reason: 'failed', failure, message: reason } } as const
    expect(shown([wait(1, 400), failed])).toEqual([
      '! The provider could not be reached.',
      '',
      '! no answer came. Send it again when that is fixed',
      '',
    ])
  })

  test('names the path of a compaction while it runs, and how much is written', () => {
    const { screen } = showEvent(TURN_START, { type: 'compaction-path', path: 'fork' }, 60)
    expect(screen.activity).toBe('Compacting by summary')
    expect(writingActivity(writingActivity(screen.activity, 10), 1_700)).toBe(
      'Compacting by summary: 1.7k characters written',
    )
    expect(showEvent(screen, { type: 'compaction-path', path: 'fold' }, 60).screen.activity).toBe(
      'Compacting by fold',
    )
  })

  test('reports a compaction in one line: path, before and after, proof, how to undo it', () => {
    const meta = {
      trigger: 'auto',
      preTokens: 165_000,
      postTokens: 21_000,
      messagesSummarized: 40,
      path: 'summary',
      proof: { kept: 9, repaired: 1, invented: 0 },
    } as const
    const boundary = {
      kind: 'boundary',
      id: 'abcdefgh-1',
      parent: null,
      at: 0,
      summary: [],
      keeps: 'tail',
      attachments: [],
      logicalParent: null,
      meta,
    } as const
    expect(shown([{ type: 'engine', entries: [boundary] }]).join(' ')).toBe(
      '· compacted by summary: 165k → 21.0k tokens · 40 messages   removed · summary checked: 10 facts kept, 1 of them added   by the check · /context shows what was removed',
    )
  })
})

test('a call is named by what it is about; what it would change is shown to whoever is asked', () => {
  expect(toolLabel('Bash', { command: 'npm test\nrm x' })).toBe('Bash(npm test…)')
  const pattern = String.raw`(?:\b|_)(?i:retr[iy])|[A-Za-z0-9]Retr[iy]|(?i:the\W+delay|delay)`
  expect(toolLabel('Grep', { pattern })).toBe('Grep(retr…, the delay, delay)')
  expect(toolLabel('Grep', { pattern: '^import .*' })).toBe('Grep(^import .*)')
  expect(toolLabel('Edit', { file_path: 'a\x1b[2J.ts' })).toBe('Edit(a\\x1b[2J.ts)')
  const lines = proposalLines('Edit', { old_string: 'a\nb', new_string: 'a\nc' }, 40)
  expect(lines.map(lineText)).toEqual(['      a', '    - b', '    + c'])
})

describe('a call that has ended', () => {
  const drawn = (name: string, input: JsonObject, output: ToolOutput, tookMs = 0): readonly string[] => {
    const entry = { message: { role: 'user', content: [] } } as unknown as MessageEntry
    const call = { name, input, toolUseId: 't', entry, work: { output, tookMs }, toAll: 'Ctrl-O shows all' }
    return toolLines(call, 60).map(lineText)
  }

  test('a command shows the beginning and end of what it printed, its exit code and its time', () => {
    const printed = Array.from({ length: 40 }, (_, i) => `line ${i + 1}`).join('\n')
    expect(
      drawn('Bash', { command: 'npm test' }, { content: `${printed}\n[exit code 2]`, isError: true }, 4_230),
    ).toEqual([
      '✗ Bash(npm test) exit code 2 · 4.2 s',
      '    line 1',
      '    line 2',
      '    line 3',
      '    line 4',
      '    … 28 more lines: Ctrl-O shows all',
      ...Array.from({ length: 8 }, (_, i) => `    line ${i + 33}`),
    ])
    expect(drawn('Bash', { command: 'true' }, { content: '(The command printed nothing.)' }, 75_000)).toEqual(
      ['● Bash(true) exit code 0 · 1 min 15 s'],
    )
  })

  test('colours of a command are left out; a line that was overwritten is shown as it ended', () => {
    expect(drawn('Bash', { command: 'x' }, { content: '\x1b[31mred\x1b[0m\n10 %\r100 %\r\ndone' })).toEqual([
      '● Bash(x) exit code 0 · 0.0 s',
      '    red',
      '    100 %',
      '    done',
    ])
  })

  test('an edit shows how many lines it added and removed, a list its boxes, a question its answer', () => {
    expect(
      drawn('Edit', { file_path: 'a.ts', old_string: 'a\nb', new_string: 'a\nc\nd' }, { content: 'ok' }),
    ).toEqual(['● Edit(a.ts) +2 −1', '      a', '    - b', '    + c', '    + d'])
    const todos = [
      { content: 'Read', status: 'completed' },
      { content: 'Mend', status: 'in_progress' },
      { content: 'Test', status: 'pending' },
    ]
    expect(drawn('TodoWrite', { todos }, { content: 'ok' })).toEqual([
      '● To-do list: 1 of 3 done',
      '    ☑ Read',
      '    ▸ Mend',
      '    ☐ Test',
    ])
    expect(drawn('AskUser', { question: 'Which one?' }, { content: 'the second' })).toEqual([
      '● AskUser(Which one?)',
      '    → the second',
    ])
  })
})

test('a long message shows its end too, because the question is there', () => {
  const text = `${Array.from({ length: 30 }, (_, i) => `row ${i + 1}`).join('\n')}\nWhat is wrong here?`
  const shown = saidLines(text, 40).map(lineText)
  expect(shown.slice(0, 2)).toEqual(['> row 1', '  row 2'])
  expect(shown).toContain('  … 15 more lines')
  expect(shown.slice(-2)).toEqual(['  What is wrong here?', ''])
  expect(saidLines('one\ntwo', 40).map(lineText)).toEqual(['> one', '  two', ''])
})
