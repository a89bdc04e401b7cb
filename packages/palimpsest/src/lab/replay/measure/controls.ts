import { estimateText } from '../../../tokens/estimate-text.ts'
import { blockOfLine, lineText, type Corpus } from './corpus.ts'
import { extractTokens } from './extract.ts'
import type { EditLine, Reference } from './needs.ts'
import type { Outcome } from './outcomes.ts'
import { createRandom } from './random.ts'
import type { Measured } from './score.ts'
import { makePage, wholePage, type MadePage, type Sight } from './sight.ts'

// What the measure must say about requests whose worth is known in advance. Nobody would send them; they judge the measure.

export interface Controls {
  readonly empty: Sight
  /** Randomly picked blocks of the history, up to a number of estimated tokens. */
  readonly random: (step: number, rawTokens: number) => Sight
  /** The newest 2,000 tokens; the rest is a bare list of the newest identifiers. */
  readonly soup: (step: number, rawTokens: number) => Sight
  /** The newest 2,000 tokens, plus the lines that this step needs, chosen with hindsight and quoted one by one out of context. */
  readonly crumbs: (step: number, rawTokens: number) => Sight
  /** As many of the lines that this step needs as fit. It knows the whole recording. */
  readonly oracle: (step: number, rawTokens: number) => Sight
}

/** Estimated tokens of the conversation itself that `soup` and `crumbs` keep. */
const TAIL_RAW = 2_000

const LOT_SEED = 20_251

export function createControls(measured: Measured): Controls {
  const { corpus } = measured
  const lots = drawLots(corpus)
  const soup = cookSoup(corpus)
  return {
    empty: { shows: () => false, made: [] },
    random: (step, rawTokens) => blockSight(corpus, pickByLot(measured, lots, step, rawTokens)),
    soup(step, rawTokens) {
      const before = measured.needs[step]?.blocksBefore ?? 0
      const tail = newestBlocks(corpus, before, Math.min(TAIL_RAW, rawTokens))
      const end = soup.ends[before - 1] ?? 0
      const chars = Math.max(0, Math.floor((rawTokens - tail.raw) / soup.rawPerChar))
      const { shows } = blockSight(corpus, tail.blocks)
      return { shows, made: [{ page: soup.page, start: Math.max(0, end - chars), end }] }
    },
    crumbs(step, rawTokens) {
      const before = measured.needs[step]?.blocksBefore ?? 0
      const tail = newestBlocks(corpus, before, Math.min(TAIL_RAW, rawTokens))
      const { shows } = blockSight(corpus, tail.blocks)
      const lines = pickLines(measured, step, rawTokens - tail.raw, usedLines(measured, step))
      const page = makePage(quoteOneByOne(corpus, lines), false)
      return { shows, made: [wholePage(page)] }
    },
    oracle(step, rawTokens) {
      const wanted = [...usedLines(measured, step), ...heldLines(measured, step)]
      const lines = pickLines(measured, step, rawTokens, wanted)
      return { shows: (line) => lines.has(line), made: [] }
    },
  }
}

function blockSight(corpus: Corpus, blocks: ReadonlySet<number>): Sight {
  return { shows: (line) => blocks.has(corpus.lineBlocks[line] ?? -1), made: [] }
}

/** Blocks in an order drawn once, so that the next step keeps first what this step kept. */
function drawLots(corpus: Corpus): readonly number[] {
  const random = createRandom(LOT_SEED)
  return corpus.blocks
    .map((_, block) => ({ block, lot: random() }))
    .toSorted((a, b) => a.lot - b.lot)
    .map(({ block }) => block)
}

function pickByLot(
  measured: Measured,
  lots: readonly number[],
  step: number,
  rawTokens: number,
): Set<number> {
  const before = measured.needs[step]?.blocksBefore ?? 0
  const picked = new Set<number>()
  let left = rawTokens
  for (const block of lots) {
    const tokens = measured.corpus.blocks[block]?.tokens ?? 0
    if (block >= before || tokens > left) continue
    picked.add(block)
    left -= tokens
  }
  return picked
}

function newestBlocks(
  corpus: Corpus,
  before: number,
  rawTokens: number,
): { readonly blocks: Set<number>; readonly raw: number } {
  const blocks = new Set<number>()
  let raw = 0
  for (let block = before - 1; block >= 0; block--) {
    const tokens = corpus.blocks[block]?.tokens ?? 0
    if (raw + tokens > rawTokens) break
    blocks.add(block)
    raw += tokens
  }
  return { blocks, raw }
}

