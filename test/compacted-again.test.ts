import { describe, expect, test } from 'vitest'

import { factsOf } from '../packages/palimpsest/src/facts/facts-of.ts'
import type { Facts } from '../packages/palimpsest/src/facts/facts.ts'
import { encodeFacts } from '../packages/palimpsest/src/facts/encode-facts.ts'
import { continuationText } from '../packages/palimpsest/src/layers/4-compaction/summary/continuation.ts'
import { foldSummary } from '../packages/palimpsest/src/layers/4-compaction/summary/fold.ts'
import { summaryPrompt } from '../packages/palimpsest/src/layers/4-compaction/summary/prompt.ts'
import { prove, type Proof } from '../packages/palimpsest/src/layers/4-compaction/proof/prove.ts'
import { readSummary } from '../packages/palimpsest/src/layers/4-compaction/summary/read-summary.ts'
import { writeForm } from '../packages/palimpsest/src/lab/offline/answer-offline.ts'
import type { Entry } from '../packages/palimpsest/src/transcript/entry.ts'
import { viewOf } from '../packages/palimpsest/src/transcript/view.ts'
import type { WireMessage } from '../packages/palimpsest/src/wire/message.ts'
import { compacted, said } from './kit/said.ts'

// A long session in a small window: compacted again and again, loaded from its newest boundary each time, as after a restart.

type Spoken = Parameters<typeof said>[0][number]

const MESSAGES = 60
const FILES = 120
const PROHIBITIONS = 15
/** Messages that revoke the first prohibitions. */
const REVOKED_AT = [41, 42, 45, 46, 49]
const REVOKED = REVOKED_AT.length
/** Messages of the user between two compactions. */
const EVERY = 5

/** Of a view of 8,000 tokens, at 3 characters for each: the summary, and a quarter for repairs. */
const SUMMARY_CHARS_MAX = 9_000
const REPAIR_CHARS_MAX = 6_000

const THINGS =
  'billing login search export import audit cache queue mailer theme router schema worker report upload'.split(
    ' ',
  )
const rule = (i: number): string => `Never rename the ${THINGS[i]} tables.`
const revocation = (i: number): string => `You may now rename the ${THINGS[i]} tables.`
const PASTES = [
  'Look:\n```ts\n// never call this\n```',
  'The file begins with\n\n    # do not edit\n    Always keep this in order.',
  '```md\n- Never commit on Friday\n- You must ask first\n```',
]
const OPERATIONS = ['Write', 'Edit', 'Bash'] as const

function userText(i: number): string {
  if (i % 12 === 3) return `Here is the log of run ${i}:\n${'line of a log\n'.repeat(1_600)}end of log ${i}`
  if (i % 20 === 7) return PASTES[Math.floor(i / 20)] ?? ''
  if (i % 4 === 0) return rule(i / 4)
  if (REVOKED_AT.includes(i)) return revocation(REVOKED_AT.indexOf(i))
  return `Task ${i}: make the ${THINGS[i % THINGS.length]} page show ${i} rows.`
}

function changeOf(i: number): Spoken {
  const path = `src/${THINGS[i % 9]}/module-${i}.ts`
  switch (OPERATIONS[i % 3]) {
    case 'Write':
      return {
        call: 'Write',
        input: { file_path: path, content: `export const part${i} = ${i}` },
        result: 'ok',
      }
    case 'Edit':
      return { call: 'Edit', input: { file_path: path, old_string: 'a', new_string: 'b' }, result: 'ok' }
    default:
      return { call: 'Bash', input: { command: `rm ${path}` }, result: '' }
  }
}

const SPOKEN: readonly Spoken[] = Array.from({ length: MESSAGES }, (_, i): Spoken[] => [
  { user: userText(i) },
  changeOf(2 * i),
  changeOf(2 * i + 1),
  { model: `Task ${i} is done: both modules of it were changed.` },
]).flat()
const SPOKEN_EACH = 4

/** By which a message is known. */
const HEAD_CHARS = 30

