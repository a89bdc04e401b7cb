import fc from 'fast-check'
import { expect, test } from 'vitest'

import { cases } from '../../../../test/kit/cases.ts'
import { arbitraryOperations, type Played } from '../../../../test/kit/conversation.ts'
import { play, policyOf } from '../../../../test/kit/play.ts'
import { simulatorJudge } from '../../../../test/kit/simulator-judge.ts'
import { chargeRequest, createCache, publishWrites, type CacheRequest } from '../ledger/cache.ts'
import { explainCharge, type CacheExplanation } from '../ledger/explain.ts'
import { settle } from '../transcript/settle.ts'
import { emptyView, step, type View } from '../transcript/view.ts'
import { breakpointPlaces } from './breakpoint-places.ts'
import { layRequest, type LaidRequest } from './lay-request.ts'
import { promptHead } from './prompt-head.ts'

test('(L1) requests laid one after the other are charged and explained as if each were laid from scratch', async () => {
  await fc.assert(
    fc.asyncProperty(arbitraryOperations, async (operations) => {
      const played = await play(operations, simulatorJudge().judge)
      expect(chargesOf(played, true)).toEqual(chargesOf(played, false))
    }),
    cases(25, 2_000),
  )
})

interface Charged {
  readonly paths: readonly string[]
  readonly hashes: readonly string[]
  readonly breakpoints: readonly number[]
  readonly readIndex: number
  readonly why: CacheExplanation
}

function chargesOf({ entries, requests }: Played, goesOn: boolean): readonly Charged[] {
  const cache = createCache()
  const charged: Charged[] = []
  let view = emptyView()
  let [laid, earlier]: [LaidRequest | undefined, CacheRequest | undefined] = [undefined, undefined]
  for (const [count, entry] of entries.entries()) {
    for (const _request of requests.filter((request) => request.entries === count)) {
      laid = lay(view, goesOn ? laid : undefined)
      const { prompt, breakpoints } = laid
      const marked = breakpoints.map((index) => ({ index, ttl: '5m' }) as const)
      const request = { at: entry.at, prompt, breakpoints: marked, minimumTokens: 0 }
      const charge = chargeRequest(cache, request)
      charged.push({
        paths: prompt.positions.map(({ path }) => path),
        hashes: prompt.positions.map(({ hash }) => hash),
        breakpoints,
        readIndex: charge.readIndex,
        why: explainCharge(cache, request, charge, earlier),
      })
      publishWrites(cache, charge, entry.at)
      earlier = request
    }
    view = step(view, entry)
  }
  return charged
}

function lay(view: View, last: LaidRequest | undefined): LaidRequest {
  const settled = settle(view, policyOf(view.prefix?.model ?? ''))
  if (!view.prefix) throw new Error('a request was sent without a prefix')
  const places = breakpointPlaces(view, settled)
  return layRequest({ settled, head: promptHead(view.prefix), places, toTokens: (raw) => raw }, last)
}
