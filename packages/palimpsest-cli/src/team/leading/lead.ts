import { drive, type Conversation } from 'palimpsest/conversation'
import type { LoopEvent, TurnEnd } from 'palimpsest/loop'

import type { PreparedRun } from '../../run/prepare-run.ts'
import type { FolderWatch } from '../folder-watch.ts'
import type { Steward, TeamLook } from './steward.ts'
import { doneText, newsText, stillText } from '../team-texts.ts'

// The leader without a screen: it plans, then wakes for whatever needs it, until the list is done.

export interface HeadlessLead {
  readonly conversation: Conversation
  readonly prepared: Pick<PreparedRun, 'seated' | 'agents'>
  readonly steward: Steward
  readonly watch: FolderWatch
  readonly told: (event: LoopEvent) => void
  /** How the last turn ended. */
  readonly end: () => TurnEnd
  /** Prints progress for people who read along. */
  readonly say: (text: string) => void
}

/** The first message: the goal, or the state of the team for a leader that was resumed. */
export interface FirstWords {
  readonly content: string
  readonly origin: 'user' | 'peer'
}

export async function leadTeam(leading: HeadlessLead, first: FirstWords, signal: AbortSignal): Promise<void> {
  const { conversation, steward, watch, say, told, prepared } = leading
  let news: readonly string[] = []
  let answered = ''
  const turn = async (content: string): Promise<void> => {
    news = []
    await drive(conversation.send({ content, origin: 'peer' }, signal), told)
  }
  await drive(conversation.send(first, signal), told)
  while (!signal.aborted && leading.end().reason === 'answered') {
    const ofAgents = prepared.agents.takeMail()
    if (ofAgents !== undefined) {
      await turn(ofAgents)
      continue
    }
    const look = await steward.look()
    for (const { text } of look.news) say(text)
    news = [...news, ...look.news.map(({ text }) => text)]
    const waking = await whatWakes(leading, look, answered)
    if (waking === 'mail') {
      if (!(await drive(conversation.listen(signal), told))) await watch.next(signal)
    } else if (waking === 'news') await turn(newsText(news))
    else if (waking === 'over') return
    else if (waking === 'nothing') await watch.next(signal)
    else {
      answered = stateText(look)
      await turn(waking === 'done' ? doneText(look.board, news) : stillText(look, news))
    }
  }
}

type Waking = 'mail' | 'news' | 'done' | 'still' | 'over' | 'nothing'

/** `answered`: the state of the team when the leader was last asked what to do. */
async function whatWakes({ prepared }: HeadlessLead, look: TeamLook, answered: string): Promise<Waking> {
  if (await prepared.seated?.hasMail()) return 'mail'
  if (look.news.some(({ isUrgent }) => isUrgent)) return 'news'
  if (look.pace === 'moving') return 'nothing'
  // There are no tasks, or the leader has nothing to add to this state.
  if (look.board.tasks.size === 0 || stateText(look) === answered) return 'over'
  return look.pace
}

/** If two texts are the same, nothing has happened in between. */
export function stateText({ pace, board }: TeamLook): string {
  return [pace, ...[...board.tasks.values()].map(({ id, epoch, state }) => `${id}.${epoch} ${state}`)].join(
    ',',
  )
}
