import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { decodeLine } from '../../packages/palimpsest/src/transcript/lines/codec.ts'
import { recallOf } from '../../packages/palimpsest/src/transcript/recall-tool.ts'
import type { MessageEntry } from '../../packages/palimpsest/src/transcript/entry.ts'
import { isBlock, toBlocks } from '../../packages/palimpsest/src/wire/message.ts'
import type { JsonObject } from '../../packages/palimpsest/src/wire/json.ts'
import { createCommandBench, type CommandBench } from '../kit/command-bench.ts'

// The model looks for what was said earlier, through the whole command: it always has the tool, nobody is asked, and it gets the bytes.

const text = (words: string) => ({ type: 'text', text: words })
const call = (name: string, input: JsonObject) => ({ type: 'tool_use', name, input })
const DONE = { content: [text('Done.')] }

const LINES = Array.from({ length: 400 }, (_, i) => `${i}\tthe line ${i} of harbour.txt, with a tail  `)

/** A session in which a file was read. */
async function sessionWithRead(): Promise<CommandBench> {
  const bench = await createCommandBench({
    script: [{ content: [call('Read', { file_path: 'harbour.txt' })] }, DONE],
  })
  await writeFile(join(bench.folder, 'harbour.txt'), `${LINES.join('\n')}\n`)
  expect(await bench.run(['-p', 'Read harbour.txt. The password of the lighthouse is kept.'])).toMatchObject({
    exit: 0,
  })
  return bench
}

/** One more turn in which the model recalls; what it got, as it got it. */
async function recalled(bench: CommandBench, input: JsonObject, ...more: string[]): Promise<string> {
  bench.simulator.addSteps([{ content: [call('Recall', input)] }, DONE])
  expect(await bench.run(['-p', 'Look.', '--continue', ...more])).toMatchObject({ exit: 0 })
  const last = (await entriesOf(bench)).findLast(({ origin }) => origin === 'recall')
  if (!last) throw new Error('nothing was recalled')
  return resultIn(last)
}

function resultIn({ message }: MessageEntry): string {
  return toBlocks(message.content)
    .flatMap((block) => (isBlock(block, 'tool_result') ? toBlocks(block.content ?? '') : []))
    .flatMap((block) => (isBlock(block, 'text') ? [block.text] : []))
    .join('')
}

async function entriesOf({ home }: CommandBench): Promise<readonly MessageEntry[]> {
  const names = await readdir(join(home, 'projects'), { recursive: true })
  const file = names.find((name) => /^[^/]+\/[^/]+\.jsonl$/.test(name)) ?? ''
  const lines = (await readFile(join(home, 'projects', file), 'utf8')).split('\n').slice(1)
  return lines.flatMap((line) => {
    const entry = line === '' ? undefined : decodeLine(line)
    return entry && 'id' in entry && entry.kind === 'message' ? [entry] : []
  })
}

describe('the model', () => {
  test('finds words in every mode, with the ids of the messages, without asking anybody', async () => {
    const bench = await sessionWithRead()
    for (const mode of ['default', 'plan', 'accept-edits']) {
      const found = await recalled(bench, { query: 'password of the lighthouse' }, '--permission-mode', mode)
      const said = (await entriesOf(bench)).find(({ json }) => json.includes('lighthouse'))
      expect(found).toContain('The password of the lighthouse is kept.')
      expect(found).toContain(`[${said?.id.slice(0, 8)}, `)
    }
  })

  test('gets a result byte for byte by the id of its message, by its tool use, and page by page', async () => {
    const bench = await sessionWithRead()
    const read = (await entriesOf(bench)).find(({ origin }) => origin === 'tool')
    if (!read) throw new Error('nothing was read')
    const whole = resultIn(read)
    const [block] = toBlocks(read.message.content)
    const useId = block && isBlock(block, 'tool_result') ? block.tool_use_id : ''
    let pages = ''
    for (let offset: number | undefined = 0; offset !== undefined;) {
      const page = await recalled(bench, { id: read.id.slice(0, 8), offset })
      pages += page.slice(page.indexOf(']\n') + 2)
      const next: string | undefined = /offset=(\d+) goes on/.exec(page)?.[1]
      offset = next === undefined ? undefined : Number(next)
    }
    expect(pages).toBe(whole)
    expect(await recalled(bench, { id: useId })).toContain(whole.slice(0, 5_000))
    const answer = (await entriesOf(bench)).find(({ json }) => json.includes(`"id":"${useId}"`))
    const range = await recalled(bench, { id: recallOf(answer?.id ?? '', read.id) })
    expect(range).toContain(`[${read.id.slice(0, 8)}]`)
  })

  test('is told what to do if nothing is found and if the call is invalid', async () => {
    const bench = await sessionWithRead()
    expect(await recalled(bench, { query: 'zeppelin over the bay' })).toContain('Try fewer or other words')
    bench.simulator.addSteps([
      {
        content: [
          call('Recall', { id: 'ffffffff' }),
          call('Recall', {}),
          call('Recall', { id: 'a', query: 'b' }),
        ],
      },
      DONE,
    ])
    await bench.run(['-p', 'Look.', '--continue'])
    const answers = (await entriesOf(bench)).slice(-4, -1).map(resultIn)
    expect(answers).toEqual([
      expect.stringContaining('Nothing in this conversation has the id "ffffffff"'),
      expect.stringContaining('Give either id'),
      expect.stringContaining('Give either id'),
    ])
  })

  test('finds neither its own searches nor what it recalled before', async () => {
    const bench = await sessionWithRead()
    await recalled(bench, { query: 'line 17 of harbour.txt' })
    const again = await recalled(bench, { query: 'line 17 of harbour.txt' })
    expect(again.match(/the line 17 of harbour\.txt/g)).toHaveLength(1)
  })
})
