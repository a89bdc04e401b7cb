import { billOf, playInFront, playWork, type Bill } from './talking-work.ts'
import { print, type Figure } from './figure.ts'

// What messages of teammates cost the one who gets them: the same work without them, with them as they join, at the end of the conversation,
// and with them in front of it, where every one changes the prefix. Judged by the simulator's cache and prices.

const ROUNDS = 30
const MESSAGES = 20

function figuresOf(name: string, bill: Bill): readonly Figure[] {
  const { requests, promptTokens, readTokens, rewrittenTokens, usd } = bill
  return [
    { name: `${name}: requests`, value: requests, unit: '' },
    { name: `${name}: prompt`, value: promptTokens / 1_000, unit: 'thousand tokens' },
    { name: `${name}: read from the cache`, value: readTokens / 1_000, unit: 'thousand tokens' },
    { name: `${name}: read from the cache`, value: (100 * readTokens) / promptTokens, unit: '%' },
    {
      name: `${name}: sent again after a changed prefix`,
      value: rewrittenTokens / 1_000,
      unit: 'thousand tokens',
    },
    { name: `${name}: cost`, value: usd, unit: '$' },
  ]
}

const silent = billOf(await playWork({ rounds: ROUNDS, messages: 0 }))
const requests = await playWork({ rounds: ROUNDS, messages: MESSAGES })
const joined = billOf(requests)
const inFront = billOf(playInFront(requests))
const each = (bill: Bill): number => (bill.usd - silent.usd) / MESSAGES

const isWithin = print(`${MESSAGES} messages to an agent that reads ${ROUNDS} files`, [
  ...figuresOf('no messages', silent),
  ...figuresOf('at the end', joined).map((figure) =>
    figure.name.endsWith('prefix') ? { ...figure, atMost: 0 } : figure,
  ),
  ...figuresOf('in front', inFront),
  {
    name: 'one message',
    value: (joined.lastPromptTokens - silent.lastPromptTokens) / MESSAGES,
    unit: 'tokens',
  },
  { name: 'one message at the end', value: each(joined), unit: '$' },
  { name: 'one message in front', value: each(inFront), unit: '$' },
])
if (!isWithin) process.exitCode = 1
