import { visibleText } from '../visible-text.ts'
import type { SessionFacts } from './found-facts.ts'
import { standingWords } from './standing-words.ts'
import { clip, commandLines, conceptsOf, errorLines, fileLines } from './write-summary.ts'

// Notes of a conversation in the sections that the request asks for. Headings and the lines that explain them stay as they are.

const TITLE_CHARS_MAX = 80
const LINE_CHARS_MAX = 300
const ANSWERS_MAX = 5
/** Notes are short: they keep the beginning of a long message, and the newest of many. */
const REQUESTS_MAX = 30
const WORKLOG_MAX = 30

interface Section {
  readonly title: string
  readonly about: string
}

/** Used if the request has no template. */
const SECTIONS: readonly Section[] = [
  { title: 'Session title', about: 'A short title that tells this session apart' },
  { title: 'Current state', about: 'What is being worked on, what is pending, what comes next' },
  { title: 'Task specification', about: 'What was asked, and what was decided' },
  { title: 'Files and functions', about: 'Which files matter, and why' },
  { title: 'Workflow', about: 'Commands, their order, how to read their output' },
  { title: 'Errors and corrections', about: 'What failed, how it was mended, what not to try again' },
  { title: 'Codebase documentation', about: 'How the parts fit together' },
  { title: 'Learnings', about: 'What worked, what did not, what to avoid' },
  { title: 'Key results', about: 'Exact output that the user asked for' },
  { title: 'Worklog', about: 'Step by step, very short' },
]

/** Which facts belong under a heading, judged by the heading's words. */
const CONTENTS: readonly (readonly [RegExp, (facts: SessionFacts) => readonly string[]])[] = [
  [
    /title/i,
    ({ requests }) => requests.slice(0, 1).map((text) => clip(text.split('\n')[0] ?? '', TITLE_CHARS_MAX)),
  ],
  [/current|state|status/i, currentState],
  [
    /task|spec|request/i,
    ({ requests }) => requests.slice(-REQUESTS_MAX).map((text) => clip(text, LINE_CHARS_MAX)),
  ],
  [/file|function/i, fileLines],
  [/workflow|command/i, commandLines],
  [/error|correction/i, errorLines],
  [/codebase|system|document/i, (facts) => conceptsOf(facts)],
  [/learn/i, ({ requests }) => standingWords(requests)],
  [/result/i, ({ answers }) => answers.slice(-1)],
  [/worklog|log/i, worklog],
]

export function writeNotes(asked: string, facts: SessionFacts): string {
  const found = findSections(asked)
  return (found.length > 0 ? found : SECTIONS)
    .map(({ title, about }) => {
      const contents = CONTENTS.find(([pattern]) => pattern.test(title))?.[1](facts) ?? []
      const lines = contents.map((text) => visibleText(/title/i.test(title) ? text : `- ${text}`))
      return [`# ${title}`, `_${about}_`, '', ...lines].join('\n').trimEnd()
    })
    .join('\n\n')
}

const TEMPLATE_SECTION = /^#{1,3} (.+)\n+[_*](.+)[_*]$/gm

function findSections(asked: string): readonly Section[] {
  return [...asked.matchAll(TEMPLATE_SECTION)].map(([, title = '', about = '']) => ({ title, about }))
}

function currentState({ todos, answers }: SessionFacts): readonly string[] {
  const open = todos.filter(({ status }) => status !== 'completed')
  return [
    ...open.map(({ text, status }) => `[${status}] ${text}`),
    ...answers.slice(-1).map((text) => clip(text, LINE_CHARS_MAX)),
  ]
}

function worklog({ requests, answers }: SessionFacts): readonly string[] {
  const asked = requests.map((text) => `Asked: ${clip(text.split('\n')[0] ?? '', LINE_CHARS_MAX)}`)
  const answered = answers
    .slice(-ANSWERS_MAX)
    .map((text) => `Answered: ${clip(text.split('\n')[0] ?? '', LINE_CHARS_MAX)}`)
  return [...asked, ...answered].slice(-WORKLOG_MAX)
}
