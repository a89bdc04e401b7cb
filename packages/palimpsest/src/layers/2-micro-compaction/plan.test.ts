import { expect, test } from 'vitest'

import { settle } from '../../transcript/settle.ts'
import type { Entry, MessageEntry } from '../../transcript/entry.ts'
import { viewOf, type View } from '../../transcript/view.ts'
import type { WireMessage } from '../../wire/message.ts'
import { clearingEdit } from './apply.ts'
import { planClearing, type MicroSituation } from './plan.ts'
import { MICRO_POLICY } from './policy.ts'
import { CLEARED_TEXT } from './stand-in.ts'

const MINUTE_MS = 60_000
const LAST_ANSWER_AT = 1_000_000_000

test.each([
  ['one hour, 61 minutes idle', '1h', 61, 15],
  ['one hour, 59 minutes idle', '1h', 59, 0],
  ['five minutes, 5.6 minutes idle', '5m', 5.6, 5],
  ['five minutes, 4.5 minutes idle', '5m', 4.5, 0],
  ['unknown lifetime, 61 minutes idle', undefined, 61, 15],
  ['unknown lifetime, 10 minutes idle', undefined, 10, 0],
] as const)('clearing by time: %s', (_name, lifetime, idleMinutes, cleared) => {
  const view = rounds(20)
  const plan = planClearing(view, { ...situation(view), ...idle(lifetime, idleMinutes) }, noTail)
  expect(plan?.results.length ?? 0).toBe(cleared)
  if (plan) expect(plan.cause).toBe('cold')
})

test('nothing is cleared without a main source, however long it was idle', () => {
  const view = rounds(20)
  expect(
    planClearing(view, { ...situation(view), ...idle('5m', 600), isMain: false }, noTail),
  ).toBeUndefined()
})

test.each([
  ['no earlier answer', () => viewOf([said('u', 'go')])],
  ['an unreadable time', () => rounds(20, Number.NaN)],
  ['a time in the future', () => rounds(20, LAST_ANSWER_AT + 10_000 * MINUTE_MS)],
])('%s: no clearing by time', (_name, make) => {
  const view = make()
  expect(planClearing(view, { ...situation(view), ...idle('5m', 600) }, noTail)).toBeUndefined()
})

test('at least one result stays, whatever the setting', () => {
  const view = rounds(3)
  const plan = planClearing(view, { ...situation(view), ...idle('1h', 61) }, { ...noTail, keepNewest: 0 })
  expect(plan?.results).toHaveLength(2)
})

test('(C1) planning again right after clearing plans nothing', () => {
  const view = rounds(20)
  const moment = { ...situation(view), ...idle('1h', 61) }
  const plan = planClearing(view, moment, noTail)
  const edit = plan && clearingEdit(view, plan, (raw) => raw, noTail)
  if (!edit) throw new Error('nothing was planned')
  const cleared = viewOf([...view.log, { ...edit, ...place('e') }])
  expect(planClearing(cleared, { ...situation(cleared), ...idle('1h', 61) }, noTail)).toBeUndefined()
})

test('results are cleared once per pause, however long it gets; a new pause starts after the next answer', () => {
  const view = rounds(20)
  const plan = planClearing(view, { ...situation(view), ...idle('5m', 6) }, noTail)
  const edit = plan && clearingEdit(view, plan, (raw) => raw, noTail)
  if (!edit) throw new Error('nothing was planned')
  const cleared = [...view.log, { ...edit, ...place('e') }]
  // After an hour fewer results would stay than after five minutes.
  const fewer = { ...noTail, keepAfterShortPause: 5, keepNewest: 1 }
  const after = (log: readonly Entry[]) =>
    planClearing(viewOf([...log]), { ...situation(viewOf([...log])), ...idle('5m', 90) }, fewer)
  expect(after(cleared)).toBeUndefined()
  const answered = message('last', { role: 'assistant', content: [{ type: 'text', text: 'done' }] })
  const answer: Entry = { ...answered, origin: 'model', at: LAST_ANSWER_AT }
  expect(after([...cleared, answer, said('w', 'more')])?.cause).toBe('cold')
})

