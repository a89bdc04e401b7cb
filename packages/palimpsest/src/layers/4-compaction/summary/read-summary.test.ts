import { describe, expect, test } from 'vitest'

import { summaryPrompt, summarySections } from './prompt.ts'
import { readSummary } from './read-summary.ts'

describe('reading a summary', () => {
  test.each([
    ['both tags', '<analysis>\nthink\n</analysis>\n<summary>\nfacts\n</summary>', 'facts', false],
    ['no tags', 'just facts', 'just facts', false],
    ['no analysis', '<summary>facts</summary> bye', 'facts', false],
    ['text around', 'Here it is: <summary>facts</summary>', 'facts', false],
    ['analysis without summary tags', '<analysis>think</analysis>\nfacts', 'facts', false],
    ['only the end of the analysis', 'think\n</analysis>\n<summary>facts</summary>', 'facts', false],
    ['capital tags', '<Analysis>x</Analysis><SUMMARY>facts</SUMMARY>', 'facts', false],
    [
      'a summary that mentions tags',
      '<summary>we parse <summary> and </summary> tags</summary>',
      'we parse <summary> and </summary> tags',
      false,
    ],
    ['an unclosed analysis', '<analysis>think <summary>facts</summary>', 'facts', false],
    ['cut in the summary', '<analysis>a</analysis><summary>half of', 'half of', true],
    ['cut in the analysis', '<analysis>so far', '', true],
    [
      'the word analysis in the summary',
      '<summary>the <analysis> tag</summary>',
      'the <analysis> tag',
      false,
    ],
    ['nothing', '  \n', '', false],
    ['an empty summary', '<analysis>x</analysis><summary> </summary>', '', false],
  ])('%s', (_, answer, text, cut) => {
    expect(readSummary(answer)).toEqual({ text, cut, empty: text === '' })
  })
})

describe('the prompt', () => {
  test.each(['whole', 'from', 'up_to'] as const)(
    '%s: forbids tools at the start and at the end, and asks for nine sections',
    (kind) => {
      const prompt = summaryPrompt({ kind, instructions: 'Keep the SQL.' })
      const paragraphs = prompt.split('\n\n')
      expect(paragraphs[0]).toMatch(/do not call any tool/i)
      expect(paragraphs.at(-1)).toMatch(/no tool calls/i)
      expect(summarySections(kind).length).toBe(9)
      for (const [i, { title }] of summarySections(kind).entries())
        expect(prompt).toContain(`${i + 1}. ${title}: `)
      expect(prompt).toContain('Keep the SQL.')
    },
  )

  test('says what stays in view', () => {
    expect(summaryPrompt({ kind: 'from' })).toMatch(/earlier messages stay/)
    expect(summaryPrompt({ kind: 'up_to' })).toMatch(/8\. Work completed[^]*9\. Context for going on/)
    expect(summaryPrompt({ kind: 'whole' })).toMatch(/8\. Current work[^]*9\. Next step/)
    expect(summaryPrompt({ kind: 'whole', charsMax: 4_000 })).toContain('at most 4000 characters')
  })
})
