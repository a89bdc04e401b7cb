import type Anthropic from '@anthropic-ai/sdk'
import fc from 'fast-check'
import { vi } from 'vitest'

import { createContext, memoryStore, UsageError, type Context, type RequestPlan } from 'palimpsest'
import { createSimulator } from 'palimpsest/simulator'

// An owner who does with his history whatever he likes between two requests. Every message carries a number of its own, so that a request can be
// read back: which of his messages it has.

type Message = Exclude<Anthropic.MessageParam, { role: 'system' }>

/** Nothing is cached any more. */
const PAUSE_MS = 2 * 3_600_000
const BOUND = 'claude-sonnet-5-5'

export type OwnerStep =
  | { readonly kind: 'say'; readonly size: number; readonly answer: Answer }
  | { readonly kind: 'edit' | 'cut' | 'fork' | 'summarise'; readonly at: number; readonly answer: Answer }
  | { readonly kind: 'return' | 'copy' | 'reopen' | 'ask-again' | 'pause'; readonly answer: Answer }
  /** He keeps something that the API refuses and that can be said another way. */
  | { readonly kind: 'odd'; readonly form: OddForm; readonly answer: Answer }
  /** He asks with something that no request can say, sees that it is refused, and goes back to what he had. */
  | { readonly kind: 'wrong'; readonly form: WrongForm; readonly answer: Answer }

const ODD_FORMS = [
  'blank message',
  'empty result',
  'blank result',
  'odd id',
  'split results',
  'words first',
] as const
type OddForm = (typeof ODD_FORMS)[number]

const WRONG_FORMS = [
  'orphan result',
  'late result',
  'second result',
  'repeated id',
  'answer first',
  'answer last',
  'empty last',
  'system first',
  'call of the user',
] as const
type WrongForm = (typeof WRONG_FORMS)[number]

/** What the model says next: words, thought words, a call whose result is so large; kept whole or without its thinking. */
interface Answer {
  readonly form: 'text' | 'thought' | 'call'
  readonly size: number
  readonly keepsThinking: boolean
}

const answers: fc.Arbitrary<Answer> = fc.record({
  form: fc.constantFrom('text', 'thought', 'call', 'call'),
  size: fc.constantFrom(20, 400, 3_000, 12_000),
  keepsThinking: fc.boolean(),
})

/** Drawn more often: little comes of most of them. */
const RETURNS = ['return', 'return', 'return', 'return'] as const
const PAUSES = ['pause', 'pause', 'pause'] as const

const ownerSteps: fc.Arbitrary<readonly OwnerStep[]> = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({ kind: fc.constant('say'), size: fc.constantFrom(20, 2_000), answer: answers }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constantFrom('edit', 'cut', 'fork', 'summarise'),
        at: fc.nat(30),
        answer: answers,
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constantFrom(...RETURNS, 'copy', 'reopen', 'ask-again', ...PAUSES),
        answer: answers,
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('odd'),
        form: fc.constantFrom(...ODD_FORMS),
        answer: answers,
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('wrong'),
        form: fc.constantFrom(...WRONG_FORMS),
        answer: answers,
      }),
    },
  ),
  { minLength: 2, maxLength: 9 },
)

/** One request, with the history that it was made for. */
export interface OwnerRound {
  readonly step: OwnerStep['kind']
  readonly history: readonly Message[]
  readonly messages: readonly Message[]
  readonly plan: RequestPlan
  readonly status: number
  readonly refusal: string
  /** What a wrong history before it was refused with. */
  readonly wrong: string | undefined
}

export interface OwnerPlay {
  /** Rounds of a history that is there when it begins. */
  readonly earlier: number
  readonly window: number
  /** One whose thinking is bound to what stands before it, or one that clears more readily. */
  readonly model: string
  readonly steps: readonly OwnerStep[]
}

export const ownerPlays: fc.Arbitrary<OwnerPlay> = fc.record({
  earlier: fc.oneof(fc.constant(0), fc.integer({ min: 8, max: 24 })),
  window: fc.constantFrom(10_000, 200_000),
  model: fc.constantFrom(BOUND, 'claude-sonnet-4-5'),
  steps: ownerSteps,
})