test('the failure of a command is not cleared until the command succeeds', () => {
  const red = (n: number) => ran(n, `FAIL login.test.ts\n${'at line\n'.repeat(300)}`)
  const green = (n: number) => ran(n, `PASS\n${'at line\n'.repeat(300)}`)
  const cleared = (...entries: Entry[]): readonly string[] => {
    const view = viewOf([said('u', 'go'), ...entries])
    const plan = planClearing(view, { ...situation(view), ...idle('1h', 61) }, { ...noTail, keepNewest: 1 })
    return plan?.results.map(({ call }) => call.id) ?? []
  }
  expect(cleared(...red(0), ...round(1, 'Read'), ...round(2, 'Read'))).toEqual(['t1'])
  expect(cleared(...red(0), ...green(1), ...round(2, 'Read'), ...round(3, 'Read'))).toEqual([
    't0',
    't1',
    't2',
  ])
})

test('a result is not cleared while an older one that it contradicts is in view; if the older one is cleared, it gets no digest', () => {
  const long = (first: string): string => `${first} in /src/${first}Name.ts\n${'and so on\n'.repeat(300)}`
  const edit = (...entries: Entry[]) => {
    const view = viewOf([said('u', 'go'), ...entries, ...round(8, 'Read'), ...round(9, 'Read')])
    const plan = planClearing(view, { ...situation(view), ...idle('1h', 61) }, { ...noTail, keepNewest: 2 })
    const made = plan && clearingEdit(view, plan, (raw) => raw, noTail)
    return made?.replace.map(({ at, with: [text = ''] }) => ({
      at: at.entry,
      isTold: text.includes('Name.ts'),
    }))
  }
  // The older one is too short to be cleared.
  expect(edit(...ran(0, 'no'), ...ran(1, long('yes')))).toBeUndefined()
  expect(edit(...ran(0, 'no'), ...ran(1, long('yes'), 'make other'))).toEqual([{ at: 'x1', isTold: true }])
  expect(edit(...ran(0, long('no')), ...ran(1, long('yes')))).toEqual([
    { at: 'x0', isTold: false },
    { at: 'x1', isTold: true },
  ])
})

test('errors, pinned results, questions to the user and anything the model has not seen yet are never cleared', () => {
  const entries: Entry[] = [
    said('u', 'go'),
    ...round(0, 'Read'),
    ...round(1, 'Read', { is_error: true }),
    ...round(2, 'AskUser'),
    ...round(3, 'Read'),
    { ...place('p'), kind: 'pin', target: { entry: 'x3', index: 0 }, on: true },
    ...round(4, 'Read'),
  ]
  const view = viewOf(entries)
  const plan = planClearing(view, { ...situation(view), ...idle('1h', 61) }, { ...noTail, keepNewest: 1 })
  expect(plan?.results.map(({ result }) => result.tool_use_id)).toEqual(['t0'])
})

test('instruction files and the index of memories are never cleared', () => {
  const reading = (i: number, path: string): Entry[] =>
    round(i, 'Read').map((entry) =>
      entry.kind === 'message' && entry.origin === 'model'
        ? message(entry.id, {
            role: 'assistant',
            content: [{ type: 'tool_use', id: `t${i}`, name: 'Read', input: { file_path: path } }],
          })
        : entry,
    )
  const view = viewOf([
    said('u', 'go'),
    ...reading(0, '/work/AGENTS.md'),
    ...reading(1, 'sub/CLAUDE.md'),
    ...reading(2, '/home/memory/MEMORY.md'),
    ...reading(3, '/work/agents.md.ts'),
    ...round(4, 'Read'),
    ...round(5, 'Read'),
  ])
  const plan = planClearing(view, { ...situation(view), ...idle('1h', 61) }, { ...noTail, keepNewest: 1 })
  expect(plan?.results.map(({ result }) => result.tool_use_id)).toEqual(['t3', 't4'])
})

test('(C2) a batch that spares a compaction is planned when the window is full, not before: until then waiting is free', () => {
  const view = rounds(40)
  const size = situation(view).sizeTokens
  const at = (auto: number) => ({
    ...situation(view),
    thresholds: { warning: 0, error: 0, auto, blocking: size * 2 },
  })
  expect(planClearing(view, at(size + 1), thrifty)).toBeUndefined()
  const plan = planClearing(view, at(size), thrifty)
  expect(plan).toMatchObject({ cause: 'batch', why: 'it spares a compaction' })
  expect(plan?.numbers.freedTokens).toBeGreaterThan(0.5 * size)
})

