import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { SECTIONS } from '../../packages/palimpsest/src/layers/3-session-memory/template.ts'
import type { ScriptStep } from '../../packages/palimpsest/src/lab/simulator/index.ts'
import type { JsonObject } from '../../packages/palimpsest/src/wire/json.ts'

// A piece of real work, for the examples of what a model reads after a compaction: a small project on disk, a user who asks and forbids,
// reads, searches, edits, a check that fails, is fixed, and fails again elsewhere. Only the model's answers are written here; what its
// tools return is what they return.

const text = (words: string) => ({ type: 'text', text: words })
const call = (name: string, input: JsonObject) => ({ type: 'tool_use', name, input })
const step = (...content: ScriptStep['content']): ScriptStep => ({ content, when: { source: 'main' } })

const QUEUE = `import { openStore } from './store.ts'

export interface Job {
  readonly id: number
  readonly name: string
}

const store = openStore<Job>('jobs')

/** The next job that nobody works on. */
export function takeJob(worker: string): Job | undefined {
  const job = store.list().find(({ id }) => !store.isTaken(id))
  if (!job) return undefined
  store.mark(job.id, worker)
  return job
}

export function addJob(job: Job): void {
  store.put(job.id, job)
}

export function finishJob(id: number): void {
  store.remove(id)
}
`

const RETRY = `import { addJob, type Job } from './queue.ts'

const WAIT_MS = 500
const waiting = new Map<number, { readonly job: Job; readonly at: number; readonly tries: number }>()

/** Puts a job that failed back into the queue, later each time. */
export function retryLater(job: Job, now: number): void {
  const tries = (waiting.get(job.id)?.tries ?? 0) + 1
  waiting.set(job.id, { job, at: now + WAIT_MS * 2 ** tries, tries })
}

export function dueJobs(now: number): readonly Job[] {
  const due = [...waiting.values()].filter(({ at }) => at <= now)
  for (const { job } of due) waiting.delete(job.id)
  return due.map(({ job }) => job)
}
`

/** Says what is wrong with the sources as they are. */
const CHECK = `#!/bin/sh
status=0
echo "checking 14 files"
if grep -q 'store.mark(job.id, worker)' src/queue.ts; then
  echo "not ok 3 - two workers never get the same job"
  echo "  expected: one worker has job 7"
  echo "  actual: worker-a and worker-b both have job 7"
  echo "  at takeJob (src/queue.ts:14)"
  status=1
else
  echo "ok 3 - two workers never get the same job"
fi
if grep -q 'tries >= TRIES_MAX' src/retry.ts; then
  echo "not ok 9 - a job is given up after five tries"
  echo "  expected: 5 tries"
  echo "  actual: 6 tries"
  echo "  at retryLater (src/retry.ts:10)"
  status=1
else
  echo "ok 9 - a job is given up after five tries"
fi
exit $status
`

function handler(index: number, lines: number): string {
  const body = Array.from(
    { length: lines },
    (_, i) => `  rows.push(format('handler-${index}', ${i * 7 + index}, '${word(i * 31 + index * 17)}'))`,
  )
  return `import { format } from '../format.ts'\n\n/** Answers requests of kind ${index}. */\nexport function handle${index}(): string[] {\n  const rows: string[] = []\n${body.join('\n')}\n  return rows\n}\n`
}

const WORDS = ['anchor', 'ballast', 'capstan', 'davit', 'ensign', 'fender', 'galley', 'hawser', 'jib', 'keel']

function word(seed: number): string {
  return `${WORDS[seed % WORDS.length] ?? ''}-${(seed * 2_654_435_761) % 9_973}`
}

export interface WorkSize {
  /** Files that are read only to be looked at, and how long each is. */
  readonly handlers: number
  readonly lines: number
}

export async function writeProject(folder: string, { handlers, lines }: WorkSize): Promise<void> {
  const files: { readonly [path: string]: string } = {
    'src/queue.ts': QUEUE,
    'src/retry.ts': RETRY,
    'src/store.ts': `// The store of jobs, in memory.\nexport function openStore<T>(name: string) {\n  const items = new Map<number, T>()\n  const taken = new Map<number, string>()\n  return {\n    name,\n    put: (id: number, item: T) => void items.set(id, item),\n    list: () => [...items.values()],\n    isTaken: (id: number) => taken.has(id),\n    mark: (id: number, worker: string) => void taken.set(id, worker),\n    claim: (id: number, worker: string) => !taken.has(id) && taken.set(id, worker) !== undefined,\n    remove: (id: number) => items.delete(id),\n  }\n}\n`,
    'AGENTS.md': 'Two spaces, no semicolons. `./check.sh` runs all checks.\n',
    'check.sh': CHECK,
    ...Object.fromEntries(
      Array.from({ length: handlers }, (_, i) => [`src/handlers/kind-${i}.ts`, handler(i, lines)]),
    ),
  }
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), content)
  }
  await chmod(join(folder, 'check.sh'), 0o755)
}