/** Plays the steps; each ends in a request that the simulator judges and answers. Its pauses need a clock that can be set. */
export async function playOwner({
  earlier,
  window,
  model,
  steps,
}: OwnerPlay): Promise<readonly OwnerRound[]> {
  const simulator = createSimulator({ clock: 'virtual' })
  const store = memoryStore()
  let context = createContext({ model, window, store })
  const id = await context.id()
  const rounds: OwnerRound[] = []
  let history: readonly Message[] = []
  let saved: Histories['saved'] = []
  let made = 0
  const words = (size: number): string => `§${made++}§ ${'The tide is high. '.repeat(Math.ceil(size / 18))}`
  history = Array.from({ length: earlier }, (_, round) => earlierRound(round, words)).flat()

  for (const step of steps) {
    if (step.kind === 'pause') vi.setSystemTime(Date.now() + PAUSE_MS)
    if (step.kind === 'reopen') {
      await context.close()
      context = createContext({ model, window, store, id })
    }
    ;({ history, saved } = changed(step, { history, saved }, words))
    history = wellFormed(history, words)
    if (step.kind === 'odd') history = [...history, ...oddMessages(step.form, words, made)]
    const wrong =
      step.kind === 'wrong' ? await refusedWith(wrongHistory(step.form, history, words), context) : undefined
    const round = { ...(await ask(step, history, { context, simulator })), wrong }
    rounds.push(round)
    if (round.answer && step.kind !== 'ask-again') history = history.concat(round.answer)
  }
  await context.close()
  return rounds

  async function ask(
    { kind, answer: wanted }: OwnerStep,
    asked: readonly Message[],
    { context, simulator }: { context: Context; simulator: ReturnType<typeof createSimulator> },
  ): Promise<Omit<OwnerRound, 'wrong'> & { answer: Message[] | undefined }> {
    const { request, plan } = await context.prepare({
      system: 'You watch the harbour.',
      tools: [{ name: 'read', input_schema: { type: 'object' as const, properties: {} } }],
      thinking: model === BOUND ? { type: 'adaptive' } : { type: 'enabled', budget_tokens: 1_024 },
      messages: [...asked],
      max_tokens: 1_500,
    })
    simulator.addSteps([{ content: contentFor(wanted, words) }])
    const { status, body } = simulator.answer(request)
    simulator.advance(1_000)
    // What was handed out must not change any more.
    const messages = structuredClone(request.messages)
    const round = {
      step: kind,
      history: asked,
      messages,
      plan,
      status,
      refusal: status === 200 ? '' : JSON.stringify(body),
    }
    if (status !== 200) return { ...round, answer: undefined }
    const message = body as unknown as Anthropic.Message
    await context.observe(message)
    return { ...round, answer: ownersVersion(message, wanted, words) }
  }
}

interface Histories {
  readonly history: readonly Message[]
  /** Those that the owner went away from. */
  readonly saved: readonly (readonly Message[])[]
}

/** What the owner does before he asks. */
function changed(step: OwnerStep, { history, saved }: Histories, words: (size: number) => string): Histories {
  switch (step.kind) {
    case 'say':
      return { history: [...history, { role: 'user', content: words(step.size) }], saved }
    case 'edit':
      return { history: edited(history, step.at, words), saved }
    case 'cut':
      return { history: history.slice(0, 1 + (step.at % (history.length + 1))), saved }
    case 'summarise':
      return { history: [{ role: 'user', content: words(200) }, ...history.slice(step.at)], saved }
    case 'fork': {
      const begin = history.slice(0, step.at % (history.length + 1))
      return { history: [...begin, { role: 'user', content: words(50) }], saved: [history, ...saved] }
    }
    case 'return': {
      const [last = history.slice(0, history.length / 2), ...others] = saved
      return { history: last, saved: [...others, history] }
    }
    case 'copy':
      return { history: structuredClone(history), saved }
    case 'reopen':
    case 'ask-again':
    case 'pause':
    case 'odd':
    case 'wrong':
      return { history, saved }
  }
}

async function refusedWith(messages: readonly Anthropic.MessageParam[], context: Context): Promise<string> {
  const asked = context.prepare({ messages, max_tokens: 1_500, system: 'You watch the harbour.' })
  return await asked.then(
    () => 'nothing',
    (error: unknown) => (error instanceof UsageError ? error.message : `no sentence: ${String(error)}`),
  )
}

const call = (id: string) => ({ type: 'tool_use' as const, id, name: 'read', input: { path: id } })
const result = (id: string, content?: Anthropic.ToolResultBlockParam['content']) => ({
  type: 'tool_result' as const,
  tool_use_id: id,
  ...(content === undefined ? {} : { content }),
})

/** Two calls and their results, one of them odd; ids that were not used before. */
function oddMessages(form: OddForm, words: (size: number) => string, made: number): Message[] {
  const [first, second] =
    form === 'odd id' ? [`call ${made}/a`, `call ${made}.a`] : [`odd_${made}_a`, `odd_${made}_b`]
  const asked: Message = { role: 'assistant', content: [call(first), call(second)] }
  const one = result(first, words(20))
  const two = result(second, words(20))
  const question: Message = { role: 'user', content: words(20) }
  const text = { type: 'text' as const, text: words(20) }
  switch (form) {
    case 'blank message':
      return [{ role: 'assistant', content: words(20) }, { role: 'user', content: ' ' }, question]
    case 'empty result':
      return [asked, { role: 'user', content: [one, result(second, made % 2 === 0 ? '' : undefined)] }]
    case 'blank result':
      return [asked, { role: 'user', content: [one, result(second, [{ type: 'text', text: '\n' }])] }]
    case 'odd id':
      return [asked, { role: 'user', content: [two, one] }]
    case 'split results':
      return [asked, { role: 'user', content: [two] }, { role: 'user', content: [one] }]
    case 'words first':
      return [asked, { role: 'user', content: [text, one, two] }]
  }
}

