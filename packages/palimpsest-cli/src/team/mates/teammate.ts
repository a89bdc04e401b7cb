import { drive } from 'palimpsest/conversation'
import type { LoopEvent } from 'palimpsest/loop'
import { stateOf } from 'palimpsest/node'
import { servedTokens, type Usage } from 'palimpsest/wire'

import { ownNatureOf } from '../../agent/tools/tool-natures.ts'
import { watchAgent, type WatchedAgent } from '../../agents/summary/watch-agent.ts'
import { sentenceOf } from '../../report-error.ts'
import { problemOf } from '../../run/turn-problem.ts'
import type { World } from '../../world.ts'
import { bringUpToDate, finishTasks } from './finish-tasks.ts'
import { nextStep, type Step } from './next-step.ts'
import { letterLine } from '../letter-line.ts'
import { LEADER } from '../seat.ts'
import { HEARD_MAX, readTeam, type MemberSpent, type TeamRecord } from '../team-record.ts'
import { memberText, taskAgainText, taskText } from '../team-texts.ts'
import type { Teammate } from './teammate-setup.ts'
import { driveWork, type WorkTurn } from './work-turn.ts'

// A teammate: it takes a task, does it, and waits for the next one or for mail, until it is asked to leave. Whatever ends it, its work
// stays.

interface State {
  team: TeamRecord
  leaderGoneAt: number | undefined
  idleTurns: number
  turns: number
  /** Waiting was reported already; reset when there is work again. */
  isWaiting: boolean
}

/** How often leases are renewed while it works. */
const RENEW_MS = 20_000

/** Resolves with the reason when the teammate should leave. */
export async function runTeammate(mate: Teammate, world: World): Promise<string> {
  const { conversation, work, team, member, say, watch } = mate
  const state: State = { team, leaderGoneAt: undefined, idleTurns: 0, turns: 0, isWaiting: false }
  const renewing = setInterval(() => {
    work.list.renew().catch((error: unknown) => say(sentenceOf(error)))
  }, RENEW_MS)
  try {
    if (conversation.view().nodes.length === 0)
      await drive(conversation.add({ content: memberText(team, member), words: team.goal }, world.signal))
    // Tasks that an earlier process completed but did not commit.
    await finishTasks(mate)
    while (!world.signal.aborted) {
      const step = await look(mate, state, world)
      if (step.kind === 'end') return step.why
      if (step.kind === 'wait' || step.kind === 'stuck' || step.kind === 'planned') {
        const objections = await rest(mate, state, step, world.signal)
        if (objections !== undefined)
          await takeTurn(mate, state, { doing: 'working', content: objections }, world)
        else await watch.next(world.signal)
        continue
      }
      const end = await workOn(mate, state, step, world)
      if (end !== undefined) return end
    }
    return 'it was stopped'
  } finally {
    clearInterval(renewing)
  }
}

async function look(mate: Teammate, state: State, world: World): Promise<Step> {
  const { home, team, member, prepared, work } = mate
  const found = await readTeam(home, team.name)
  const now = world.now()
  if (found) {
    state.team = found
    const isGone = (await stateOf(found.leader)) === 'gone'
    state.leaderGoneAt = isGone ? (state.leaderGoneAt ?? now) : undefined
  }
  const { leaderGoneAt, idleTurns, turns } = state
  const board = await work.list.board()
  const hasMail = (await prepared.seated?.hasMail()) ?? false
  const about = {
    self: member.name,
    now,
    team: found,
    board,
    hasMail,
    isDismissed: prepared.agents.post.main.isLeaving(),
    isPlanHandedIn: prepared.planning.isHandedIn(),
  }
  return nextStep({ ...about, leaderGoneAt, idleTurns, turns })
}

/** Nothing to do: reports that once. If the user's hooks object, it continues with their text. */
async function rest(
  mate: Teammate,
  state: State,
  step: Extract<Step, { kind: 'wait' | 'stuck' | 'planned' }>,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (state.isWaiting) return undefined
  state.isWaiting = true
  const { own, prepared, say, work } = mate
  if (step.kind === 'wait') {
    const objections = await work.idle(signal)
    if (objections.length > 0) return objections.join('\n\n')
    say('idle')
    await own.set({ state: 'idle', doing: 'idle' })
    return undefined
  }
  if (step.kind === 'planned') {
    say(PLANNED)
    await own.set({ state: 'stuck', doing: PLANNED })
    return undefined
  }
  await giveBack(mate, step.why)
  const text = `I stop taking tasks: ${step.why}. What I had is free again.`
  say(text)
  await own.set({ state: 'stuck', doing: step.why })
  const sent = prepared.seated?.send(LEADER, text, 'stopped without progress')
  await sent?.catch((error: unknown) => say(sentenceOf(error)))
  return undefined
}

const PLANNED = 'its plan is with the leader; it waits for the end of plan mode'

