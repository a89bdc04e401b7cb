import type { HandedPlan, PlanAnswer } from '../../agent/plan/create-planning.ts'
import { toPrintable } from '../../agent/printable.ts'
import { endMarkdown, feedMarkdown, MARKDOWN_START } from '../text/markdown-lines.ts'
import { line, type StyledLine } from '../text/styled-line.ts'
import type { Ui } from '../ui.ts'

/** Shows the whole plan above the question, where the user can scroll back to it: no one should approve what they cannot see. */
export async function askPlan(
  { text, path }: HandedPlan,
  ui: Pick<Ui, 'show' | 'pick' | 'ask' | 'columns'>,
  signal: AbortSignal,
): Promise<PlanAnswer> {
  ui.show(planLines(text, path, ui.columns()))
  const answer = await ui.pick(
    {
      title: 'Carry out this plan?',
      items: [
        { label: 'Yes, and accept edits', letter: 'a', value: 'accept-edits' },
        { label: 'Yes, and ask for each edit', letter: 'y', value: 'default' },
        { label: 'No, and tell it what to change', letter: 't', value: 'tell' },
        { label: 'No', letter: 'n', value: 'no' },
      ],
    },
    signal,
  )
  if (answer === 'accept-edits' || answer === 'default') return { kind: 'yes', mode: answer }
  if (answer !== 'tell') return { kind: 'no' }
  return { kind: 'no', words: await ui.ask('What should be different?', signal) }
}

function planLines(text: string, path: string, columns: number): readonly StyledLine[] {
  const { state, lines } = feedMarkdown(MARKDOWN_START, text, columns)
  return [
    [],
    line('─── The plan', 'heading'),
    [],
    ...lines,
    ...endMarkdown(state, columns),
    [],
    line(toPrintable(path), 'dim'),
    [],
  ]
}
