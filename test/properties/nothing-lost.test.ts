import fc from 'fast-check'
import { expect, test } from 'vitest'

import { decodeLine, encodeEntry } from '../../packages/palimpsest/src/transcript/lines/codec.ts'
import type { Entry } from '../../packages/palimpsest/src/transcript/entry.ts'
import { toViewBlocks } from '../../packages/palimpsest/src/transcript/view-block.ts'
import { findMember, splitArray, withoutMember } from '../../packages/palimpsest/src/wire/json.ts'
import { cases } from '../kit/cases.ts'
import { arbitraryOperations } from '../kit/conversation.ts'
import { play } from '../kit/play.ts'
import { simulatorJudge } from '../kit/simulator-judge.ts'

const RUNS = cases(25, 50_000)
const TIMEOUT_MS = 60_000 + RUNS.numRuns * 200

test(
  '(N1) every block that left the view is in the file, byte for byte, under an id',
  async () => {
    let left = 0
    await fc.assert(
      fc.asyncProperty(arbitraryOperations, async (operations) => {
        const { requests, entries } = await play(operations, simulatorJudge().judge)
        const stored = blocksByBytes(entries.map(readAgain))
        const bodies = requests.map(({ built }) => blocksOf(built.body))
        for (const [i, body] of bodies.entries()) {
          const next = new Set(bodies[i + 1] ?? [])
          const gone = body.filter((block) => !next.has(block))
          left += i + 1 < bodies.length ? gone.length : 0
          expect(gone.filter((block) => !stored.has(block))).toEqual([])
        }
      }),
      RUNS,
    )
    // The generator must take things out of view.
    expect(left).toBeGreaterThan(RUNS.numRuns)
  },
  TIMEOUT_MS,
)

function readAgain(entry: Entry): Entry {
  const read = decodeLine(encodeEntry(entry, { sessionId: 's', cwd: '/w', version: '0' }))
  if (read.kind === 'problem') throw new Error(`a line of ours cannot be read: ${JSON.stringify(read)}`)
  return read
}

/** The blocks of a request as sent, without breakpoints. */
function blocksOf(body: string): string[] {
  return splitArray(findMember(body, 'messages') ?? '[]').flatMap((message) =>
    splitArray(findMember(message, 'content') ?? '[]').map((block) => withoutMember(block, 'cache_control')),
  )
}

/** Where the bytes of each block that the file holds can be had: the id of its entry. */
function blocksByBytes(entries: readonly Entry[]): Map<string, string> {
  const stored = new Map<string, string>()
  for (const entry of entries) {
    if (entry.kind === 'message') for (const { json } of toViewBlocks(entry)) stored.set(json, entry.id)
    if (entry.kind === 'stored') stored.set(entry.standIn, entry.id)
    if (entry.kind === 'edit') {
      for (const text of entry.replace.flatMap((change) => change.with)) stored.set(text, entry.id)
    }
  }
  return stored
}
