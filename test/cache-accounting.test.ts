import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import {
  chargeRequest,
  createCache,
  publishWrites,
  type CacheCharge,
  type Ttl,
} from '../packages/palimpsest/src/ledger/cache.ts'
import { layPrompt, type PromptPart } from '../packages/palimpsest/src/ledger/prompt.ts'
import { hashText } from '../packages/palimpsest/src/wire/hash.ts'
import { ROOT } from './kit/source-tree.ts'

const MINIMUM_TOKENS = 1024
const HEAD = '| at | began | prompt | breakpoints | read | written 5m | written 1h | uncached |'

const examples = readExamples()

test('the page has worked examples', () => {
  expect(examples.length).toBeGreaterThanOrEqual(9)
})

test.each(examples)('(L1) the ledger charges what the tables of the page show: $title', ({ rows }) => {
  const cache = createCache()
  const waiting: { readonly beganAt: number; readonly charge: CacheCharge }[] = []
  const charged = rows.map(([at = '', began = '', prompt = '', breakpoints = '']) => {
    const started = toMs(at)
    for (const { beganAt, charge } of waiting.filter((one) => one.beganAt <= started)) {
      publishWrites(cache, charge, beganAt)
    }
    const parts = toParts(prompt)
    const charge = chargeRequest(cache, {
      at: started,
      prompt: layPrompt({ tools: {}, system: {}, messages: {} }, parts),
      breakpoints: toBreakpoints(breakpoints, parts),
      minimumTokens: MINIMUM_TOKENS,
    })
    waiting.push({ beganAt: toMs(began), charge })
    const { read, written5m, written1h, uncached } = charge
    expect(read + written5m + written1h + uncached).toBe(parts.reduce((sum, part) => sum + part.tokens, 0))
    return [at, began, prompt, breakpoints, ...[read, written5m, written1h, uncached].map(String)]
  })
  expect(charged).toEqual(rows)
})

function readExamples(): { title: string; rows: string[][] }[] {
  const examples: { title: string; rows: string[][] }[] = []
  let title = ''
  let rows: string[][] | undefined
  for (const line of readFileSync(join(ROOT, 'docs/cache-accounting.md'), 'utf8').split('\n')) {
    if (line.startsWith('#')) title = line.replace(/^#+ /, '')
    if (line === HEAD) examples.push({ title, rows: (rows = []) })
    else if (!line.startsWith('|')) rows = undefined
    else if (!line.startsWith('| ---')) rows?.push(line.slice(2, -2).split(' | '))
  }
  return examples
}

function toMs(minutes: string): number {
  const [whole = '0', seconds = '0'] = minutes.split(':')
  return (Number(whole) * 60 + Number(seconds)) * 1000
}

/** `sys:3000 u1:500 b:10*20`: the last stands for `b1:10` to `b20:10`. */
function toParts(prompt: string): PromptPart[] {
  return prompt.split(' ').flatMap((word) => {
    const [name = '', size = ''] = word.split(':')
    const [tokens = '0', times] = size.split('*')
    const names =
      times === undefined ? [name] : Array.from({ length: Number(times) }, (_, i) => `${name}${i + 1}`)
    return names.map((path) => ({
      level: path === 'sys' ? ('system' as const) : ('messages' as const),
      path,
      hash: hashText(path),
      tokens: Number(tokens),
      cacheable: true,
    }))
  })
}

function toBreakpoints(text: string, parts: readonly PromptPart[]): { index: number; ttl: Ttl }[] {
  return text.split(' ').map((word) => {
    const [name, ttl] = word.split('@')
    return { index: parts.findIndex((part) => part.path === name), ttl: ttl === '1h' ? '1h' : '5m' }
  })
}
