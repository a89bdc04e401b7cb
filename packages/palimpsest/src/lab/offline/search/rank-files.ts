import { fileWeight, pathWords, type PathWords } from './file-kind.ts'
import { partStrength } from './match-words.ts'
import { NEARNESS, RARITY_MAX } from './ranking-weights.ts'
import { bareName, type Concept, type Question } from './read-question.ts'

// Which files to read, judged only by word counts.

export interface WordCounts {
  /** Matches of the concept itself, per file. */
  readonly exact: ReadonlyMap<string, number>
  /** Matches of words that may stand for it, per file. */
  readonly related: ReadonlyMap<string, number>
  /** Number of files with the concept, including those that the list left out. */
  readonly files: number
  readonly relatedFiles: number
}

export interface FileEvidence {
  /** For each concept. */
  readonly counts: readonly WordCounts[]
  /** Number of files in the folder, as far as known. */
  readonly filesTotal: number
  /** Files with a quoted text or a run of words, and what that is worth. */
  readonly phrases: ReadonlyMap<string, number>
}

export interface RankedFile {
  readonly path: string
  readonly score: number
}

const IN_NAME = 0.7
const EXACT_NAME = 1.5
const IN_FOLDER = 0.3
const PHRASE_WORTH = 8
/** Matches that count half of the bonus for frequent words. */
const OFTEN = 4

/** Best first. */
export function rankFiles(question: Question, evidence: FileEvidence): readonly RankedFile[] {
  const { counts, phrases } = evidence
  const paths = new Set([
    ...phrases.keys(),
    ...counts.flatMap(({ exact, related }) => [...exact.keys(), ...related.keys()]),
  ])
  const weights = question.concepts.map(
    ({ share }, i) =>
      share * Math.min(RARITY_MAX, rarityOf(question.concepts[i], counts[i], evidence.filesTotal)),
  )
  return [...paths]
    .map((path) => {
      const words = pathWords(path)
      const found = question.concepts.reduce((sum, concept, i) => {
        const there = presence(counts[i], path) + IN_NAME * namePresence(concept, words)
        return sum + (weights[i] ?? 0) * there
      }, 0)
      const score = (found + PHRASE_WORTH * (phrases.get(path) ?? 0)) * fileWeight(words.kind, question.wants)
      return { path, score }
    })
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score || (a.path < b.path ? -1 : 1))
}

const EXPRESSION_RARITY = 2
const UNSEEN_NAME_RARITY = 1.5
const UNSEEN_WORD_RARITY_MAX = 4

/** Logarithm of the number of files per file with the concept. */
export function rarityOf(
  concept: Concept | undefined,
  counts: WordCounts | undefined,
  filesTotal: number,
): number {
  if (!concept || !counts) return 0
  if (concept.kind === 'expression') return EXPRESSION_RARITY
  if (counts.files > 0) return inFiles(counts.files, filesTotal)
  if (concept.kind === 'name') return UNSEEN_NAME_RARITY
  return counts.relatedFiles > 0
    ? Math.min(UNSEEN_WORD_RARITY_MAX, inFiles(counts.relatedFiles, filesTotal))
    : 0
}

function inFiles(files: number, filesTotal: number): number {
  return Math.log(1 + Math.max(filesTotal, files) / (files + 0.5))
}

function presence(counts: WordCounts | undefined, path: string): number {
  const exact = counts?.exact.get(path) ?? 0
  if (exact > 0) return often(exact)
  return NEARNESS.meant * often(counts?.related.get(path) ?? 0)
}

/** 0 without a match, 0.6 for one, towards 1 for many. */
function often(matches: number): number {
  return matches === 0 ? 0 : 0.5 + (0.5 * matches) / (matches + OFTEN)
}

function namePresence(concept: Concept, { bareName: name, nameStems, folderStems }: PathWords): number {
  if (name === bareName(concept)) return EXACT_NAME
  const inName = nameStems.reduce((max, part) => Math.max(max, partStrength(concept, part)), 0)
  const inFolder = folderStems.reduce((max, part) => Math.max(max, partStrength(concept, part)), 0)
  return Math.max(inName, IN_FOLDER * inFolder)
}
