import { contradictedCalls } from '../../../facts/contradicted.ts'
import { factsOf } from '../../../facts/facts-of.ts'
import { familyOf, readCall } from '../../../facts/read-call.ts'
import { blockKey, type View, type ViewNode } from '../../../transcript/view.ts'
import { isBlock } from '../../../wire/message.ts'
import { excerptShareIn, keptTokens, type CompactionPolicy } from '../policy.ts'
import { isMadeNode } from './gaps.ts'
import { isUserNode, tailStart } from './tail.ts'
import { worthOf } from './worth.ts'

// What stays as it was when the window is full: the tail, the user's messages, and the older rounds that are worth most for their room.

export interface KeptRoom {
  /** Tokens at which the window counts as full. */
  readonly autoTokens: number
  /** Tokens before the messages. */
  readonly prefixTokens: number
  /** Turns a raw estimate into tokens. */
  readonly toTokens: (raw: number) => number
  /** Estimated tokens before each node, and of all, raw. */
  readonly rawBefore: readonly number[]
}

export interface KeptChoice {
  /** The first node of the tail. */
  readonly tailFrom: number
  /** Older nodes that stay, in order: whole rounds, and messages of the user. */
  readonly copied: readonly number[]
  /** Tokens for the summary, and for excerpts next to it. */
  readonly summaryTokens: number
  readonly excerptTokens: number
}

export function chooseKept(view: View, room: KeptRoom, policy: CompactionPolicy): KeptChoice {
  const { toTokens, rawBefore } = room
  const afterPrefix = Math.max(0, room.autoTokens - room.prefixTokens)
  const tokensOf = (index: number): number => toTokens((rawBefore[index + 1] ?? 0) - (rawBefore[index] ?? 0))
  const usersMax = Math.max(policy.userShare * afterPrefix, policy.userTokensMin)
  const users = keptUsers(view, usersMax, tokensOf)
  const userTokens = sumOf(users, tokensOf)
  const free = Math.max(0, afterPrefix - userTokens)
  const summaryTokens = Math.max(
    policy.summaryShare * free,
    Math.min(policy.summaryTokensMin, policy.summaryShareMax * free),
  )
  const stays = policy.keptShare > 0 ? Math.max(0, keptTokens(policy, free) - summaryTokens) : 0
  const excerptTokens = Math.min(excerptShareIn(policy, free) * stays, policy.excerptTokensMax)
  const budget = stays - excerptTokens
  const tailMax = Math.min(policy.tailTokens, policy.tailShare * budget)
  const tailFrom = tailStart(view, rawBefore, tailMax / toTokens(1))
  const tailNodes = view.nodes.slice(tailFrom).flatMap((node, i) => (isUserNode(node) ? [] : [tailFrom + i]))
  const tailTokens = sumOf(tailNodes, tokensOf)
  const superseded = contradictedCalls(view)
  const rounds = roundsBefore(view, tailFrom).filter(
    (round) =>
      round.some((index) => hasPinned(view, index)) ||
      !round.some((index) => answersAny(view.nodes[index], superseded)),
  )
  const evidence = evidenceRounds(view, rounds, { tokensMax: policy.evidenceShare * stays, tokensOf })
  const left = budget - tailTokens - sumOf(evidence.flat(), tokensOf)
  const others = rounds.filter((round) => !evidence.includes(round))
  const kept = [...evidence.flat(), ...keptRounds(view, others, { room, budget: left, tokensOf })]
  const current = withoutStale(view, [...kept, ...users], tailFrom)
  const chosen = new Set(bridged(rounds, current, { tailFrom, tokensOf }))
  const older = Array.from({ length: tailFrom }, (_, index) => index)
  return {
    tailFrom,
    copied: older.filter((index) => chosen.has(index)),
    summaryTokens,
    excerptTokens: Math.max(0, excerptTokens + Math.min(0, left)),
  }
}

function sumOf(nodes: readonly number[], tokensOf: (index: number) => number): number {
  return nodes.reduce((sum, index) => sum + tokensOf(index), 0)
}

/**
 * The user's messages that stay: the newest, the first (it says what the work is about), then the newer ones while there is room.
 * A message that is too long leaves, and shorter ones before it stay.
 */
function keptUsers(view: View, tokensMax: number, tokensOf: (index: number) => number): number[] {
  const [newest, ...others] = view.nodes.flatMap((node, i) => (isUserNode(node) ? [i] : [])).toReversed()
  const first = others.pop()
  let left = tokensMax
  return [newest, first, ...others]
    .filter((index) => {
      if (index === undefined || tokensOf(index) > left) return false
      left -= tokensOf(index)
      return true
    })
    .filter((index) => index !== undefined)
}

