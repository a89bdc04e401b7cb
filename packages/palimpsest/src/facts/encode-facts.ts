import { isJsonObject, type Json, type JsonObject } from '../wire/json.ts'
import {
  FILE_OPERATIONS,
  type AnswerFact,
  type BackgroundFact,
  type CodeFact,
  type CommandFact,
  type ErrorFact,
  type Facts,
  type FileFact,
  type StandingWords,
  type TodoFact,
  type UserWords,
} from './facts.ts'

// Facts in the form in which a boundary stores them, so that a conversation loaded from there knows what came before. Bounded, because
// every boundary carries them: the oldest words are shortened first, and files that were only read go before files that were changed.

const FORMAT = 1
const WORDS_CHARS_MAX = 200_000
const OLD_WORDS_HEAD_CHARS = 160
const OLD_WORDS_TAIL_CHARS = 80
const READ_FILES_MAX = 300
const CHANGED_FILES_MAX = 5_000
const STANDING_MAX = 500

export function encodeFacts(facts: Facts): JsonObject {
  return {
    format: FORMAT,
    words: shortenOldest(facts.words).map(wordsToJson),
    standing: facts.standing.slice(-STANDING_MAX).map(({ entry, text }) => [entry, text]),
    files: boundFiles(facts.files).map(fileToJson),
    code: facts.code.map(({ path, text }) => [path, text]),
    commands: facts.commands.map(({ command, exit, failed }) => [command, exit ?? null, failed]),
    errors: facts.errors.map(errorToJson),
    mended: facts.mended.map(errorToJson),
    todos: facts.todos.map(({ text, state, id }) => [text, state, id ?? null]),
    background: facts.background.map(({ id, text }) => [id, text]),
    answers: facts.answers.map(({ entry, text }) => [entry, text]),
  }
}

/** Undefined if this is no list of facts. Unreadable rows are skipped. */
export function decodeFacts(json: Json | undefined): Facts | undefined {
  if (!isJsonObject(json) || json['format'] !== FORMAT) return undefined
  const rows = <T>(name: string, read: (row: readonly Json[]) => T | undefined): readonly T[] => {
    const list = json[name]
    if (!Array.isArray(list)) return []
    return list.flatMap((row: Json) => (Array.isArray(row) ? (read(row) ?? []) : []))
  }
  return {
    words: rows('words', wordsFrom),
    standing: rows('standing', entryTextFrom),
    files: rows('files', fileFrom),
    code: rows('code', codeFrom),
    commands: rows('commands', commandFrom),
    errors: rows('errors', errorFrom),
    mended: rows('mended', errorFrom),
    todos: rows('todos', todoFrom),
    background: rows('background', backgroundFrom),
    answers: rows('answers', entryTextFrom),
  }
}

function shortenOldest(words: readonly UserWords[]): readonly UserWords[] {
  let room = WORDS_CHARS_MAX
  return words
    .toReversed()
    .map((one) => {
      room -= one.text.length + (one.cut?.tail.length ?? 0)
      return room >= 0 ? one : shorten(one)
    })
    .toReversed()
}

function shorten({ entry, text, cut }: UserWords): UserWords {
  const tail = cut?.tail ?? text
  if (!cut && text.length <= OLD_WORDS_HEAD_CHARS + OLD_WORDS_TAIL_CHARS) return { entry, text }
  return {
    entry,
    text: text.slice(0, OLD_WORDS_HEAD_CHARS),
    cut: { tail: tail.slice(-OLD_WORDS_TAIL_CHARS), chars: cut?.chars ?? text.length },
  }
}

function boundFiles(files: readonly FileFact[]): readonly FileFact[] {
  const newest = (list: readonly FileFact[], most: number): readonly FileFact[] =>
    list.length <= most ? list : list.toSorted((a, b) => b.touched - a.touched).slice(0, most)
  const kept = new Set([
    ...newest(
      files.filter((file) => file.operation !== 'read'),
      CHANGED_FILES_MAX,
    ),
    ...newest(
      files.filter((file) => file.operation === 'read'),
      READ_FILES_MAX,
    ),
  ])
  return files.filter((file) => kept.has(file))
}

function wordsToJson({ entry, text, cut }: UserWords): Json {
  return cut ? [entry, text, cut.tail, cut.chars] : [entry, text]
}

function fileToJson({ path, operation, touched, read, entry }: FileFact): Json {
  return [path, operation, touched, read ?? null, entry ?? null]
}

function errorToJson({ entry, tool, target, text }: ErrorFact): Json {
  return [entry, tool, target, text]
}

function wordsFrom([entry, text, tail, chars]: readonly Json[]): UserWords | undefined {
  if (typeof entry !== 'string' || typeof text !== 'string') return undefined
  return typeof tail === 'string' && typeof chars === 'number'
    ? { entry, text, cut: { tail, chars } }
    : { entry, text }
}

function entryTextFrom([entry, text]: readonly Json[]): (StandingWords & AnswerFact) | undefined {
  return typeof entry === 'string' && typeof text === 'string' ? { entry, text } : undefined
}

function fileFrom([path, operation, touched, read, entry]: readonly Json[]): FileFact | undefined {
  const known = FILE_OPERATIONS.find((one) => one === operation)
  if (typeof path !== 'string' || !known || typeof touched !== 'number') return undefined
  return {
    path,
    operation: known,
    touched,
    ...(typeof read === 'number' && { read }),
    ...(typeof entry === 'string' && { entry }),
  }
}

function codeFrom([path, text]: readonly Json[]): CodeFact | undefined {
  return typeof path === 'string' && typeof text === 'string' ? { path, text } : undefined
}

function commandFrom([command, exit, failed]: readonly Json[]): CommandFact | undefined {
  if (typeof command !== 'string') return undefined
  return { command, failed: failed === true, ...(typeof exit === 'number' && { exit }) }
}

function errorFrom([entry, tool, target, text]: readonly Json[]): ErrorFact | undefined {
  const isWhole =
    typeof entry === 'string' &&
    typeof tool === 'string' &&
    typeof target === 'string' &&
    typeof text === 'string'
  return isWhole ? { entry, tool, target, text } : undefined
}

function todoFrom([text, state, id]: readonly Json[]): TodoFact | undefined {
  if (typeof text !== 'string' || (state !== 'open' && state !== 'running' && state !== 'done'))
    return undefined
  return { text, state, ...(typeof id === 'string' && { id }) }
}

function backgroundFrom([id, text]: readonly Json[]): BackgroundFact | undefined {
  return typeof id === 'string' && typeof text === 'string' ? { id, text } : undefined
}
