import { openRecall, type Recall } from '../../packages/palimpsest/src/node/recall-index/open-recall.ts'
import { createPorterBase, type PorterBase } from './porter-base.ts'
import type { RecordedQuery, RecordedTalk } from './recorded-queries.ts'
import { writeProject, type WrittenSession } from './write-project.ts'

// Recorded sessions as projects of ours, and what the index finds in them for what their agents said.

export interface AskedRecorded {
  readonly project: string
  /** The place of the first right one, from 1; Infinity where there is none. */
  readonly ours: Places
  readonly base: Places
}

export interface Places {
  readonly bare: number
  readonly whole: number
}

const HITS = 40

/** `alone`: each session is a project; otherwise sessions of one project lie side by side. */
export async function askRecorded(
  talks: readonly RecordedTalk[],
  scope: 'alone' | 'project',
): Promise<readonly AskedRecorded[]> {
  const asked: AskedRecorded[] = []
  for (const list of Map.groupBy(talks, ({ name, project }) => (scope === 'alone' ? name : project)).values())
    if (list.some(({ queries }) => queries.length > 0)) asked.push(...(await askProject(list)))
  return asked
}

async function askProject(talks: readonly RecordedTalk[]): Promise<readonly AskedRecorded[]> {
  const project = await writeProject(talks.map(toSession))
  const recall = openRecall({ home: project.home, folder: project.folder })
  const base = createPorterBase(talks.flatMap(unitTexts))
  try {
    await recall.update({ sliceBytes: 1 << 20 })
    const asked: AskedRecorded[] = []
    for (const talk of talks)
      for (const query of talk.queries) {
        const ours = {
          bare: await placeOf(recall, talk, query, query.bare),
          whole: await placeOf(recall, talk, query, query.whole),
        }
        const baseOf = (text: string): number => basePlace(base, talk, query, text)
        asked.push({
          project: talk.project,
          ours,
          base: { bare: baseOf(query.bare), whole: baseOf(query.whole) },
        })
      }
    return asked
  } finally {
    base.close()
    recall.close()
    await project.remove()
  }
}

function toSession({ name, entries }: RecordedTalk): WrittenSession {
  const lines = entries.map(({ id, at, message }) => {
    const role = message.role === 'assistant' ? ('assistant' as const) : ('user' as const)
    return { id: `${name}-${id}`, at: Number.isFinite(at) ? at : 0, role, content: message.content }
  })
  return { id: name, lines }
}

function unitTexts({
  name,
  blocks,
}: RecordedTalk): readonly { readonly name: string; readonly text: string }[] {
  const units = Map.groupBy(
    blocks.filter(({ kind }) => kind.startsWith('tool_')),
    ({ unit }) => unit,
  )
  return [...units].map(([unit, list]) => ({
    name: `${name} ${unit}`,
    text: list.map(({ about, text }) => `${about}\n${text}`).join('\n'),
  }))
}

/** Of calls and results alone, as the base ranks them. */
async function placeOf(
  recall: Recall,
  talk: RecordedTalk,
  query: RecordedQuery,
  words: string,
): Promise<number> {
  const { blocks, name } = talk
  const inView = new Set(blocks.slice(query.cut).map(({ entry }) => `${name}-${entry}`))
  const { hits } = await recall.search({ words, context: query.context, from: name, inView, limit: HITS })
  const units: string[] = []
  for (const hit of hits) {
    if (!hit.kind.startsWith('tool_') || inView.has(hit.id)) continue
    const own = hit.session === name
    const held = own
      ? blocks.filter(
          ({ entry, kind, text }) =>
            `${name}-${entry}` === hit.id && kind === hit.kind && text.includes(hit.quote),
        )
      : []
    const unit = held[0]?.unit ?? `${hit.session} ${hit.id}`
    if (!units.includes(unit)) units.push(unit)
  }
  return placeIn(units, (unit) => query.targets.has(unit))
}

function basePlace(
  base: PorterBase,
  { name, blocks }: RecordedTalk,
  query: RecordedQuery,
  words: string,
): number {
  const seen = new Set(blocks.slice(query.cut).map(({ unit }) => `${name} ${unit}`))
  const found = base.search(words).filter((unit) => !seen.has(unit))
  return placeIn(
    found,
    (unit) => unit.startsWith(`${name} `) && query.targets.has(unit.slice(name.length + 1)),
  )
}

function placeIn(units: readonly string[], isRight: (unit: string) => boolean): number {
  const at = units.findIndex(isRight)
  return at === -1 ? Infinity : at + 1
}
