import { CODE_BASES } from './read-questions.ts'
import { scoreAnswers, type Scored } from './score-answers.ts'

// `npm run bench:questions -- [name…] [--misses]`: how often the first line that the offline model cites is one that answers the
// question. It fails below the goal. Of the misses only the even half is shown: the odd half is for judging, not for learning.

/** Of the questions about each code base. */
const RIGHT_SHARE_GOAL = 0.7

const names = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))
const showsMisses = process.argv.includes('--misses')

for (const codeBase of CODE_BASES) {
  if (names.length > 0 && !names.includes(codeBase.name)) continue
  const startedAt = performance.now()
  const scored = await scoreAnswers(codeBase)
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  const share = (label: string, keep: (one: Scored) => boolean): string =>
    `${label} ${rate(scored.filter(keep))}`
  console.log(
    [
      codeBase.name.padEnd(10),
      share('all', () => true),
      share('even', ({ half }) => half === 'even'),
      share('odd', ({ half }) => half === 'odd'),
      share('list 1', ({ question }) => !isOfSecond(question)),
      share('list 2', ({ question }) => isOfSecond(question)),
      share('plain', ({ question }) => question.plain),
      share('with names', ({ question }) => !question.plain),
      `rounds ≤ ${Math.max(...scored.map(({ rounds }) => rounds))}`,
      `read ${Math.round(mean(scored.map(({ resultChars }) => resultChars)) / 1000)}k chars`,
      `${seconds} s`,
    ].join(' · '),
  )
  if (scored.filter(({ isRight }) => isRight).length < RIGHT_SHARE_GOAL * scored.length) process.exitCode = 1
  if (showsMisses) for (const one of scored) if (!one.isRight && one.half === 'even') showMiss(one)
}

function isOfSecond({ id }: Scored['question']): boolean {
  return /^[a-z]+-2-/.test(id)
}

function rate(scored: readonly Scored[]): string {
  const right = scored.filter(({ isRight }) => isRight).length
  return `${right}/${scored.length} (${Math.round((100 * right) / scored.length)}%)`
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

function showMiss({ question, cited }: Scored): void {
  const keys = question.keys.map(({ file, snippet }) => `${file} ${snippet.trim()}`).join('\n        ')
  console.log(`\n  ${question.plain ? 'plain ' : ''}${question.question}`)
  console.log(`  cited ${cited ? `${cited.file}:${cited.line}` : 'nothing'}\n  key   ${keys}`)
}
