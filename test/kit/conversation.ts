import fc from 'fast-check'
import type { BuiltRequest } from '../../packages/palimpsest/src/request/build-request.ts'
import type { Entry } from '../../packages/palimpsest/src/transcript/entry.ts'
import type { View } from '../../packages/palimpsest/src/transcript/view.ts'
import type { MessagesResponse } from '../../packages/palimpsest/src/wire/response.ts'

// Generated conversations: a list of operations, and a player that carries them out on a transcript, asking a judge (the simulator in
// refuse mode) for every answer. Whatever the operations do, each request must be accepted.

export type ReplyBlock =
  | { readonly type: 'thinking'; readonly thinking: string }
  | { readonly type: 'redacted_thinking' }
  | { readonly type: 'text'; readonly text: string }
  | {
      readonly type: 'tool_use'
      readonly name: string
      readonly input: { readonly [key: string]: string | number }
    }

export type Operation =
  | { readonly op: 'say'; readonly text: string; readonly image: boolean; readonly asString: boolean }
  | { readonly op: 'ask'; readonly reply: readonly ReplyBlock[]; readonly lines: boolean }
  | {
      readonly op: 'results'
      readonly order: number
      readonly together: boolean
      readonly kinds: readonly ResultKind[]
    }
  | { readonly op: 'clear'; readonly pick: number; readonly count: number }
  | { readonly op: 'clear-input'; readonly pick: number }
  | { readonly op: 'store'; readonly pick: number }
  | { readonly op: 'snip'; readonly pick: number }
  | {
      readonly op: 'compact'
      readonly keep: number
      readonly keeps: 'tail' | 'head'
      readonly attach: boolean
      /** Nodes before the kept ones that stay as copies. */
      readonly copy: number
    }
  | { readonly op: 'undo'; readonly pick: number }
  | { readonly op: 'pin'; readonly pick: number; readonly on: boolean }
  | { readonly op: 'system'; readonly text: string }
  | { readonly op: 'prefix'; readonly change: 'model' | 'tools' | 'back' }

export type ResultKind = 'text' | 'error' | 'image' | 'empty' | 'odd' | 'missing'

export type Judge = (
  request: BuiltRequest,
  reply: readonly ReplyBlock[],
) => Promise<{ readonly message: MessagesResponse; readonly json: string } | { readonly refused: string }>

export interface Played {
  readonly entries: readonly Entry[]
  readonly view: View
  readonly requests: readonly PlayedRequest[]
}

export interface PlayedRequest {
  readonly built: BuiltRequest
  /** How many entries the transcript had when it was sent. */
  readonly entries: number
  /** Whether an edit, boundary, undo or prefix change was declared since the request before. */
  readonly declared: boolean
}

export const arbitraryReply: fc.Arbitrary<readonly ReplyBlock[]> = fc.array(
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({
        type: fc.constant('thinking' as const),
        thinking: fc.string({ maxLength: 12 }),
      }),
    },
    { weight: 1, arbitrary: fc.constant({ type: 'redacted_thinking' } as const) },
    {
      weight: 3,
      arbitrary: fc.record({
        type: fc.constant('text' as const),
        text: fc.oneof(fc.string({ minLength: 1, maxLength: 20 }), fc.constantFrom('', '\n\n', 'ok')),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        type: fc.constant('tool_use' as const),
        name: fc.constantFrom('Read', 'Bash', 'Grep'),
        input: fc.dictionary(
          fc.constantFrom('path', 'command', '7', 'ü'),
          fc.oneof(fc.string({ maxLength: 8 }), fc.integer()),
          {
            maxKeys: 3,
          },
        ),
      }),
    },
  ),
  { minLength: 1, maxLength: 6 },
)

const arbitraryOperation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      op: fc.constant('say' as const),
      text: fc.string({ minLength: 1, maxLength: 20 }),
      image: fc.boolean(),
      asString: fc.boolean(),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({ op: fc.constant('ask' as const), reply: arbitraryReply, lines: fc.boolean() }),
  },
  {
    weight: 7,
    arbitrary: fc.record({
      op: fc.constant('results' as const),
      order: fc.nat(5),
      together: fc.boolean(),
      kinds: fc.array(
        fc.constantFrom<ResultKind>('text', 'text', 'error', 'image', 'empty', 'odd', 'missing'),
        {
          minLength: 1,
          maxLength: 4,
        },
      ),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      op: fc.constant('clear' as const),
      pick: fc.nat(99),
      count: fc.integer({ min: 1, max: 4 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('clear-input' as const), pick: fc.nat(99) }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('store' as const), pick: fc.nat(99) }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('snip' as const), pick: fc.nat(99) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      op: fc.constant('compact' as const),
      keep: fc.nat(6),
      keeps: fc.constantFrom<'tail' | 'head'>('tail', 'tail', 'head'),
      attach: fc.boolean(),
      copy: fc.nat({ max: 4 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('undo' as const), pick: fc.nat(99) }) },
  {
    weight: 1,
    arbitrary: fc.record({ op: fc.constant('pin' as const), pick: fc.nat(99), on: fc.boolean() }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      op: fc.constant('system' as const),
      text: fc.string({ minLength: 1, maxLength: 9 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      op: fc.constant('prefix' as const),
      change: fc.constantFrom<'model' | 'tools' | 'back'>('model', 'tools', 'back'),
    }),
  },
)

export const arbitraryOperations: fc.Arbitrary<readonly Operation[]> = fc
  .array(arbitraryOperation, { minLength: 8, maxLength: 40, size: 'max' })
  .map((operations) => [{ op: 'say', text: 'begin', image: false, asString: true }, ...operations])