type Summarise = (messages: readonly WireMessage[], facts: Facts) => string

const summarisers: { readonly [name: string]: Summarise } = {
  'the offline model': (messages) => {
    const asked: WireMessage = {
      role: 'user',
      content: summaryPrompt({ kind: 'whole', charsMax: SUMMARY_CHARS_MAX }),
    }
    return readSummary(writeForm([...messages, asked]) ?? '').text
  },
  'the fold': (_, facts) => foldSummary({ facts, budgetChars: SUMMARY_CHARS_MAX }),
  'a summariser that says nothing': () => 'Work was done.',
}

interface Compacted {
  readonly proof: Proof
  readonly entries: readonly Entry[]
  readonly from: string
}

function compactAgainAndAgain(summarise: Summarise): Compacted {
  let entries: readonly Entry[] = []
  let from: string | null = null
  let last: Compacted | undefined
  let summary: WireMessage | undefined
  for (let at = 0; at < SPOKEN.length; at += EVERY * SPOKEN_EACH) {
    const fresh = said(SPOKEN.slice(at, at + EVERY * SPOKEN_EACH), 10_000 + 10 * at)
    entries = entries.concat(fresh)
    const messages = fresh.flatMap((entry) => (entry.kind === 'message' ? [entry.message] : []))
    const facts = factsOf(viewOf(entries, from))
    const proof = prove({
      summary: summarise(summary ? [summary, ...messages] : messages, facts),
      facts,
      visible: '',
      budgetChars: REPAIR_CHARS_MAX,
    })
    const id = `b${at}`
    const text = continuationText({ mode: 'automatic', summary: proof.text, place: 'before', stays: 'none' })
    summary = { role: 'user', content: text }
    const boundary = compacted(id, fresh.at(-1)?.id ?? null, { facts: encodeFacts(facts) })
    last = { proof, entries, from: id }
    // As a loader would: from the boundary on.
    entries = boundary
    from = id
  }
  if (!last) throw new Error('nothing was said')
  return last
}

describe.each(Object.entries(summarisers))('after twelve compactions by %s', (_, summarise) => {
  const { proof } = compactAgainAndAgain(summarise)
  const { text, repairs } = proof
  const files = Array.from({ length: FILES }, (_unused, i) => changeOf(i))

  test('every prohibition that was not revoked is in view', () => {
    for (let i = REVOKED; i < PROHIBITIONS; i++) expect(text).toContain(rule(i))
  })

  test('nothing that was revoked or pasted is listed as in force', () => {
    const inForce = /Standing instructions[^]*?(?:\n\n|$)/.exec(text)?.[0] ?? ''
    for (let i = 0; i < REVOKED; i++) expect(inForce).not.toContain(rule(i))
    expect(inForce).not.toMatch(/never call|do not edit|Friday/)
  })

  test('the names of all changed files are in view, with the last operation on each of the newest forty', () => {
    for (const [i] of files.entries()) expect(text).toMatch(new RegExp(`\\bmodule-${i}\\.ts`))
    const verbs = ['(?:created|written)', 'edited', 'deleted']
    for (let i = FILES - 40; i < FILES; i++)
      expect(text).toMatch(new RegExp(`${verbs[i % 3]}[^\\n]*module-${i}\\.ts`))
  })

  test('repairs stay within their budget', () => {
    expect(repairs.length).toBeLessThanOrEqual(REPAIR_CHARS_MAX)
  })

  test("(C3) the user's newest words are complete, and every message is shown, shortened with its id, or named", () => {
    const flat = (one: string): string => one.replace(/\s+/g, ' ')
    const all = Array.from({ length: MESSAGES }, (_unused, i) => flat(userText(i)))
    for (const words of all.slice(-4)) expect(flat(text)).toContain(words)
    const shown = all.filter((words) => flat(text).includes(words.slice(0, HEAD_CHARS)))
    const named = /(\d+) messages of the user/.exec(text)?.[1] ?? '0'
    expect(shown.length + Number(named)).toBeGreaterThanOrEqual(MESSAGES)
  })
})
