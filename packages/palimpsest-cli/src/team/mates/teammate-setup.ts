import { join } from 'node:path'

import { UsageError } from 'palimpsest'
import { openConversation, type Conversation } from 'palimpsest/conversation'
import { ownIdentity } from 'palimpsest/node'

import { toPrintable } from '../../agent/printable.ts'
import { readingEnvironment, type ChildEnvironment } from '../../agent/process/child-environment.ts'
import { sentenceOf } from '../../report-error.ts'
import { howToCompact } from '../../run/compaction/how-to-compact.ts'
import { prepareRun, type PreparedRun } from '../../run/prepare-run.ts'
import type { RunWishes } from '../../run/set-scene.ts'
import type { World } from '../../world.ts'
import type { TeamWork } from '../team-tasks.ts'
import { watchFolders, type FolderWatch } from '../folder-watch.ts'
import { askLeader } from '../permission-desk.ts'
import { keepOwnRecord, type OwnRecord } from './own-record.ts'
import {
  NOTHING_SPENT,
  readMember,
  readTeam,
  teamFolder,
  type TeamMember,
  type TeamRecord,
} from '../team-record.ts'

/** Everything a teammate works with. */
export interface Teammate {
  readonly home: string
  readonly team: TeamRecord
  readonly member: TeamMember
  readonly conversation: Conversation
  readonly prepared: PreparedRun
  readonly work: TeamWork
  readonly own: OwnRecord
  readonly watch: FolderWatch
  /** For git. */
  readonly git: ChildEnvironment
  /** Prints progress for people who read along. */
  readonly say: (text: string) => void
  readonly close: () => Promise<void>
}

export interface TeammatePlace {
  readonly home: string
  readonly team: TeamRecord
  readonly member: TeamMember
}

/** Resumes the teammate's session if it had one. */
export async function openTeammate(place: TeammatePlace, wishes: RunWishes, world: World): Promise<Teammate> {
  const { home, team, member } = place
  const before = await readMember(home, team.name, member.name)
  const session = before ? ({ kind: 'stored', id: before.sessionId } as const) : wishes.session
  const waits = { tell: (_question: string | undefined): void => undefined }
  const say = (text: string): void => world.print(`${toPrintable(text)}\n`)
  const asker = { waits: (question: string | undefined) => waits.tell(question), say }
  const ask = askLeader({ home, team: team.name }, member.name, asker)
  const permitElsewhere = team.hasScreen ? ask : undefined
  const leader = { mode: team.mode }
  const rights = { permitElsewhere, leaderMode: () => leader.mode }
  const prepared = await prepareRun({ ...wishes, session, ...rights }, home, world)
  for (const notice of prepared.notices) say(notice)
  const { setup, reading } = prepared
  const how = 'Palimpsest compacts it by itself; the leader can give the task to somebody else.'
  const conversation = openConversation({
    ...setup,
    endsWithTurn: false,
    howToCompact: howToCompact(how, reading),
  })
  const own = keepOwnRecord(
    {
      name: member.name,
      process: await ownIdentity(),
      sessionId: setup.session.id,
      state: 'working',
      doing: 'starting',
      spent: before?.spent ?? NOTHING_SPENT,
      finished: before?.finished ?? [],
      heard: before?.heard ?? [],
      written: before?.written ?? [],
    },
    home,
    team.name,
  )
  await own.set({})
  waits.tell = (question) => {
    const doing = question === undefined ? 'working' : `waits for permission: ${question}`
    own.set({ doing }).catch((error: unknown) => say(sentenceOf(error)))
  }
  const { team: work } = prepared
  if (!work) throw new UsageError(`there is no list of tasks for ${member.name}`)
  // A teammate may do what the leader may; changes of the leader's mode apply at once, even in the middle of a turn.
  const follow = async (): Promise<void> => {
    leader.mode = (await readTeam(home, team.name))?.mode ?? leader.mode
  }
  const folder = teamFolder(home, team.name)
  const watch = watchFolders([folder, join(folder, 'mail', member.name)], () => void follow())
  const close = async (): Promise<void> => {
    watch.close()
    await prepared.agents.end()
    await conversation.close()
    await prepared.close(conversation.isKept())
  }
  const git = readingEnvironment(world.env, [member.cwd])
  return { ...place, conversation, prepared, work, own, watch, git, say, close }
}