/** Sorted by text, so that lines do not stay together because they were together. */
function quoteOneByOne(corpus: Corpus, lines: ReadonlySet<number>): string {
  const texts = new Set([...lines].map((line) => lineText(corpus, line).trim()).filter((text) => text !== ''))
  return [...texts]
    .toSorted((a, b) => (a < b ? -1 : 1))
    .map((text) => `- ${text}`)
    .join('\n')
}

interface Soup {
  readonly page: MadePage
  /** After each block: where the list of the identifiers known by then ends, in characters. */
  readonly ends: readonly number[]
  readonly rawPerChar: number
}

/** Every distinctive token of the session, once, in order of first appearance. */
function cookSoup(corpus: Corpus): Soup {
  const known = new Set<string>()
  const words: string[] = []
  const ends: number[] = []
  let length = 0
  for (const { firstLine, endLine } of corpus.blocks) {
    for (let line = firstLine; line < endLine; line++)
      for (const { text } of extractTokens(lineText(corpus, line))) {
        if (known.has(text)) continue
        known.add(text)
        words.push(text)
        length += text.length + 1
      }
    ends.push(length)
  }
  const text = `${words.join(' ')} `
  return { page: makePage(text, false), ends, rawPerChar: estimateText(text) / text.length }
}

/** Lines that the step uses, then lines that say what is broken, the most telling first. */
function usedLines({ corpus, needs, facts }: Measured, step: number): number[] {
  const at = needs[step]
  if (!at) return []
  return [
    ...at.references.filter(({ sole }) => sole).map((one) => cheapestLine(corpus, one)),
    ...at.editLines.map((one) => cheapestLine(corpus, one)),
    ...at.editTexts.flatMap(({ places, length }) => linesFrom(places.at(-1) ?? 0, length)),
    ...at.references.map((one) => cheapestLine(corpus, one)),
    ...facts.failures
      .filter(({ until }) => until >= at.linesBefore)
      .map((failure) => failure.evidence[0] ?? -1),
  ]
}

/** Lines that must not be forgotten, whether or not the step uses them. */
function heldLines({ finder, needs, facts }: Measured, step: number): number[] {
  const before = needs[step]?.linesBefore ?? 0
  const inPast = (line: number): boolean => line < before
  const lastChanges = new Map(
    facts.changes.filter(({ line }) => inPast(line)).map((one) => [one.path, one.line]),
  )
  const todos = facts.todos.findLast(({ line }) => inPast(line))?.open ?? []
  return [
    ...facts.repeated.flatMap(({ outcomes }) => newestEnds(outcomes.filter((one) => inPast(one.firstLine)))),
    ...facts.prohibitions.map(({ line }) => line),
    ...todos.flatMap((text) => finder.linesWith(text).filter(inPast).slice(-1)),
    ...lastChanges.values(),
    ...facts.userLines.map(({ line }) => line),
  ]
}

/** As many of the wanted lines as fit, only from before the step. */
function pickLines(
  { corpus, needs }: Measured,
  step: number,
  rawTokens: number,
  wanted: readonly number[],
): Set<number> {
  const before = needs[step]?.linesBefore ?? 0
  const picked = new Set<number>()
  let left = rawTokens
  for (const line of wanted) {
    if (line < 0 || line >= before || picked.has(line)) continue
    const tokens = lineTokens(corpus, line)
    if (tokens > left) continue
    picked.add(line)
    left -= tokens
  }
  return picked
}

function linesFrom(first: number, length: number): number[] {
  return Array.from({ length }, (_, i) => first + i)
}

/** The first and last line decide whether a result counts as shown. */
function newestEnds(outcomes: readonly Outcome[]): number[] {
  const newest = outcomes.at(-1)
  return newest ? [newest.firstLine, newest.endLine - 1] : []
}

/** All measurements of a session share its needs, so each is looked up once. */
const cheapestLines = new WeakMap<Reference | EditLine, number>()

/** The cheapest line that contains what is needed; of equally cheap lines the newest. */
function cheapestLine(corpus: Corpus, needed: Reference | EditLine): number {
  const known = cheapestLines.get(needed)
  if (known !== undefined) return known
  let cheapest = -1
  let least = Infinity
  for (const line of needed.lines.slice(0, needed.before)) {
    const tokens = lineTokens(corpus, line)
    if (tokens > least) continue
    cheapest = line
    least = tokens
  }
  cheapestLines.set(needed, cheapest)
  return cheapest
}

/** A line's share of its block's tokens, in proportion to characters. */
function lineTokens(corpus: Corpus, line: number): number {
  const block = blockOfLine(corpus, line)
  if (!block) return 0
  const start = (at: number): number => corpus.lineStarts[at] ?? 0
  const chars = start(block.endLine) - start(block.firstLine)
  return chars > 0 ? (block.tokens * (start(line + 1) - start(line))) / chars : 0
}