test('it spares a compaction only if it costs no more than one: not if a summary is at hand, or if a summary leaves far less', () => {
  const view = rounds(40)
  const { sizeTokens } = situation(view)
  const full = {
    ...situation(view),
    thresholds: { warning: 0, error: 0, auto: sizeTokens, blocking: sizeTokens * 2 },
    prices: { read: 0.5e-6, write: 6.25e-6, output: 25e-6 },
  }
  const beside = (share: number, asksModel: boolean) =>
    planClearing(view, { ...full, compaction: { leftTokens: share * sizeTokens, asksModel } }, thrifty)?.why
  expect(beside(0.45, true)).toBe('it spares a compaction')
  expect(beside(0.1, false)).toBeUndefined()
  expect(beside(0.05, true)).toBeUndefined()
})

test('the newest part of the window keeps its results', () => {
  const view = rounds(40)
  const { sizeTokens } = situation(view)
  const thresholds = { warning: 0, error: 0, auto: sizeTokens, blocking: sizeTokens * 2 }
  const plan = planClearing(view, { ...situation(view), thresholds }, { ...thrifty, keepShare: 0.3 })
  const newest = Math.max(...(plan?.results.map(({ node }) => node) ?? []))
  const tail = (settle(view, POLICY).tokens.at(-1) ?? 0) - (settle(view, POLICY).tokens[newest + 1] ?? 0)
  expect(tail).toBeGreaterThanOrEqual(0.3 * sizeTokens)
})

test('a saving is judged with the price of fetching again, and only until the window would be full anyway', () => {
  const view = rounds(60)
  const { sizeTokens } = situation(view)
  const far = { warning: 1e9, error: 1e9, auto: sizeTokens * 100, blocking: 1e9 }
  const dear = { read: 0.5e-6, write: 0.6e-6, output: 25e-6 }
  const plan = planClearing(
    view,
    { ...situation(view), thresholds: far, prices: dear },
    { ...noTail, refetchShare: 0 },
  )
  expect(plan).toMatchObject({ cause: 'batch', why: 'it pays' })
  const near = { ...far, auto: sizeTokens + 1 }
  const soon = planClearing(
    view,
    { ...situation(view), thresholds: near, prices: dear },
    { ...noTail, refetchShare: 0 },
  )
  expect(soon?.numbers.gainDollars ?? 0).toBeLessThan(plan?.numbers.gainDollars ?? 0)
})

test('in a running tool loop of a model that binds thinking, only a full window forces an edit', () => {
  const view = rounds(60)
  const moment = { ...situation(view), ...idle('5m', 600), loses: true }
  expect(planClearing(view, moment, { ...noTail, refetchShare: 0 })).toBeUndefined()
})

test('a stand-in names the call, the size, and what only this result contained', () => {
  const view = viewOf([
    said('u', 'look at knownThing'),
    ...round(0, 'Read', {}, 'const newThing = knownThing(4711)\n' + 'x'.repeat(4_000)),
    ...Array.from({ length: 6 }, (_, i) => round(i + 1, 'Read')).flat(),
  ])
  const plan = planClearing(view, { ...situation(view), ...idle('1h', 61) }, noTail)
  const edit = plan && clearingEdit(view, plan, (raw) => raw, noTail)
  const text = edit?.replace[0]?.with[0] ?? ''
  expect(text).toContain(CLEARED_TEXT)
  expect(text).toContain('newThing')
  expect(text).toContain('/file-0')
})

test('no compaction counts as spared by clearing early: clearing when the window is full would spare it too', () => {
  const view = rounds(40)
  const { sizeTokens } = situation(view)
  const near = { warning: 1e9, error: 1e9, auto: sizeTokens * 1.05, blocking: 1e9 }
  const prices = { read: 0.5e-6, write: 6.25e-6, output: 25e-6 }
  const compaction = { leftTokens: 0.3 * sizeTokens, asksModel: true }
  const moment = { ...situation(view), thresholds: near, prices, compaction }
  expect(planClearing(view, moment, { ...noTail, refetchShare: 0, keepNewest: 20 })).toBeUndefined()
})

test('what earlier edits removed counts as growth: freed tokens count until the window is full', () => {
  const view = rounds(40)
  const { sizeTokens } = situation(view)
  const moment = {
    thresholds: { warning: 1e9, error: 1e9, auto: sizeTokens * 1.9, blocking: 1e9 },
    prices: { read: 0.5e-6, write: 0.6e-6, output: 25e-6 },
  }
  const lean = { ...noTail, refetchShare: 0, keepNewest: 20 }
  const first = planClearing(view, { ...situation(view), ...moment }, lean)
  expect(first?.why).toBe('it pays')
  const earlier: Entry = {
    ...place('e'),
    kind: 'edit',
    cause: 'batch',
    replace: [],
    drop: [],
    freedTokens: sizeTokens,
  }
  const edited = viewOf([...view.log, earlier])
  const gain = planClearing(edited, { ...situation(edited), ...moment }, lean)?.numbers.gainDollars ?? 0
  expect(gain).toBeLessThan(first?.numbers.gainDollars ?? 0)
  const undone = viewOf([...view.log, earlier, { ...place('w'), kind: 'void', target: 'e' }])
  expect(planClearing(undone, { ...situation(undone), ...moment }, lean)).toEqual(first)
})

