import { describe, expect, test } from 'vitest'

import { continuationText, type Continuation } from './continuation.ts'

const LEFT = { first: 'a', last: 'b', messages: 96, results: 41, tokens: 61_234 }
const BASE: Continuation = {
  mode: 'automatic',
  summary: 'S',
  place: 'before',
  stays: 'row',
  left: LEFT,
  hasRecall: true,
}

describe('the message that replaces what left the view', () => {
  test('says what it is, how much was removed, how to see it again, what follows, and how to continue', () => {
    expect(continuationText(BASE)).toMatchInlineSnapshot(`
      "This conversation continues an earlier one, which was compacted to fit the context window: 96 messages (41 tool results), about 61,000 tokens, are no longer shown. The summary below stands for them. The messages after it are the newest, word for word and without a gap.

      Nothing is lost: Recall shows all of it word for word (Recall id=a..b), by id or by words that stood in it. Look there before you guess at a detail.

      Summary:

      S

      Continue the work from where it stopped, without asking whether to. Do not acknowledge the summary, do not recap it, do not greet: take the next step as if there had been no break."
    `)
  })

  test('claims no gapless range if there are pieces, and leaves their ids to the lines between them', () => {
    const text = continuationText({ ...BASE, stays: 'pieces' })
    expect(text).toContain('A line in square brackets marks each place where messages are left out')
    expect(text).not.toContain('without a gap')
    expect(text).not.toContain('id=a..b')
  })

  test('of a later part says so, and that the user asked for it', () => {
    const text = continuationText({ ...BASE, place: 'after', mode: 'manual' })
    expect(text).toMatch(
      /^The messages above stay as they are\. What followed them was compacted at the user's request: 96 messages/,
    )
    expect(text).not.toMatch(/earlier|newest|Continue the work/)
  })

  test('names no tool that the model lacks, and no path that the tool does not accept', () => {
    const { hasRecall: _, ...without } = BASE
    expect(continuationText({ ...without, transcriptPath: '/t.jsonl' })).toContain(
      'the whole is in /t.jsonl (a to b)',
    )
    expect(continuationText(without)).not.toMatch(/Nothing is lost|Recall/)
    expect(continuationText({ ...BASE, transcriptPath: '/t.jsonl' })).not.toContain('/t.jsonl')
  })

  test('says who wrote the summary, and how old notes are', () => {
    const titleOf = (writer: NonNullable<Continuation['writer']>): string =>
      continuationText({ ...BASE, writer }).split('\n\n')[2] ?? ''
    expect(titleOf({ kind: 'record' })).toBe(
      'Summary, computed from the record of the conversation (no model wrote it):',
    )
    expect(titleOf({ kind: 'notes', messages: 0, tokens: 0 })).toBe(
      'Summary, made of the notes of this session:',
    )
    expect(titleOf({ kind: 'notes', messages: 10, tokens: 6_120 })).toBe(
      'Summary, made of the notes of this session. They are 10 messages, about 6,100 tokens older than the compaction; those 10 messages are shown below, and where they differ from the notes, they count:',
    )
  })

  test('for a sealed summary adds only what is missing, and says where the summary is', () => {
    const text = continuationText({ ...BASE, place: 'sealed', summary: '' })
    expect(text).toContain('The summary at its beginning stands for them')
    expect(text).not.toContain('Summary:')
  })
})

test('after an earlier summary says which of the two counts', () => {
  const text = continuationText({
    mode: 'manual',
    summary: 'S',
    place: 'after',
    stays: 'row',
    followsSummary: true,
  })
  expect(text).toContain('Where it differs from the earlier summary above')
})
