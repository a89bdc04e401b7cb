import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { openRecall } from '../../packages/palimpsest/src/node/recall-index/open-recall.ts'
import { STOP_WORDS } from '../../packages/palimpsest/src/recall/stop-words.ts'
import { RECORDED_DATA } from '../../test/kit/recorded.ts'
import { createPorterBase } from './porter-base.ts'
import { writeProject, type WrittenSession } from './write-project.ts'

// LoCoMo: ten long conversations of two people, and questions with the turns that answer them. Each conversation becomes a project, each of its
// meetings a session, each turn a message `Name: text`; a question is searched as it stands.

interface Turn {
  readonly speaker: string
  readonly dia_id: string
  readonly text: string
}

interface Sample {
  readonly conversation: { readonly [name: string]: unknown }
  readonly qa: readonly {
    readonly question: string
    readonly evidence: readonly string[]
    readonly category: number
  }[]
}

export interface Asked {
  readonly category: number
  readonly ours: Scores
  readonly base: Scores
}

export interface Scores {
  readonly r5: number
  readonly r10: number
  readonly r20: number
  readonly mrr: number
}

const HITS = 20

export async function askLocomo(): Promise<readonly Asked[]> {
  const samples: readonly Sample[] = JSON.parse(
    readFileSync(join(RECORDED_DATA, 'locomo/locomo10.json'), 'utf8'),
  )
  const asked: Asked[] = []
  for (const sample of samples) asked.push(...(await askSample(sample)))
  return asked
}

async function askSample({ conversation, qa }: Sample): Promise<readonly Asked[]> {
  const sessions = sessionsOf(conversation)
  const project = await writeProject(sessions)
  const recall = openRecall({ home: project.home, folder: project.folder })
  const texts = sessions.flatMap(({ lines }) =>
    lines.map(({ id, content }) => ({ name: id, text: String(content) })),
  )
  const base = createPorterBase(texts, STOP_WORDS)
  try {
    await recall.update({ sliceBytes: 1 << 20 })
    const asked: Asked[] = []
    for (const { question, evidence, category } of qa) {
      const wanted = new Set(evidence.flatMap((ids) => ids.split(/[;\s]+/)).filter((id) => id !== ''))
      if (wanted.size === 0) continue
      const { hits } = await recall.search({ words: question, limit: HITS })
      const ours = scoresOf([...new Set(hits.map(({ id }) => id))], wanted)
      asked.push({ category, ours, base: scoresOf(base.search(question), wanted) })
    }
    return asked
  } finally {
    base.close()
    recall.close()
    await project.remove()
  }
}

function sessionsOf(conversation: Sample['conversation']): readonly WrittenSession[] {
  const sessions: WrittenSession[] = []
  for (const [name, value] of Object.entries(conversation)) {
    const number = /^session_(\d+)$/.exec(name)?.[1]
    if (number === undefined || !Array.isArray(value)) continue
    const begun = timeOf(String(conversation[`${name}_date_time`]))
    const turns: readonly Turn[] = value
    const lines = turns.map(({ speaker, dia_id, text }, i) => ({
      ...{ id: dia_id, at: begun + i * 1_000, role: 'user' as const, content: `${speaker}: ${text}` },
    }))
    sessions.push({ id: `meeting-${number}`, lines })
  }
  return sessions
}

/** `1:56 pm on 8 May, 2023`. */
function timeOf(text: string): number {
  return Date.parse(`${text.replace(/^.* on /, '').replace(',', '')} UTC`)
}

function scoresOf(found: readonly string[], wanted: ReadonlySet<string>): Scores {
  const share = (k: number): number => found.slice(0, k).filter((id) => wanted.has(id)).length / wanted.size
  const first = found.slice(0, HITS).findIndex((id) => wanted.has(id))
  return { r5: share(5), r10: share(10), r20: share(20), mrr: first === -1 ? 0 : 1 / (first + 1) }
}
