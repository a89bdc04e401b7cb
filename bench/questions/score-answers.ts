import { createAsk } from './ask-offline.ts'
import { keyLines, LINES_OFF_MAX, readQuestions, type CodeBase, type Question } from './read-questions.ts'

export interface Scored {
  readonly question: Question
  readonly isRight: boolean
  /** By its place in the list, counted from 0: the model was made with the even half in sight. */
  readonly half: 'even' | 'odd'
  readonly cited: Citation | undefined
  readonly answer: string
  readonly rounds: number
  readonly resultChars: number
}

export interface Citation {
  readonly file: string
  readonly line: number
}

/** Every question about a code base, asked and judged by the first line that the answer cites. */
export async function scoreAnswers(codeBase: CodeBase): Promise<readonly Scored[]> {
  await using asking = await createAsk(codeBase)
  const scored: Scored[] = []
  for (const [index, question] of readQuestions(codeBase.name).entries()) {
    const asked = await asking.ask(question.question)
    const cited = firstCitation(asked.answer)
    scored.push({
      question,
      isRight: isRight(codeBase, question, asked.answer),
      half: index % 2 === 0 ? 'even' : 'odd',
      cited,
      ...asked,
    })
  }
  return scored
}

/** Whether the first line that an answer cites is near one that answers the question. */
export function isRight(codeBase: CodeBase, question: Question, answer: string): boolean {
  const cited = firstCitation(answer)
  return cited !== undefined && isNear(codeBase, question, cited)
}

function firstCitation(answer: string): Citation | undefined {
  const [, file, line] = /([\w@./-]+\.\w+):(\d+)/.exec(answer) ?? []
  return file === undefined ? undefined : { file, line: Number(line) }
}

function isNear(codeBase: CodeBase, { keys }: Question, { file, line }: Citation): boolean {
  return keys.some(
    (key) =>
      key.file === file && keyLines(codeBase, key).some((place) => Math.abs(place - line) <= LINES_OFF_MAX),
  )
}