test('clearing is free after an edit that is made anyway; results before it stay', () => {
  const view = rounds(40)
  expect(planClearing(view, situation(view), thrifty)).toBeUndefined()
  const plan = planClearing(view, { ...situation(view), brokenFrom: 21 }, thrifty)
  expect(plan?.why).toBe('another edit breaks the prefix anyway')
  expect(plan?.results.map(({ node }) => node)).toEqual(Array.from({ length: 25 }, (_, i) => 22 + 2 * i))
  expect(planClearing(view, { ...situation(view), brokenFrom: 68 }, thrifty)).toBeUndefined()
})

const POLICY = { model: 'm', bindsPrefix: false, readsFrom: [] }
const noTail = { ...MICRO_POLICY, keepShare: 0 }
/** Never clears because it pays. */
const thrifty = { ...noTail, acts: { ...MICRO_POLICY.acts, pays: false } }

function situation(view: View): MicroSituation {
  const { tokens } = settle(view, POLICY)
  return {
    now: LAST_ANSWER_AT + 1_000,
    sizeTokens: tokens.at(-1) ?? 0,
    thresholds: { warning: 1e9, error: 1e9, auto: 1e9, blocking: 1e9 },
    toTokens: (raw) => raw,
    prefixTokens: 0,
    rawBefore: tokens,
    lifetimeMs: 300_000,
    isMain: true,
    prices: { read: 0, write: 1, output: 1 },
    loses: false,
    serverCompacts: false,
    isLastResort: false,
  }
}

function idle(
  lifetime: '5m' | '1h' | undefined,
  minutes: number,
): Pick<MicroSituation, 'now' | 'lifetimeMs'> {
  const lifetimeMs = lifetime === undefined ? undefined : lifetime === '1h' ? 60 * MINUTE_MS : 5 * MINUTE_MS
  return { now: LAST_ANSWER_AT + minutes * MINUTE_MS, lifetimeMs }
}

/** So many reads, the last of them answered by one more answer, so that all were sent. */
function rounds(count: number, lastAt = LAST_ANSWER_AT): View {
  const answered: WireMessage = { role: 'assistant', content: [{ type: 'text', text: 'so far' }] }
  return viewOf([
    said('u', 'go'),
    ...Array.from({ length: count }, (_, i) => round(i, 'Read')).flat(),
    { ...message('end', answered), origin: 'model', at: lastAt },
    said('v', 'go on'),
  ])
}

function round(
  i: number,
  tool: string,
  extra: { is_error?: boolean } = {},
  text = `line ${i}\n`.repeat(600),
): Entry[] {
  const call = { type: 'tool_use', id: `t${i}`, name: tool, input: { file_path: `/file-${i}` } } as const
  const result = { type: 'tool_result', tool_use_id: `t${i}`, content: text, ...extra } as const
  return [
    { ...message(`a${i}`, { role: 'assistant', content: [call] }), origin: 'model', at: LAST_ANSWER_AT },
    { ...message(`x${i}`, { role: 'user', content: [result] }), origin: 'tool' },
  ]
}

function ran(i: number, text: string, command = 'npm test | tail -400'): Entry[] {
  const [answer, ...rest] = round(i, 'Bash', {}, text)
  const call = { type: 'tool_use', id: `t${i}`, name: 'Bash', input: { command } } as const
  const asked = message(`a${i}`, { role: 'assistant', content: [call] })
  return [{ ...answer, ...asked, origin: 'model', at: LAST_ANSWER_AT }, ...rest]
}

function said(id: string, text: string): MessageEntry {
  return message(id, { role: 'user', content: text })
}

function message(id: string, wire: WireMessage): MessageEntry {
  return { ...place(id), kind: 'message', origin: 'user', message: wire, json: JSON.stringify(wire) }
}

function place(id: string): { id: string; parent: null; at: number } {
  return { id, parent: null, at: 0 }
}
