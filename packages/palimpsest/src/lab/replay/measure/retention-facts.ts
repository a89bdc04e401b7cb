import { isBlock } from '../../../wire/message.ts'
import { lineText, type Corpus, type CorpusBlock } from './corpus.ts'
import { findOutcomes, type FailedCommand, type RepeatedCall } from './outcomes.ts'
import { findProjectRoot, namedPath } from './project-root.ts'
import { findTodos, type TodoState } from './todos.ts'
import { fileChanges, keyArgument, type OperationKind } from './tool-call.ts'
import { leaves } from './block-text.ts'

// What a conversation must not forget, whatever comes later. Every fact names the line from which it holds.

export interface UserLine {
  readonly line: number
  readonly words: number
}

export interface Prohibition {
  readonly line: number
  readonly text: string
}

export interface ChangeFact {
  readonly path: string
  readonly kind: OperationKind
  /** The line of the call that names the file. */
  readonly line: number
}

/** What it takes to repeat a call: its argument, and the line that names it. */
export interface CallFact {
  readonly line: number
  readonly argument: string
}

export interface RetentionFacts {
  readonly userLines: readonly UserLine[]
  readonly prohibitions: readonly Prohibition[]
  readonly changes: readonly ChangeFact[]
  readonly todos: readonly TodoState[]
  readonly failures: readonly FailedCommand[]
  readonly repeated: readonly RepeatedCall[]
  /** By tool use id. */
  readonly calls: ReadonlyMap<string, CallFact>
}

const PROHIBITION =
  /\b(?:never|don['’]?t|do not|must not|mustn['’]?t|should not|shouldn['’]?t|avoid|no longer|not allowed|forbidden|without|instead of|rather than|only)\b/i
const PROHIBITION_CHARS_MIN = 10
const PROHIBITION_CHARS_MAX = 400

export function findRetentionFacts(corpus: Corpus): RetentionFacts {
  const userLines = findUserLines(corpus)
  const root = findProjectRoot(
    corpus.blocks.flatMap(({ block }) => (isBlock(block, 'tool_use') ? leaves(block.input) : [])),
  )
  const { failures, repeated, failedCalls } = findOutcomes(corpus)
  return {
    userLines,
    prohibitions: userLines.flatMap(({ line }) => prohibitionsOf(corpus, line)),
    changes: findChanges(corpus, root, failedCalls),
    todos: findTodos(corpus),
    failures,
    repeated,
    calls: findCalls(corpus),
  }
}

/** Reminders that an agent adds to the user's message are not the user's words. */
function findUserLines(corpus: Corpus): UserLine[] {
  const found: UserLine[] = []
  for (const block of corpus.blocks) {
    if (block.kind !== 'user') continue
    let inReminder = false
    for (let line = block.firstLine; line < block.endLine; line++) {
      const text = lineText(corpus, line)
      if (text.includes('<system-reminder>')) inReminder = true
      const words = inReminder ? 0 : (text.match(/\S+/g)?.length ?? 0)
      if (text.includes('</system-reminder>')) inReminder = false
      if (words > 0) found.push({ line, words })
    }
  }
  return found
}

function prohibitionsOf(corpus: Corpus, line: number): Prohibition[] {
  return lineText(corpus, line)
    .split(/(?<=[.!?])\s+/)
    .map((sentence) => sentence.trim())
    .filter((text) => text.length >= PROHIBITION_CHARS_MIN && text.length <= PROHIBITION_CHARS_MAX)
    .filter((text) => PROHIBITION.test(text))
    .map((text) => ({ line, text }))
}

/** A call that failed or was refused changed nothing. */
function findChanges(corpus: Corpus, root: string, failed: ReadonlySet<string>): ChangeFact[] {
  return corpus.blocks.flatMap((found) => {
    const { block } = found
    if (!isBlock(block, 'tool_use') || failed.has(block.id)) return []
    return fileChanges(block).map(({ kind, path }) => ({
      kind,
      path: namedPath(path, root),
      line: lineNaming(corpus, found, path),
    }))
  })
}

function findCalls(corpus: Corpus): Map<string, CallFact> {
  return new Map(
    corpus.blocks.flatMap((found) => {
      if (!isBlock(found.block, 'tool_use')) return []
      const argument = keyArgument(found.block)
      return [[found.block.id, { line: lineNaming(corpus, found, argument), argument }] as const]
    }),
  )
}

function lineNaming(corpus: Corpus, { firstLine, endLine }: CorpusBlock, words: string): number {
  for (let line = firstLine; line < endLine; line++)
    if (words !== '' && lineText(corpus, line).includes(words)) return line
  return firstLine
}