export const PROMPTS = [
  'Two workers sometimes get the same job. Find out why and fix it. Never touch src/handlers: another team owns it. Run ./check.sh after each change.',
  'Good. Now a job that fails again and again must be given up after five tries, in src/retry.ts. Use no new dependency.',
  'Before you continue: which handlers build their rows by hand? Look at them one by one.',
] as const

function todos(...states: readonly string[]): JsonObject {
  const items = [
    'Claim a job in one step',
    'Give up after five tries',
    'List handlers that build rows by hand',
  ]
  return {
    todos: items.map((content, i) => ({ content, status: states[i] ?? 'pending', activeForm: content })),
  }
}

/** The answers of each turn, in order. */
export function workSteps({ handlers }: WorkSize): readonly (readonly ScriptStep[])[] {
  const looks = Array.from({ length: handlers }, (_, i) =>
    step(
      ...(i % 4 === 0 ? [text(`Next: kind ${i}.`)] : []),
      call('Read', { file_path: `src/handlers/kind-${i}.ts` }),
    ),
  )
  const [early, late] = [looks.slice(0, Math.floor(handlers / 3)), looks.slice(Math.floor(handlers / 3))]
  return [
    [
      step(text('I will find where a job is taken.'), call('TodoWrite', todos('in_progress'))),
      step(call('Read', { file_path: 'src/queue.ts' }), call('Read', { file_path: 'src/store.ts' })),
      step(call('Bash', { command: './check.sh' })),
      step(
        text(
          'takeJob looks first and marks later, so two workers can see the same job. The store has claim.',
        ),
        call('Edit', {
          file_path: 'src/queue.ts',
          old_string:
            '  const job = store.list().find(({ id }) => !store.isTaken(id))\n  if (!job) return undefined\n  store.mark(job.id, worker)\n  return job',
          new_string: '  return store.list().find(({ id }) => store.claim(id, worker))',
        }),
      ),
      step(call('Bash', { command: './check.sh' })),
      step(text('Fixed: takeJob claims a job in one step (src/queue.ts:11). ./check.sh is green.')),
    ],
    [
      step(call('TodoWrite', todos('completed', 'in_progress')), call('Read', { file_path: 'src/retry.ts' })),
      step(call('Grep', { pattern: 'retryLater|dueJobs', path: 'src' })),
      ...early,
      step(
        call('Edit', {
          file_path: 'src/retry.ts',
          old_string: '  waiting.set(job.id, { job,',
          new_string:
            '  if (tries >= TRIES_MAX) return void waiting.delete(job.id)\n  waiting.set(job.id, { job,',
        }),
        call('Edit', {
          file_path: 'src/retry.ts',
          old_string: 'const WAIT_MS = 500',
          new_string: 'const WAIT_MS = 500\nconst TRIES_MAX = 5',
        }),
      ),
      step(call('Bash', { command: './check.sh' })),
      step(
        text(
          'The limit is in, and ./check.sh fails: a job is tried six times. I have to look at how tries are counted.',
        ),
      ),
    ],
    [...late, step(text('None of the handlers seen so far shares the loop: each builds its rows by hand.'))],
  ]
}

/** As a model writes it, with one path that nobody ever named. */
export const SUMMARY = `<analysis>They fix the queue.</analysis>
<summary>
1. Primary request and intent:
   The user wants two workers never to get the same job, and a job that fails again and again to be given up after five tries. "Never touch src/handlers: another team owns it." "Run ./check.sh after each change." "Use no new dependency."
2. Key concepts:
   Jobs are taken from a store in memory; a job must be claimed in one step.
3. Files and code:
   - src/queue.ts edited: takeJob is \`return store.list().find(({ id }) => store.claim(id, worker))\`
   - src/retry.ts edited: TRIES_MAX = 5 and a return in retryLater; see also src/retry/backoff.ts
4. Errors and fixes:
   "not ok 3 - two workers never get the same job" is fixed. Still failing: “not ok 9 - a job is given up after five tries”
5. Problem solving:
   takeJob looked first and marked later.
6. All user messages:
   - ${PROMPTS[0]}
   - ${PROMPTS[1]}
7. Pending tasks:
   Give up after five tries; List handlers that build rows by hand
8. Current work:
   The handlers are read one by one.
9. Next step:
   Count tries so that the fifth is the last.
</summary>`

/** Under the headings of the template; of most there is nothing to say yet. */
const NOTED: { readonly [heading: string]: string } = {
  'Session title': 'Claiming jobs and giving up',
  'Current state':
    'src/retry.ts gives up one try too late; ./check.sh says "not ok 9". Next: count tries so that the fifth is the last.',
  'Task specification':
    "- No two workers get the same job; done in src/queue.ts.\n- Give up after five tries, in src/retry.ts. No new dependency. src/handlers is another team's.",
  'Files and functions': '- src/queue.ts takeJob: claims in one step\n- src/retry.ts retryLater',
  Worklog: '- claimed jobs in one step; check green\n- limit of tries; check red',
}

export const NOTES: string = SECTIONS.map(({ heading, about }) =>
  [`# ${heading}`, `_${about}_`, NOTED[heading] ?? ''].join('\n'),
).join('\n\n')
