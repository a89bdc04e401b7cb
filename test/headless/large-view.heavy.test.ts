import { open } from 'node:fs/promises'

import { expect, test } from 'vitest'

import { openHome } from '../../packages/palimpsest/src/node/files/inside-home.ts'
import { openProject, transcriptPath } from '../../packages/palimpsest/src/node/files/paths.ts'
import { encodeEntry } from '../../packages/palimpsest/src/transcript/lines/codec.ts'
import { NO_TOTALS } from '../../packages/palimpsest/src/transcript/totals.ts'
import type { Envelope } from '../../packages/palimpsest/src/transcript/lines/line-base.ts'
import { encodeHeader, FORMAT } from '../../packages/palimpsest/src/transcript/lines/header.ts'
import type { WireMessage } from '../../packages/palimpsest/src/wire/message.ts'
import { cases } from '../kit/cases.ts'
import { createBench, type Bench } from '../kit/headless.ts'

// A session with more messages in one view than any request can carry. Each command ends in a sentence, in little memory; what does not
// need the whole conversation works as ever, and nothing is changed.

const MESSAGES = cases(100_001, 1_000_000).numRuns
const PEAK_MB_MAX = 600
const ID = '0b6f3c1e-0000-4000-8000-000000000001'
const BATCH = 5_000
const COMMANDS = [
  ['-p', 'go on', '--continue'],
  ['context', '--session', ID],
  ['-p', 'go on', '--resume', ID],
  ['compact', '--session', ID],
].slice(0, cases(1, 4).numRuns)

test(`with ${MESSAGES} messages in one view each command refuses, in bounded memory, or works without them`, async () => {
  const bench = await createBench()
  const path = await writeLong(bench)
  const tooLong = new RegExp(
    `^palimpsest: session ${ID} holds more than 100000 messages .* is not opened\\. .*\\n$`,
  )
  for (const args of COMMANDS) {
    const { exit, out, err, peakMb } = await measured(bench, args)
    expect({ args, exit, out, err }).toEqual({ args, exit: 1, out: '', err: expect.stringMatching(tooLong) })
    expect(peakMb).toBeLessThan(PEAK_MB_MAX)
  }
  const listed = await bench.run(['sessions', '--json'])
  expect(JSON.parse(listed.out)).toMatchObject([{ id: ID, title: 'message 0', messages: MESSAGES }])
  const handle = await open(path)
  const { size } = await handle.stat()
  await handle.close()
  expect(size).toBe(writtenBytes)
})

let writtenBytes = 0

async function writeLong({ home, folder }: Bench): Promise<string> {
  const project = await openProject(await openHome(home), folder)
  const path = transcriptPath(project, ID)
  const handle = await open(path, 'wx', 0o600)
  const created = Date.UTC(2026, 0, 1)
  let text = `${encodeHeader({ format: FORMAT, sessionId: ID, project: folder, created, version: '0.1.0' })}\n`
  const envelope = { sessionId: ID, cwd: folder, version: '0.1.0' }
  const [question, answer] = [numbered('user', created, envelope), numbered('assistant', created, envelope)]
  for (let i = 0; i < MESSAGES; i++) {
    text += (i % 2 === 0 ? question : answer)(i)
    if (i % BATCH !== 0 && i < MESSAGES - 1) continue
    writtenBytes += Buffer.byteLength(text)
    await handle.write(text)
    text = ''
  }
  await handle.close()
  return path
}

/** The line of a message by its number: one is encoded, and in the others its numbers are others. */
function numbered(
  role: 'user' | 'assistant',
  at: number,
  envelope: Omit<Envelope, 'totals'>,
): (i: number) => string {
  const [ownId, parentId, content] = ['own-id', 'parent-id', 'what is said']
  const message: WireMessage = {
    role,
    content: role === 'user' ? content : [{ type: 'text', text: content }],
  }
  const origin = role === 'user' ? 'user' : 'model'
  const base = { kind: 'message', at, origin, message, json: JSON.stringify(message) } as const
  const totals = { ...NO_TOTALS, messages: COUNT_MARK }
  const parts = encodeEntry({ ...base, id: ownId, parent: parentId }, { ...envelope, totals }).split(
    new RegExp(`(${[ownId, `"${parentId}"`, content, COUNT_MARK].join('|')})`),
  )
  return (i) => {
    const values = new Map([
      [ownId, `m${i}`],
      [`"${parentId}"`, i === 0 ? 'null' : `"m${i - 1}"`],
      [content, `message ${i}`],
      [String(COUNT_MARK), String(i + 1)],
    ])
    return `${parts.map((part) => values.get(part) ?? part).join('')}\n`
  }
}

/** No other number of a line is this one. */
const COUNT_MARK = 987_654_321

interface Measured {
  readonly exit: number | null
  readonly out: string
  readonly err: string
  readonly peakMb: number
}

/** The command, and behind what it prints on stderr the most memory it took. */
async function measured(bench: Bench, args: readonly string[]): Promise<Measured> {
  const told = `process.on('exit', () => process.stderr.write('\\nPEAK ' + process.resourceUsage().maxRSS))`
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(told)}`
  const { exit, out, err: all } = await bench.start(args, { env: { NODE_OPTIONS } }).ended
  const [, err = '', peak = '0'] = /^([^]*)\nPEAK (\d+)$/.exec(all) ?? []
  return { exit, out, err, peakMb: Number(peak) / 1_000 }
}
