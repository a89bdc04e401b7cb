import { hasEnded, type Task, type TaskBoard } from 'palimpsest/agents'
import type { Said } from 'palimpsest/conversation'

import type { Merged } from './branch-work.ts'
import type { SeenTeam } from './leading/look-around.ts'
import { LEADER } from './seat.ts'
import { type TeamMember, type TeamRecord } from './team-record.ts'

// What a team's models learn about the team. It joins at the end of a conversation, like everything else.

/** Before the leader's first request. In the list of sessions, the goal names the conversation. */
export function leaderMessage(team: Pick<TeamRecord, 'members' | 'goal'>): Said {
  return { content: leaderText(team), origin: 'peer', words: team.goal }
}

function leaderText({ members }: Pick<TeamRecord, 'members'>): string {
  const names = members.map(({ name }) => name).join(', ')
  const hasWorktrees = members.some(({ worktree }) => worktree)
  return `<team>
You lead a team. You are called "${LEADER}". Your teammates are ${names}. Each is an agent in a process of its own, ${
    hasWorktrees
      ? 'in a git worktree and on a branch of its own that began with the last commit here'
      : 'in this same folder, so give no two of them the same file'
  }.
- Plan with TaskCreate: one task for each piece of work that can be done by itself. Say in the description which files it is about, what must hold when it is done, and how to check it. Teammates see nothing of this conversation. A task that needs another one first is blocked by it.
- Teammates who are free take the next free task by themselves. To give a task to somebody, name its owner.
- When you have planned, end your turn. You are told when something needs you: a message, work that could not be merged, the end of all tasks. Do not wait by looking at the list again and again.
- ${
    hasWorktrees
      ? 'When a task is completed, its work is committed and merged here by itself. If that fails you are told which files stand against it, and the branch is kept.'
      : 'Whatever a teammate changes is here at once; nothing is committed for it.'
  }
- SendMessage reaches a teammate by name. Questions about permission go to the user, never to you.
- When all tasks are completed, check the whole, then report.
</team>`
}

/** Before a teammate's first request. */
export function memberText(
  { goal, members }: Pick<TeamRecord, 'goal' | 'members'>,
  { name, cwd, worktree }: TeamMember,
): string {
  const others = members.map((one) => one.name).filter((one) => one !== name)
  const place = worktree
    ? `You work in ${cwd}, a git worktree of your own on the branch ${worktree.branch}. Relative paths begin there; change nothing elsewhere. When you complete a task, what you changed is committed for you and merged by the leader.`
    : `You work in ${cwd}, where the others work too: change only files that your task names.`
  return `<team>
You are ${name}, a teammate in a team that works for the user. "${LEADER}" leads it${others.length > 0 ? `; your fellow teammates are ${others.join(', ')}` : ''}. ${place}
- You get tasks from the team's list, one after the other. Do the task, check it as far as you may, then set it to completed with TaskUpdate and say in a note what you did. If it cannot be done, set it back to pending with a note that says why, and tell the leader with SendMessage.
- When you end your turn with the task completed, you get the next one.
- The goal of the whole team, in the user's words: ${inFrame(goal)}
</team>`
}

export function taskText({ id, subject, description, createdBy, former }: Task): string {
  const before = former.flatMap(({ owner, branch }) =>
    branch === undefined ? [] : [`${owner} worked on it before, on the branch ${branch}.`],
  )
  return `<team-task number="${id}" by="${createdBy}">
${inFrame(subject)}

${inFrame(description)}
</team-task>
Task ${id} is yours now. ${[...before, ''].join(' ')}Do it, then set it to completed with TaskUpdate.`
}

export function taskAgainText({ id, subject }: Task): string {
  return `Task ${id} (${inFrame(subject)}) is still yours and not completed. Continue with it and set it to completed, or, if it cannot be done, set it to pending with a note that says why.`
}

/** What became of finished work, for the leader's model and the screen. */
export function mergeText(
  merged: Merged,
  { task, subject, by, branch }: { task: number; subject: string; by: string; branch: string },
): string {
  const work = `task ${task} (${inFrame(subject)}) by ${by}`
  switch (merged.kind) {
    case 'merged':
      return `Merged: ${work}.`
    case 'nothing':
      return `Nothing to merge: ${work}.`
    case 'conflict':
      return `Not merged: ${work}. The branch ${branch} and this folder both changed ${merged.files.join(', ')}. Nothing was changed here; the branch is kept. Look at it with "git diff HEAD...${branch}" and merge it by hand, or have ${by} do the task again on top of what is here.`
    case 'in-the-way':
      return `Not merged yet: ${work}. What is not committed here stands in the way: ${merged.files.join(', ')}. It was not touched. Once it is committed, moved or concluded, the branch ${branch} is merged by itself.`
    case 'failed':
      return `Not merged: ${work}. ${merged.why}. The branch ${branch} is kept.`
    default:
      return merged satisfies never
  }
}

/** Keeps text from others from closing one of our frames. */
function inFrame(text: string): string {
  return text.replaceAll(/<(?=\s{0,9}\/?\s{0,9}(?:team|system-reminder))/gi, '‹')
}

export function newsText(news: readonly string[]): string {
  return `<team-news>\n${news.map(inFrame).join('\n')}\n</team-news>`
}

export function doneText({ tasks }: TaskBoard, news: readonly string[]): string {
  const done = [...tasks.values()].map(
    ({ id, subject, owner, notes }) =>
      `${id}. ${inFrame(subject)} (${owner ?? 'nobody'})${notes.length > 0 ? `: ${inFrame(notes.at(-1)?.text ?? '')}` : ''}`,
  )
  return `${newsText([...news, 'All tasks have ended, and all teammates are idle.', ...done])}
Check the whole as far as you may, then report to the user what was done. If something is missing, create tasks for it. Teammates leave when you end this turn without open tasks.`
}

export function stillText({ board, members }: SeenTeam, news: readonly string[]): string {
  const open = [...board.tasks.values()]
    .filter((task) => !hasEnded(task))
    .map(({ id, subject, state, owner }) => `${id}. ${inFrame(subject)}: ${state}, ${owner ?? 'nobody'}`)
  const who = members.map(
    ({ member, record, life }) => `${member.name}: ${life === 'running' ? (record?.doing ?? life) : life}`,
  )
  return `${newsText([...news, 'Nobody works, and these tasks are not done:', ...open, 'Teammates:', ...who])}
Decide what becomes of them: change what blocks them, give them to somebody, do them yourself or cancel them. If you end this turn without a change, the team ends.`
}

/** For a leader that was resumed. */
export function resumedText({ board, members }: SeenTeam): string {
  const tasks = [...board.tasks.values()].map(
    ({ id, subject, state, owner }) => `${id}. ${inFrame(subject)}: ${state}, ${owner ?? 'nobody'}`,
  )
  const who = members.map(
    ({ member, life, record }) => `${member.name}: ${life === 'running' ? (record?.doing ?? life) : life}`,
  )
  return `${newsText(['Your process had ended, and you were resumed with your team. So it stands:', ...tasks, 'Teammates:', ...who])}
If there is nothing for you to do now, end your turn: you are told when something needs you.`
}