/** One turn. Returns why it must be the last, or undefined. */
async function workOn(
  mate: Teammate,
  state: State,
  step: Extract<Step, { kind: 'mail' | 'task' }>,
  world: World,
): Promise<string | undefined> {
  if (step.kind === 'mail') return await takeTurn(mate, state, { doing: 'reading mail' }, world)
  // From here on others see that it continues.
  if (mate.own.get().state === 'stuck') await mate.own.set({ state: 'working', doing: step.task.subject })
  const content = await beginTask(mate, state, step)
  if (content === undefined) return undefined
  return await takeTurn(mate, state, { doing: step.task.subject, content }, world)
}

/** Without content, the turn is about waiting mail. */
async function takeTurn(
  mate: Teammate,
  state: State,
  { doing, content }: { readonly doing: string; readonly content?: string },
  world: World,
): Promise<string | undefined> {
  const { conversation, member, own, watch } = mate
  state.isWaiting = false
  state.turns++
  await own.set({ state: 'working', doing })
  const watched = watchAgent({
    name: member.name,
    now: world.now,
    onChange: () => undefined,
    tell: () => undefined,
  })
  const events =
    content === undefined
      ? conversation.listen(world.signal)
      : conversation.send({ content, origin: 'peer' }, world.signal)
  const turn = await driveWork(events, async (event) => await see(event, mate, watched, world))
  watched.end('completed', '')
  await finishTasks(mate)
  await afterTurn(turn, mate, state)
  // All waiting mail was refused, or was read before and cannot be removed.
  if (turn.end === undefined) await watch.next(world.signal)
  return whyLast(turn)
}

function whyLast({ end }: WorkTurn): string | undefined {
  if (end?.reason !== 'max-cost') return undefined
  return problemOf(end) ?? 'its share of --max-cost is spent'
}

async function see(event: LoopEvent, mate: Teammate, watched: WatchedAgent, world: World): Promise<void> {
  const { own } = mate
  watched.see(event)
  if (event.type === 'notice') mate.say(event.text)
  if (event.type === 'message' && event.entry.usage)
    await own.set({ spent: spentBy(mate, event.entry.usage) })
  if (event.type === 'letter') {
    const heard = { at: world.now(), from: event.from, summary: event.summary }
    mate.say(letterLine(event))
    await own.set({ heard: [...own.get().heard, heard].slice(-HEARD_MAX) })
  }
  // Messages to the team do not count as work.
  if (event.type === 'tool-start' && ownNatureOf(event.name) !== 'inner') {
    const { text } = watched.status()
    mate.say(`· ${text}`)
    await own.set({ doing: text })
  }
  if (event.type !== 'tool-end') return
  await noteWritten(event, own)
  if (event.denied !== undefined) mate.say(event.denied)
  if (event.name === 'TaskUpdate') await finishTasks(mate)
}

/** On disk before the next call, so that it survives a kill. */
async function noteWritten(
  { name, entry }: Extract<LoopEvent, { readonly type: 'tool-end' }>,
  own: Teammate['own'],
): Promise<void> {
  if (ownNatureOf(name) !== 'write') return
  const before = own.get().written
  const more = (entry.files ?? []).map(({ path }) => path).filter((path) => !before.includes(path))
  if (more.length > 0) await own.set({ written: [...before, ...more] })
}

function spentBy({ own, conversation }: Teammate, usage?: Usage): MemberSpent {
  const { promptTokens, readTokens: cachedTokens, costUsd } = conversation.totals()
  const outputTokens = own.get().spent.outputTokens + (usage ? servedTokens(usage).output : 0)
  return { promptTokens, cachedTokens, outputTokens, costUsd }
}

async function afterTurn(turn: WorkTurn, mate: Teammate, state: State): Promise<void> {
  state.idleTurns = turn.hasProgress ? 0 : state.idleTurns + 1
  const problem = turn.end && problemOf(turn.end)
  if (problem !== undefined) mate.say(problem)
  await mate.own.set({ spent: spentBy(mate) })
}

/** The text for the task; undefined if another member was faster. */
async function beginTask(
  mate: Teammate,
  { team }: State,
  { task, isOwn }: Extract<Step, { kind: 'task' }>,
): Promise<string | undefined> {
  const { work, say } = mate
  // Also for a task it had in an earlier process: a member only keeps a task that it takes up.
  const taken = await work.list.update({ task: task.id, state: 'in_progress' })
  if (!taken.ok) return undefined
  if (isOwn && task.state === 'in_progress') return taskAgainText(task)
  say(`task ${task.id}: ${task.subject}`)
  const behind = await bringUpToDate(mate, team)
  return [taskText(taken.task), ...behind].join('\n\n')
}

async function giveBack({ work, member, say }: Teammate, why: string): Promise<void> {
  for (const task of (await work.list.board()).tasks.values()) {
    if (task.owner !== member.name || task.state !== 'in_progress') continue
    const answer = await work.list.update({ task: task.id, owner: null, note: why })
    if (!answer.ok) say(answer.why)
  }
}

/** The teammate leaves: others may take its unfinished tasks. */
export async function leaveTeam(mate: Teammate, why: string): Promise<void> {
  await giveBack(mate, `${mate.member.name} left: ${why}`)
  await mate.own.set({ state: 'ended', doing: why })
  mate.say(`ended: ${why}`)
}
