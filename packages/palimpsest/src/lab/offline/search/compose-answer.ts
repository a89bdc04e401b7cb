import { visibleText } from '../visible-text.ts'
import type { Evidence } from './gather-evidence.ts'
import type { Outline, OutlineLine } from './outline.ts'
import { rankLines, type RankedLine } from './rank-lines.ts'
import type { Question } from './read-question.ts'

// The answer: the best place first, with the lines around it, then others. Everything in it is quoted.

/** Lines quoted on each side of the best one. */
const AROUND = 3
const OTHERS_MAX = 4
/** Places this near to a better one count as the same. */
const SAME_PLACE_LINES = 12
const QUOTED_CHARS_MAX = 200
/** A place below this share of the best score is not worth a mention. */
const OTHER_SHARE_MIN = 0.55

export function composeAnswer(question: Question, { rarities, outlines }: Evidence): string | undefined {
  const ranked = rankLines({ question, rarities, outlines })
  const [best, ...rest] = pickPlaces(ranked)
  if (!best) return undefined
  const outline = outlines.find(({ path }) => path === best.path)
  const inside = outline ? enclosing(outline, best.line) : undefined
  const where = inside === undefined ? '' : ` in \`${quoted(inside)}\``
  const others = rest.map(({ path, line }) => `- ${path}:${line.number} \`${quoted(line.text.trim())}\``)
  return [
    `${best.path}:${best.line.number}${where}`,
    outline ? quoteAround(outline, best.line) : '',
    ...(others.length === 0 ? [] : [['Also:', ...others].join('\n')]),
  ].join('\n\n')
}

function pickPlaces(ranked: readonly RankedLine[]): readonly RankedLine[] {
  const picked: RankedLine[] = []
  const enough = (ranked[0]?.score ?? 0) * OTHER_SHARE_MIN
  for (const place of ranked) {
    if (picked.length > OTHERS_MAX || place.score < enough) break
    const isSame = ({ path, line }: RankedLine): boolean =>
      path === place.path && Math.abs(line.number - place.line.number) <= SAME_PLACE_LINES
    if (!picked.some(isSame)) picked.push(place)
  }
  return picked
}

function quoteAround({ lines }: Outline, { number }: OutlineLine): string {
  const near = lines.filter((line) => Math.abs(line.number - number) <= AROUND)
  const width = String(number + AROUND).length
  return near
    .map((line) => `> ${String(line.number).padStart(width)}  ${quoted(line.text)}`.trimEnd())
    .join('\n')
}

/** The name of the nearest function definition around a line. */
function enclosing({ lines }: Outline, line: OutlineLine): string | undefined {
  for (let at = line.parent; at >= 0; at = lines[at]?.parent ?? -1) {
    const { definition, text } = lines[at] ?? {}
    if (definition?.kind === 'function')
      return (
        new RegExp(`[\\w$]{0,200}${escape(definition.name)}`, 'i').exec(text ?? '')?.[0] ?? definition.name
      )
  }
  return undefined
}

function escape(text: string): string {
  return text.replace(/[^\w]/g, '\\$&')
}

function quoted(text: string): string {
  const shown = visibleText(text)
  return shown.length > QUOTED_CHARS_MAX ? `${shown.slice(0, QUOTED_CHARS_MAX)}…` : shown
}
