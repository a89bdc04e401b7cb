import { splitSections } from './cut-sections.ts'

// The notes of a conversation: ten sections, each a heading and an italic line that says what belongs there.

export interface NotesSection {
  readonly heading: string
  readonly about: string
}

export const SECTIONS: readonly NotesSection[] = [
  { heading: 'Session title', about: 'Five to ten words that tell this session from others.' },
  { heading: 'Current state', about: 'What is being done now, what is pending, what comes next.' },
  { heading: 'Task specification', about: 'What the user asked for, and the decisions made about it.' },
  { heading: 'Files and functions', about: 'Which ones matter, and why.' },
  { heading: 'Workflow', about: 'Commands, in which order, and how to read their output.' },
  { heading: 'Errors and corrections', about: 'What failed, how it was mended, what the user corrected.' },
  { heading: 'Codebase documentation', about: 'How the parts of the system work and fit together.' },
  { heading: 'Learnings', about: 'What worked, what did not, what to avoid.' },
  { heading: 'Key results', about: 'Exact output the user asked for: answers, tables, documents.' },
  { heading: 'Worklog', about: 'Step by step what was tried and done, a line each.' },
]

export const TEMPLATE: string = SECTIONS.map(({ heading, about }) => `# ${heading}\n_${about}_\n`).join('\n')

/** Whether nobody has written into a template yet: every line of the notes comes from the template. */
export function isBare(notes: string, template: string): boolean {
  const known = new Set(template.split('\n').map((line) => line.trim()))
  return notes.split('\n').every((line) => known.has(line.trim()) || line.trim() === '')
}

/** What someone wrote: without the lines that say what belongs where, and without headings with nothing under them. */
export function withoutTemplate(notes: string, template: string): string {
  const known = new Set(
    splitSections(template).flatMap(({ lines }) =>
      lines.map((line) => line.trim()).filter((line) => line !== ''),
    ),
  )
  return splitSections(notes)
    .flatMap(({ heading, lines }) => {
      const text = lines
        .filter((line) => !known.has(line.trim()))
        .join('\n')
        .trim()
      if (text === '') return []
      return [heading === '' ? text : `${heading}\n${text}`]
    })
    .join('\n\n')
}
