import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

// Questions that a developer asks in a terminal about a code base, each with the places that answer it. A place is a line, named by a
// text that occurs in its file once: line numbers are found when they are needed, so that edits elsewhere in the file do no harm.

export interface Question {
  readonly id: string
  readonly question: string
  /** It names nothing by the name the code has for it: no function, type, variable, file, message. */
  readonly plain: boolean
  /** Any of them is right. */
  readonly keys: readonly Key[]
}

export interface Key {
  /** From the root of the code base. */
  readonly file: string
  readonly snippet: string
}

/** An answer is right when the first line it cites is at most so many lines from a key. */
export const LINES_OFF_MAX = 3

export interface CodeBase {
  readonly name: 'palimpsest' | 'undici' | 'rxjs' | 'zod'
  readonly root: string
  /** Folders and files that are asked about, from the root. The rest (builds, other versions, these questions) is to be left out of sight. */
  readonly folders: readonly string[]
}

export const CODE_BASES: readonly CodeBase[] = [
  {
    name: 'palimpsest',
    root: fileURLToPath(new URL('../..', import.meta.url)),
    folders: ['packages', 'docs', 'test'],
  },
  { name: 'undici', root: packageRoot(import.meta.resolve('undici/package.json')), folders: ['lib'] },
  { name: 'rxjs', root: packageRoot(import.meta.resolve('rxjs/package.json')), folders: ['src'] },
  {
    name: 'zod',
    root: packageRoot(import.meta.resolve('zod/package.json')),
    folders: ['src/v4', 'src/compile.ts'],
  },
]

/** By two hands: the first list asks for what is hard to find, the second for what people ask. */
const LISTS = ['', '-2'] as const

export function readQuestions(name: CodeBase['name']): readonly Question[] {
  return LISTS.flatMap((list): readonly Question[] =>
    JSON.parse(readFileSync(new URL(`${name}${list}.json`, import.meta.url), 'utf8')),
  )
}

/** The lines, counted from 1, that hold the snippet. A sound key has one. */
export function keyLines({ root }: CodeBase, { file, snippet }: Key): readonly number[] {
  const lines = readFileSync(join(root, file), 'utf8').split('\n')
  return lines.flatMap((line, index) => Array(line.split(snippet).length - 1).fill(index + 1))
}

function packageRoot(manifest: string): string {
  return dirname(fileURLToPath(manifest))
}
