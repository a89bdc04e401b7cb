import type { Facts } from '../../facts/facts.ts'
import { splitSections } from './cut-sections.ts'

// What the notes can say without a model, kept up to date at no cost: a model sees this when it first writes them.

const FILES_MAX = 60
const COMMANDS_MAX = 30
const ANSWERS_MAX = 3
const LINE_CHARS_MAX = 300

/** The template with what is computed under its headings. Other sections of a custom template stay as they are. */
export function computedNotes(facts: Facts, template: string): string {
  return splitSections(template)
    .map(({ heading, lines }) => {
      const about = lines.join('\n').trim()
      const computed = linesFor(heading.replace(/^#\s*/, '').toLowerCase(), facts)
      return [heading, about, ...computed].filter((part) => part !== '').join('\n')
    })
    .join('\n\n')
}

function linesFor(heading: string, facts: Facts): readonly string[] {
  switch (heading) {
    case 'current state':
      return [
        ...facts.todos
          .filter(({ state }) => state !== 'done')
          .map(({ text, state }) => `- ${state}: ${oneLine(text)}`),
        ...facts.background.map(({ id, text }) => `- running: ${oneLine(text)} (${id})`),
      ]
    case 'task specification':
      return facts.words.map(({ text }) => `- the user: ${oneLine(text)}`)
    case 'files and functions':
      return facts.files
        .toSorted((a, b) => Number(isChanged(b)) - Number(isChanged(a)) || b.touched - a.touched)
        .slice(0, FILES_MAX)
        .map(({ path, operation }) => `- ${path} (${operation})`)
    case 'workflow':
      return facts.commands
        .slice(-COMMANDS_MAX)
        .map(({ command, exit, failed }) => `- \`${oneLine(command)}\`${exitText(exit, failed)}`)
    case 'errors and corrections':
      return [
        ...facts.errors.map(({ tool, target, text }) => `- ${tool} ${oneLine(target)}: ${oneLine(text)}`),
        ...facts.standing.map(({ text }) => `- the user: ${oneLine(text)}`),
      ]
    case 'key results':
      return facts.answers.slice(-ANSWERS_MAX).map(({ text }) => `- ${oneLine(text)}`)
    default:
      return []
  }
}

/** Changed files come first, so that later reads do not push them out. */
function isChanged({ operation }: Facts['files'][number]): boolean {
  return operation !== 'read'
}

function exitText(exit: number | undefined, failed: boolean): string {
  if (exit !== undefined) return ` → exit ${exit}`
  return failed ? ' → failed' : ''
}

function oneLine(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return line.length > LINE_CHARS_MAX ? `${line.slice(0, LINE_CHARS_MAX)}…` : line
}
