import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { loadTranscript } from '../../packages/palimpsest/src/node/transcripts/load-transcript.ts'
import { createTranscript } from '../../packages/palimpsest/src/node/transcripts/transcript-file.ts'
import { selectChain, startLinkOf } from '../../packages/palimpsest/src/transcript/chain-start.ts'
import type { Entry } from '../../packages/palimpsest/src/transcript/entry.ts'
import { cases } from '../kit/cases.ts'
import { arbitraryOperations, type Operation } from '../kit/conversation.ts'
import { play } from '../kit/play.ts'
import { shownView } from '../kit/shown-view.ts'
import { simulatorJudge } from '../kit/simulator-judge.ts'
import { fileOptions, tempProject } from '../kit/temp-home.ts'

// Reading only the end of a file must not show: the view of what was loaded is the view of the whole.

/** The simulator in refuse mode is another test's matter; here it only answers. */
async function played(operations: readonly Operation[]): Promise<readonly Entry[]> {
  return (await play(operations, simulatorJudge().judge)).entries
}

describe('loading from the end', () => {
  it('(T2) the view of a session that was written and loaded is the view of the session', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryOperations, async (operations) => {
        const entries = await played(operations)
        const file = await createTranscript(fileOptions(await tempProject()))
        await file.append(entries)
        await file.close()
        const loaded = await loadTranscript(file.path)
        expect(loaded.warnings).toEqual([])
        expect(shownView(loaded.entries, loaded.from)).toEqual(shownView(entries))
        // A session can be gone on with: the last entry of the chain is the one that was appended last.
        expect(loaded.entries.at(-1)?.id).toBe(entries.at(-1)?.id)
      }),
      cases(4, 2000),
    )
  })

  it('(T2) from however few of the last lines a start is found, it is the start found from all lines, and the view is the same', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryOperations, async (operations) => {
        const entries = await played(operations)
        const links = entries.map(startLinkOf)
        const whole = selectChain(links, false)
        const chosen = whole?.places.flatMap((place) => entries[place] ?? []) ?? []
        expect(shownView(chosen, whole?.from)).toEqual(shownView(entries))
        const ids = (part: typeof links, places: readonly number[] = []) =>
          places.map((place) => part[place]?.id)
        for (let first = 1; first < links.length; first++) {
          const part = links.slice(first)
          const selected = selectChain(part, true)
          if (!selected) continue
          const known = ids(part, selected.places)
          expect(selected.from).toBe(whole?.from)
          expect(selected.prefixBehind ? [ids(links, whole?.places)[0], ...known] : known).toEqual(
            ids(links, whole?.places),
          )
        }
      }),
      cases(20, 20_000),
    )
  })
})
