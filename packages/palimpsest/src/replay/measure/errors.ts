import { isBlock, type ToolUseBlock } from '../../wire/message.ts'
import { lineText, type Corpus, type CorpusBlock } from './corpus.ts'
import { callKey } from './tool-call.ts'

/** A call that failed, until the same call succeeds. */
export interface ErrorFact {
  readonly toolUseId: string
  /** The line that says what went wrong. */
  readonly line: number
  /** The line at which the same call had succeeded; Infinity where it never did. */
  readonly until: number
}

const EXIT_FAILED = /^(?:Exit code:? |Process exited with code )[1-9]\d*/m
const TELLING = /error|fail|exception|denied|not found|no such|cannot|can't|panic|fatal|unexpected|undefined/i

/** Exit codes stand at the top of a result; further down they may be quoted. */
const EXIT_HEAD_CHARS = 400

export function findErrors(corpus: Corpus): ErrorFact[] {
  const calls = new Map<string, ToolUseBlock>()
  const found: { toolUseId: string; line: number; key: string; until: number }[] = []
  for (const block of corpus.blocks) {
    if (isBlock(block.block, 'tool_use')) calls.set(block.block.id, block.block)
    if (!isBlock(block.block, 'tool_result')) continue
    const { tool_use_id: toolUseId } = block.block
    const call = calls.get(toolUseId)
    const key = call ? callKey(call) : toolUseId
    if (isFailure(corpus, block)) {
      found.push({ toolUseId, line: tellingLine(corpus, block), key, until: Infinity })
      continue
    }
    for (const error of found)
      if (error.key === key && error.until === Infinity) error.until = block.firstLine
  }
  return found.map(({ toolUseId, line, until }) => ({ toolUseId, line, until }))
}

function isFailure(corpus: Corpus, { block, firstLine, endLine }: CorpusBlock): boolean {
  if (isBlock(block, 'tool_result') && block.is_error === true) return true
  const start = corpus.lineStarts[firstLine] ?? 0
  const end = Math.min(corpus.lineStarts[endLine] ?? start, start + EXIT_HEAD_CHARS)
  return EXIT_FAILED.test(corpus.text.slice(start, end))
}

function tellingLine(corpus: Corpus, { firstLine, endLine }: CorpusBlock): number {
  let first: number | undefined
  for (let line = firstLine; line < endLine; line++) {
    const text = lineText(corpus, line)
    if (TELLING.test(text)) return line
    if (first === undefined && text.trim() !== '') first = line
  }
  return first ?? firstLine
}