/** A round that showed a file stays only together with all later changes to the file: otherwise it shows an outdated state. */
function withoutStale(view: View, kept: readonly number[], tailFrom: number): readonly number[] {
  const calls = view.nodes.map(({ blocks }) =>
    blocks.flatMap(({ block }) => (isBlock(block, 'tool_use') ? [readCall(block)] : [])),
  )
  const changed = new Map<string, number[]>()
  for (const [index, own] of calls.entries())
    for (const { path } of own.flatMap(({ changes }) => changes))
      changed.set(path, [...(changed.get(path) ?? []), index])
  const answerOf = (index: number): number => (view.nodes[index]?.answers === undefined ? index : index - 1)
  let stays = new Set(kept)
  const isStale = (answer: number): boolean =>
    (calls[answer] ?? [])
      .flatMap(({ reads }) => reads.flatMap((path) => changed.get(path) ?? []))
      .some((change) => change > answer && change < tailFrom && !stays.has(change))
  for (let before = Infinity; stays.size < before;) {
    before = stays.size
    const current = kept.filter((index) => {
      const answer = answerOf(index)
      const isPinned = hasPinned(view, answer) || hasPinned(view, answer + 1)
      return stays.has(index) && (isPinned || !isStale(answer))
    })
    stays = new Set(current)
  }
  return [...stays]
}

/** A line that says that something is left out takes more room than this. */
const BRIDGE_TOKENS = 60

/** Adds what little is between two that stay, if it takes no more room than a line about it. */
function bridged(
  rounds: readonly Round[],
  kept: readonly number[],
  { tailFrom, tokensOf }: { readonly tailFrom: number; readonly tokensOf: (index: number) => number },
): readonly number[] {
  const stays = new Set(kept)
  const mayStay = new Set(rounds.flat())
  let run: number[] = []
  for (let index = 0; index <= tailFrom; index++) {
    if (index < tailFrom && !stays.has(index)) {
      run.push(index)
      continue
    }
    const isSmall = sumOf(run, tokensOf) <= BRIDGE_TOKENS && run.every((one) => mayStay.has(one))
    // Before the first that stays is the summary.
    if (isSmall && run[0] !== 0) for (const one of run) stays.add(one)
    run = []
  }
  return [...stays]
}

/** An answer with its results, or one other message. */
type Round = readonly number[]

/** Rounds before the tail, without the user's messages and what an earlier compaction made. */
function roundsBefore(view: View, tailFrom: number): Round[] {
  const rounds: number[][] = []
  let answer: number[] | undefined
  for (const [index, node] of view.nodes.slice(0, tailFrom).entries()) {
    if (node.answers !== undefined && answer) {
      answer.push(index)
      continue
    }
    answer = undefined
    if (isUserNode(node) || isMadeNode(node)) continue
    answer = [index]
    rounds.push(answer)
  }
  return rounds
}

function answersAny(node: ViewNode | undefined, calls: ReadonlyMap<string, string>): boolean {
  return (node?.blocks ?? []).some(
    ({ block }) => isBlock(block, 'tool_result') && calls.has(block.tool_use_id),
  )
}

/** Rounds with a command that failed and has not succeeded since, the newest first while there is room: what went wrong, word for word. */
function evidenceRounds(
  view: View,
  rounds: readonly Round[],
  { tokensMax, tokensOf }: { readonly tokensMax: number; readonly tokensOf: (index: number) => number },
): Round[] {
  const failed = factsOf(view).errors.filter(({ tool }) => familyOf(tool) === 'shell')
  const entries = new Set(failed.map(({ entry }) => entry))
  let left = tokensMax
  return rounds.toReversed().filter((round) => {
    const isFailed = round.some((index) => view.nodes[index]?.entries.some((entry) => entries.has(entry)))
    const tokens = sumOf(round, tokensOf)
    if (!isFailed || tokens > left) return false
    left -= tokens
    return true
  })
}

/** The rounds that are worth most for their room, and everything pinned. */
function keptRounds(
  view: View,
  rounds: readonly Round[],
  {
    room,
    budget,
    tokensOf,
  }: { readonly room: KeptRoom; readonly budget: number; readonly tokensOf: (index: number) => number },
): number[] {
  const worth = worthOf(view, room.toTokens)
  const ranked = rounds
    .map((round) => {
      const tokens = sumOf(round, tokensOf)
      const isPinned = round.some((index) => hasPinned(view, index))
      const total = round.reduce((sum, index) => sum + (worth[index] ?? 0), 0)
      return { round, tokens, isPinned, density: isPinned ? Infinity : total / Math.max(1, tokens) }
    })
    .toSorted((a, b) => b.density - a.density)
  let left = budget
  return ranked.flatMap(({ round, tokens, isPinned, density }) => {
    if (!isPinned && (density <= 0 || tokens > left)) return []
    left -= tokens
    return round
  })
}

function hasPinned(view: View, index: number): boolean {
  return (
    view.pinned.size > 0 &&
    (view.nodes[index]?.blocks.some(({ at }) => view.pinned.has(blockKey(at))) ?? false)
  )
}
