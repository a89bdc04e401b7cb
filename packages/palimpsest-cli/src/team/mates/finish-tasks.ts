import type { ChildEnvironment } from '../../agent/process/child-environment.ts'
import { gitIn } from '../../agents/worktree.ts'
import { commitWork, findGitUser, mergeWork, type Merged } from '../branch-work.ts'
import { workKey, type FinishedWork, type TeamRecord } from '../team-record.ts'
import type { Teammate } from './teammate-setup.ts'

/** Handles tasks completed since the last call: the changes made for them become a commit on its branch, for the leader to merge. */
export async function finishTasks({ work: { list }, member, own, git, say }: Teammate): Promise<void> {
  const known = new Set(own.get().finished.map(workKey))
  const done = [...(await list.board()).tasks.values()]
    .filter(({ state, owner }) => state === 'completed' && owner === member.name)
    .map(({ id: task, epoch, subject }) => ({ task, epoch, subject }))
    .filter((work) => !known.has(workKey(work)))
  if (done.length === 0) return
  const committed = member.worktree && (await commitAll(member.worktree.path, done, git, say))
  const finished: readonly FinishedWork[] = done.map((work) => ({ ...work, ...committed }))
  await own.set({ finished: [...own.get().finished, ...finished] })
}

async function commitAll(
  path: string,
  done: readonly { readonly subject: string }[],
  env: ChildEnvironment,
  say: (text: string) => void,
): Promise<Pick<FinishedWork, 'commit' | 'problem'>> {
  const subject = done.map((work) => work.subject).join('; ')
  const committed = await commitWork(path, subject, await findGitUser(path, env), env)
  if (committed.ok) return { commit: committed.head }
  const problem = `what was changed could not be committed, and stays in ${path}: ${committed.why}`
  say(problem)
  return { problem }
}

/** Merges what is done so far before a task begins. Returns a sentence for the model if that fails. */
export async function bringUpToDate(
  { member, git, say }: Teammate,
  { cwd }: Pick<TeamRecord, 'cwd'>,
): Promise<readonly string[]> {
  if (!member.worktree) return []
  const { path, branch } = member.worktree
  const head = await gitIn(cwd, git)('rev-parse', '--verify', 'HEAD')
  if (!head.ok) return []
  const wish = {
    commit: head.text.trim(),
    branch,
    subject: `Merge what is done into ${branch}`,
    isShort: true,
  }
  const merged = await mergeWork(path, wish, await findGitUser(path, git), git)
  if (merged.kind === 'merged' || merged.kind === 'nothing') return []
  const why = whyBehind(merged)
  say(`not brought up to date: ${why}`)
  return [
    `Your worktree could not be brought up to date with what others finished (${why}); its last commit of theirs is older.`,
  ]
}

function whyBehind(merged: Exclude<Merged, { readonly kind: 'merged' | 'nothing' }>): string {
  if (merged.kind === 'failed') return merged.why
  const files = merged.files.join(', ')
  return merged.kind === 'conflict' ? `both sides changed ${files}` : `${files} stood in the way`
}
