import fc from 'fast-check'
import { expect, test } from 'vitest'

import type { Entry } from '../../packages/palimpsest/src/transcript/entry.ts'
import { isBlock, toBlocks } from '../../packages/palimpsest/src/wire/message.ts'
import { cases } from '../kit/cases.ts'
import { arbitraryScript, playLayers, type LayeredSession } from '../kit/layered-session.ts'

// The first two layers on conversations of every kind: tools, sizes, errors, images, pins, pauses, windows, a disk that is full.

const RUNS = cases(6, 20_000)
const ONCE_WRONG = [
  [2_118_135_308, '231'],
  [-810_103_291, '759'],
] as const
const TIMEOUT_MS = RUNS.numRuns * 1_000

test(
  '(C1) (C2) (N1) what the layers do before a request makes it smaller, happens once, and loses nothing',
  async () => {
    const seen = new Set<string>()
    const property = fc.asyncProperty(arbitraryScript, async (script) => {
      const played = await playLayers(script)
      for (const { bodies, tokensWithout, tokens, again } of played.requests) {
        expect(again).toEqual([])
        if (bodies.length > 0) expect(tokens).toBeLessThan(tokensWithout)
        for (const body of bodies) seen.add(body.kind === 'edit' ? body.cause : body.kind)
      }
      expect(lost(played, script.diskWorks)).toEqual([])
    })
    // A counterexample is long and shrinks for minutes: the seed is enough to look at it.
    await fc.assert(property, { ...RUNS, endOnFailure: true })
    // After a pause, more than the pause's own edit may be due: a round so large that results go to disk, or no disk to go to.
    for (const [seed, path] of ONCE_WRONG)
      await fc.assert(property, { seed, path, numRuns: 1, endOnFailure: true })
    // The generator must make the layers act.
    expect([...seen]).toEqual(expect.arrayContaining(['cold', 'stored']))
  },
  TIMEOUT_MS,
)

/** Tool uses whose result can be had back neither from the transcript nor from a file that it names. */
function lost({ entries, blobs, returned }: LayeredSession, diskWorks: boolean): readonly string[] {
  const texts = new Map<string, Set<string>>()
  for (const entry of entries)
    for (const [id, text] of textsIn(entry, blobs)) texts.set(id, (texts.get(id) ?? new Set()).add(text))
  // Without a disk, a result that is too large as it arrives is cut; what is in the transcript stays there.
  return [...returned]
    .filter(([id, text]) => text !== '' && texts.get(id)?.has(text) !== true)
    .filter(
      ([id]) => diskWorks || ![...(texts.get(id) ?? [])].some((kept) => kept.includes('could not be stored')),
    )
    .map(([id]) => id)
}

function textsIn(entry: Entry, blobs: ReadonlyMap<string, string>): [string, string][] {
  if (entry.kind === 'stored') return [[entry.toolUseId, blobs.get(entry.blob.path) ?? '']]
  if (entry.kind !== 'message') return []
  return toBlocks(entry.message.content).flatMap((block): [string, string][] =>
    isBlock(block, 'tool_result') && typeof block.content === 'string'
      ? [[block.tool_use_id, block.content]]
      : [],
  )
}