/** No request can say these; where each is wrong, the sentence must name. */
function wrongHistory(
  form: WrongForm,
  history: readonly Message[],
  words: (size: number) => string,
): readonly Anthropic.MessageParam[] {
  const said: Message = { role: 'assistant', content: words(20) }
  const asked: Message = { role: 'assistant', content: [call('wrong')] }
  const answered: Message = { role: 'user', content: [result('wrong', words(20))] }
  const question: Message = { role: 'user', content: words(20) }
  switch (form) {
    case 'orphan result':
      return [...history, said, answered]
    case 'late result':
      return [...history, asked, question, said, answered]
    case 'second result':
      return [...history, asked, answered, answered]
    case 'repeated id':
      return [...history, asked, answered, asked, answered]
    case 'answer first':
      return [said, ...history]
    case 'answer last':
      return [...history, { role: 'assistant', content: `${words(20)} ` }]
    case 'empty last':
      return [...history, said, { role: 'user', content: '' }]
    case 'system first':
      return [{ role: 'system', content: words(20) }, ...history]
    case 'call of the user':
      return [...history, said, { role: 'user', content: [call('wrong')] }]
  }
}

/** Read this, then that: results that can be had again. */
function earlierRound(round: number, words: (size: number) => string): Message[] {
  const id = `toolu_earlier_${round}`
  const question: Message = { role: 'user', content: words(60) }
  return [
    ...(round % 4 === 0 ? [question] : []),
    { role: 'assistant', content: [{ type: 'tool_use', id, name: 'read', input: { path: words(5) } }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: words(1_500) }] },
  ]
}

function contentFor({ form, size }: Answer, words: (size: number) => string) {
  const thinking = { type: 'thinking' as const, thinking: 'Let me see.' }
  if (form === 'call')
    return [thinking, { type: 'tool_use' as const, name: 'read', input: { path: words(5) } }]
  const text = { type: 'text' as const, text: words(Math.min(size, 400)) }
  return form === 'thought' ? [thinking, text] : [text]
}

function ownersVersion(
  { content }: Anthropic.Message,
  wanted: Answer,
  words: (size: number) => string,
): Message[] {
  const kept = wanted.keepsThinking ? content : content.filter(({ type }) => type !== 'thinking')
  const results = content.flatMap((block) =>
    block.type === 'tool_use'
      ? [{ type: 'tool_result' as const, tool_use_id: block.id, content: words(wanted.size) }]
      : [],
  )
  const answer: Message = { role: 'assistant', content: kept }
  return results.length > 0 ? [answer, { role: 'user', content: results }] : [answer]
}

function edited(history: readonly Message[], at: number, words: (size: number) => string): Message[] {
  const place = history.length === 0 ? 0 : at % history.length
  return history.map((message, i): Message => {
    if (i !== place) return message
    if (typeof message.content === 'string') return { ...message, content: words(40) }
    const content = message.content.map((block) => {
      if (block.type === 'text') return { ...block, text: words(40) }
      if (block.type === 'tool_result') return { ...block, content: words(40) }
      return block.type === 'tool_use' ? { ...block, input: { path: words(5) } } : block
    })
    return { ...message, content }
  })
}

/** As the API takes it: it begins and ends with the user, and no call or result stands alone. */
function wellFormed(history: readonly Message[], words: (size: number) => string): Message[] {
  const calls = new Set<string>()
  const kept: Message[] = []
  for (const [i, message] of history.entries()) {
    if (kept.length === 0 && message.role === 'assistant') kept.push({ role: 'user', content: words(20) })
    if (typeof message.content === 'string') {
      kept.push(message)
      continue
    }
    const next = history[i + 1]
    const answered = new Set(
      blocksOf(next).flatMap((block) => (block.type === 'tool_result' ? [block.tool_use_id] : [])),
    )
    const isPaired = (block: Anthropic.ContentBlockParam): boolean => {
      if (block.type === 'tool_use') return answered.has(block.id) && calls.add(block.id) !== undefined
      return block.type !== 'tool_result' || calls.delete(block.tool_use_id)
    }
    const content = message.content.filter(isPaired)
    const isWhole = content.length === message.content.length
    if (isWhole) kept.push(message)
    else if (content.some(({ type }) => type !== 'thinking')) kept.push({ ...message, content })
  }
  const last = kept.at(-1)
  if (last?.role !== 'user' || last.content === ' ') kept.push({ role: 'user', content: words(20) })
  return kept
}

export function blocksOf(
  message: Anthropic.MessageParam | undefined,
): readonly Anthropic.ContentBlockParam[] {
  if (message === undefined) return []
  return typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content
}
