import { hashText } from '../packages/palimpsest/src/wire/hash.ts'
import { findMember, splitArray, splitObject, withoutMember } from '../packages/palimpsest/src/wire/json.ts'
import { parseRequest } from '../packages/palimpsest/src/wire/parse.ts'
import { Bench } from 'tinybench'

import type { Figure } from './figure.ts'

// Texts that are cut instead of parsed: shown beside JSON.parse of the same body, in the same run.

const MESSAGES = 400
const RESULT_CHARS = 25_000
const SAMPLE_MS = 500

export async function benchWire(): Promise<Figure[]> {
  const body = longBody()
  const parsed: unknown = JSON.parse(body)
  const blocks = splitArray(findMember(body, 'messages') ?? '[]').flatMap((message) =>
    splitArray(findMember(message, 'content') ?? '[]'),
  )
  const bench = new Bench({ time: SAMPLE_MS })
    .add('JSON.parse', () => void JSON.parse(body))
    .add('cut into members', () => void splitObject(body))
    .add('take the marker out of every block', () => {
      for (const block of blocks) withoutMember(block, 'cache_control')
    })
    .add('hash', () => void hashText(body))
    .add('parseRequest of the parsed value', () => void parseRequest(parsed))
  await bench.run()
  const megabytes = body.length / 1_000_000
  return [
    { name: 'size of the body', value: megabytes, unit: 'MB' },
    ...bench.tasks.map((task) => {
      const ms = 'latency' in task.result ? task.result.latency.p50 : NaN
      return { name: task.name, value: ms, unit: 'ms' }
    }),
  ]
}

function longBody(): string {
  const text = 'export function f(a: string): "x" | "y" {\n\treturn a === "x" ? "x" : "y"\n}\n'
  const result = text.repeat(RESULT_CHARS / text.length)
  const messages = Array.from({ length: MESSAGES }, (_, i) => ({
    role: 'user',
    content: [
      {
        type: 'tool_result',
        tool_use_id: `toolu_${i}`,
        content: result,
        cache_control: { type: 'ephemeral' },
      },
    ],
  }))
  return JSON.stringify({ model: 'claude-sonnet-5-5', max_tokens: 1024, messages })
}
