import { randomUUID } from 'node:crypto'

import { drive, type Conversation } from 'palimpsest/conversation'
import { hasLettersFor, openFileMailbox } from 'palimpsest/node'

import type { PermitOptions } from '../../agent/permissions/create-permit.ts'
import type { PermissionMode } from '../../agent/permissions/permission-mode.ts'
import { sentenceOf } from '../../report-error.ts'
import type { PreparedRun } from '../../run/prepare-run.ts'
import type { World } from '../../world.ts'
import { endTeam } from './end-team.ts'
import { watchFolders } from '../folder-watch.ts'
import { stateText } from './lead.ts'
import type { OpenedTeam } from './open-team.ts'
import { attendDesk, type DeskFace } from '../permission-desk.ts'
import { LEADER, TEAM_SENDER } from '../seat.ts'
import type { Steward, TeamLook } from './steward.ts'
import { membersFolder, NOTHING_SPENT, teamFolder, type MemberState } from '../team-record.ts'
import { reportLines, reportOf, spentIn } from './team-report.ts'
import { doneText, leaderMessage, newsText, stillText } from '../team-texts.ts'

// The leader with a screen: looks after the team beside the conversation. What needs the leader's model reaches it as mail.

/** The screen that shows the team. */
export interface TeamFace {
  /** Asks the user. */
  readonly ask: NonNullable<PermitOptions['ask']>
  readonly show: (text: string) => void
  /** The live region must be drawn again. */
  readonly changed: () => void
}

export interface TeamRow {
  readonly name: string
  readonly state: MemberState | 'starting' | 'gone'
  readonly doing: string
  readonly tokens: number
  readonly costUsd: number
}

export interface TeamHost {
  /** The conversation that leads from now on. */
  readonly begin: (conversation: Conversation, prepared: PreparedRun, face: TeamFace) => Promise<void>
  readonly rows: () => readonly TeamRow[]
  /** Called after a turn: ends the team if everything is done and reported. */
  readonly afterTurn: () => Promise<void>
  readonly end: () => Promise<void>
}

interface State {
  steward: Steward | undefined
  look: TeamLook | undefined
  /** The state of the team when the leader was last asked what to do. */
  asked: string
  news: readonly string[]
  face: TeamFace | undefined
  leader: Conversation | undefined
  /** The mode of the conversation that leads now. */
  mode: () => PermissionMode
  heardAt: Map<string, number>
  attending: Promise<unknown>
}

export function createTeamHost(
  open: (prepared: PreparedRun) => Promise<OpenedTeam>,
  home: string,
  world: World,
): TeamHost {
  const stop = new AbortController()
  const state: State = {
    steward: undefined,
    look: undefined,
    asked: '',
    news: [],
    face: undefined,
    leader: undefined,
    mode: () => 'plan',
    heardAt: new Map(),
    attending: Promise.resolve(),
  }
  const end = async (): Promise<void> => {
    const { steward, face } = state
    if (!steward || stop.signal.aborted) return
    stop.abort()
    await state.attending
    face?.show('the team is ending: teammates finish what they are doing')
    const ended = await endTeam(steward, world.signal.aborted, world)
    const spent = state.leader ? spentIn(state.leader) : NOTHING_SPENT
    for (const text of reportLines(reportOf(steward, ended, spent))) face?.show(text)
    state.look = undefined
    face?.changed()
  }
  return {
    begin: async (conversation, prepared, face) => {
      Object.assign(state, { face, leader: conversation, mode: prepared.permissions.mode })
      if (state.steward) {
        await state.steward.change({ leaderSession: conversation.id })
      } else {
        const permissions = { ...prepared.permissions, mode: () => state.mode() }
        const { steward, notices } = await open({ ...prepared, permissions })
        state.steward = steward
        for (const notice of notices) face.show(notice)
        state.attending = Promise.all([
          attend(state, steward, stop.signal),
          attendDesk({ home, team: steward.team().name }, deskFace(state), stop.signal),
        ]).catch((error: unknown) => face.show(sentenceOf(error)))
      }
      if (stop.signal.aborted || conversation.view().nodes.length > 0) return
      await drive(conversation.add(leaderMessage(state.steward.team()), world.signal))
    },
    rows: () => state.look?.members.map(rowOf) ?? [],
    afterTurn: async () => {
      const { steward } = state
      if (!steward || stop.signal.aborted) return
      const look = await steward.look()
      const isOver = look.pace === 'done' && look.board.tasks.size > 0 && stateText(look) === state.asked
      if (isOver) await end()
    },
    end,
  }
}

/** Asks whichever conversation leads at that time. */
function deskFace(state: State): DeskFace {
  return {
    ask: async (question, signal) => (await state.face?.ask(question, signal)) ?? { kind: 'no' },
    tell: (text) => state.face?.show(text),
  }
}

async function attend(state: State, steward: Steward, signal: AbortSignal): Promise<void> {
  const { home } = steward
  const { name } = steward.team()
  const mailbox = await openFileMailbox({ home, team: name, self: TEAM_SENDER })
  const post = async (summary: string, message: string): Promise<void> =>
    await mailbox.send({ id: randomUUID(), from: TEAM_SENDER, to: LEADER, at: Date.now(), summary, message })
  const watch = watchFolders([teamFolder(home, name), membersFolder(home, name)])
  try {
    while (!signal.aborted) {
      const look = await steward.look()
      showNews(state, look)
      // The mail it is about to read may change how the team stands.
      const isReading = await hasLettersFor({ home, team: name, self: LEADER })
      await wake(state, isReading ? { ...look, pace: 'moving' } : look, post)
      await watch.next(signal)
    }
  } finally {
    watch.close()
  }
}

function showNews(state: State, look: TeamLook): void {
  const { face, heardAt, look: before } = state
  for (const { text } of look.news) face?.show(text)
  for (const { member, record } of look.members) {
    const since = heardAt.get(member.name) ?? 0
    for (const { at, from, summary } of record?.heard ?? [])
      if (at > since) face?.show(`${from} to ${member.name}: ${summary}`)
    heardAt.set(member.name, record?.heard.at(-1)?.at ?? since)
    const was = before?.members.find((one) => one.member.name === member.name)?.record?.state
    if (record?.state === 'idle' && was === 'working') face?.show(`${member.name} is idle`)
  }
  state.news = [...state.news, ...look.news.map(({ text }) => text)]
  state.look = look
  face?.changed()
}

async function wake(
  state: State,
  look: TeamLook,
  post: (summary: string, message: string) => Promise<void>,
): Promise<void> {
  const { news } = state
  const stands = stateText(look)
  if (look.pace !== 'moving' && look.board.tasks.size > 0 && stands !== state.asked) {
    state.asked = stands
    state.news = []
    if (look.pace === 'done') await post('all tasks have ended', doneText(look.board, news))
    else await post('nobody works', stillText(look, news))
  } else if (look.news.some(({ isUrgent }) => isUrgent)) {
    state.news = []
    await post('work could not be merged', newsText(news))
  }
}

function rowOf({ member, record, life }: TeamLook['members'][number]): TeamRow {
  const { promptTokens = 0, cachedTokens = 0, outputTokens = 0, costUsd = 0 } = record?.spent ?? {}
  return {
    name: member.name,
    state: life === 'starting' || life === 'gone' ? life : (record?.state ?? 'ended'),
    doing: record?.doing ?? '',
    tokens: promptTokens - cachedTokens + outputTokens,
    costUsd,
  }
}
