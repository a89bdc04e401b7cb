import { appendFile } from 'node:fs/promises'

import { expect, test } from 'vitest'

import { generateTranscript } from '../../../../../test/kit/generate-transcript.ts'
import { fileOptions, say, sayMany, tempProject } from '../../../../../test/kit/temp-home.ts'
import { chainOf } from '../../transcript/chain-of.ts'
import type { Entry } from '../../transcript/entry.ts'
import { openChain } from './open-chain.ts'
import { readTranscript } from './read-transcript.ts'
import { createTranscript } from './transcript-file.ts'

test('the whole conversation is read across its boundaries, except for a torn last line', async () => {
  const file = await createTranscript(fileOptions(await tempProject()))
  const { boundaries } = await generateTranscript(file, {
    bytes: 300_000,
    boundaryBytes: 40_000,
    resultChars: 500,
  })
  await file.close()
  await appendFile(file.path, '{"type":"user","uuid":"torn')
  const all: Entry[] = []
  for await (const item of readTranscript(file.path)) if (item.kind === 'entry') all.push(item.entry)
  expect(boundaries).toBeGreaterThan(2)
  const { ids, kinds } = await readAll(file.path)
  const chain = chainOf(all).entries
  expect(ids).toEqual(chain.map(({ id }) => id))
  expect(kinds).toEqual(chain.map(({ kind }) => kind))
})

test('what a rewind abandoned is not part of the conversation, and each line is available unchanged', async () => {
  const file = await createTranscript(fileOptions(await tempProject()))
  await file.append([...sayMany('a', 3), say('b0', 'a0', 'the other way')])
  await file.close()
  const { ids, lines } = await readAll(file.path)
  expect(ids).toEqual(['a0', 'b0'])
  expect(lines[1]).toContain('"the other way"')
})

async function readAll(path: string) {
  const chain = await openChain(path)
  const [ids, kinds, lines]: [string[], unknown[], string[]] = [[], [], []]
  for (let place = 0; place < chain.count; place++) {
    ids.push((await chain.entryAt(place))?.id ?? '')
    kinds.push(chain.kindAt(place))
    lines.push(await chain.lineAt(place))
  }
  await chain.close()
  return { ids, kinds, lines }
}
