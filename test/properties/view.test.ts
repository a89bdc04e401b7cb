import fc from 'fast-check'
import { expect, test } from 'vitest'
import { buildRequest } from '../../packages/palimpsest/src/request/build-request.ts'
import { partsOf } from '../../packages/palimpsest/src/ledger/request-prompt.ts'
import type { Simulator } from '../../packages/palimpsest/src/lab/simulator/index.ts'
import { STRICT_SWITCHES } from '../../packages/palimpsest/src/lab/simulator/switches.ts'
import { decodeLine, encodeEntry } from '../../packages/palimpsest/src/transcript/lines/codec.ts'
import type { Entry } from '../../packages/palimpsest/src/transcript/entry.ts'
import {
  markNodes,
  unchangedSince,
  type NodesMark,
} from '../../packages/palimpsest/src/transcript/unchanged-since.ts'
import { emptyView, step, viewOf, type ViewNode } from '../../packages/palimpsest/src/transcript/view.ts'
import { isBlock, isThinking, toBlocks } from '../../packages/palimpsest/src/wire/message.ts'
import { parseRequest } from '../../packages/palimpsest/src/wire/parse.ts'
import type { MessagesRequest } from '../../packages/palimpsest/src/wire/request.ts'
import { cases } from '../kit/cases.ts'
import { arbitraryOperations, type Played } from '../kit/conversation.ts'
import { play, policyOf } from '../kit/play.ts'
import { simulatorJudge } from '../kit/simulator-judge.ts'

// Generated conversations: parallel calls, thinking, images, errors, interrupted calls, stored results, edits, boundaries, undo,
// changes of model and tools. The judge is the simulator at its strictest, refusing wrongly bound thinking: `play` throws where a
// request is refused, which is what shows (V1) and (V4).

const RUNS = cases(30, 100_000)
const TIMEOUT_MS = 60_000 + RUNS.numRuns * 100
const strict = { switches: { ...STRICT_SWITCHES, pastScript: 'refuse' } } as const

test(
  '(T1) (T2) (V1) (V2) (V3) (V4) (V5) (L1) (R1) hold over generated conversations, as the simulator judges them',
  async () => {
    const seen = { requests: 0, thinking: 0, edits: 0, boundaries: 0, undos: 0 }
    await fc.assert(
      fc.asyncProperty(arbitraryOperations, async (operations) => {
        const { judge, simulator } = simulatorJudge(strict)
        const played = await play(operations, judge)
        const bodies = played.requests.map(({ built }) => bodyOf(built.body))
        onlyDeclaredChanges(played, bodies)
        sameWhenReadAgain(played)
        everyTextIsStored(played, bodies)
        everyTokenIsCharged(simulator)
        everyChangeIsNoted(played)
        count(played, bodies, seen)
      }),
      RUNS,
    )
    // The generator must reach what the test is about.
    expect(Math.min(...Object.values(seen))).toBeGreaterThan(RUNS.numRuns / 10)
  },
  TIMEOUT_MS,
)

/** (V3) Only a declared change alters what an earlier request had sent. */
function onlyDeclaredChanges({ requests }: Played, bodies: readonly MessagesRequest[]): void {
  const texts = bodies.map((body) => partsOf(body, () => 1).parts.map((part) => part.hash))
  for (const [i, request] of requests.entries()) {
    const before = texts[i - 1]
    if (before && !request.declared) expect(texts[i]?.slice(0, before.length)).toEqual(before)
  }
}

/** (T1) (T2) (V2) (R1) Written and read again: the same entries, and of each prefix of them the same bytes as were sent. */
function sameWhenReadAgain({ entries, requests }: Played): void {
  const lines = entries.map((entry) => encodeEntry(entry, { sessionId: 's', cwd: '/w', version: '0' }))
  const read = lines.map((line) => decodeLine(line))
  expect(read).toEqual(entries)
  const whole = read.filter((entry): entry is Entry => 'kind' in entry)
  for (const request of requests.slice(-2)) {
    const again = buildRequest(viewOf(whole.slice(0, request.entries)), {
      maxTokens: 1000,
      thinking: policyOf(request.built.model),
      lifetimes: { system: '1h', messages: '5m' },
      stream: false,
    })
    expect(again).toEqual(request.built)
  }
}

/** (V5) The view makes up no text. */
function everyTextIsStored({ entries, requests }: Played, bodies: readonly MessagesRequest[]): void {
  const body = bodies.at(-1)
  const last = requests.at(-1)
  if (!body || !last) return
  const stored = JSON.stringify(entries.slice(0, last.entries))
  for (const message of body.messages)
    for (const block of toBlocks(message.content))
      if (isBlock(block, 'text')) expect(stored).toContain(JSON.stringify(block.text).slice(1, -1))
}

/** (L1) Read + written + uncached = input tokens. */
function everyTokenIsCharged(simulator: Simulator): void {
  expect(simulator.stats().refused).toEqual({})
  for (const { usage, input_tokens: input } of simulator.requests()) {
    const written = usage?.cache_creation_input_tokens ?? 0
    expect((usage?.input_tokens ?? 0) + written + (usage?.cache_read_input_tokens ?? 0)).toBe(input)
  }
}

/** Steps between two looks at a view. */
const STEPS_APART = [1, 2, 5]

/** Whoever looks only at nodes that came since relies on it: no node that changed is taken for one that did not. */
function everyChangeIsNoted({ entries }: Played): void {
  let view = emptyView()
  const looks: { list: readonly ViewNode[]; nodes: readonly ViewNode[]; mark: NodesMark }[] = []
  for (const entry of entries) {
    view = step(view, entry)
    const { nodes } = view
    for (const apart of STEPS_APART) {
      const look = looks.at(-apart)
      // An undo gives another list.
      if (look?.list !== nodes) continue
      const first = look.nodes.findIndex((node, i) => node !== nodes[i])
      const same = first < 0 ? look.nodes.length : first
      const known = unchangedSince(view, look.mark)
      expect(known).toBeLessThanOrEqual(same)
      // What came and went in between may be forgotten; one step is told exactly.
      if (apart === 1) expect(known).toBe(same)
    }
    looks.push({ list: nodes, nodes: [...nodes], mark: markNodes(view) })
  }
}

function count(
  played: Played,
  bodies: readonly MessagesRequest[],
  seen: { requests: number; thinking: number; edits: number; boundaries: number; undos: number },
): void {
  seen.requests += bodies.length
  for (const { messages } of bodies)
    for (const { content } of messages) seen.thinking += toBlocks(content).filter(isThinking).length
  for (const { kind } of played.entries) {
    if (kind === 'edit') seen.edits++
    if (kind === 'boundary') seen.boundaries++
    if (kind === 'void') seen.undos++
  }
}

function bodyOf(text: string): MessagesRequest {
  const parsed = parseRequest(JSON.parse(text))
  if (!parsed.ok) throw new Error(`no request: ${JSON.stringify(parsed.problem)}`)
  return parsed.value
}
