import { RECALL_TOOL } from '../../../transcript/recall-tool.ts'
import { amountOf, counted, wayTo, type Gap } from '../keep/gaps.ts'

// The message that replaces what a compaction removed from view. It says what this is, how much is gone and how to see it again, who wrote
// the summary, and what comes after it: no reader may mistake separate pieces for one.

export interface Continuation {
  /** `automatic`: in the middle of work. `manual`: the user asked for it. `autonomous`: nobody watches; the agent woke up by itself. */
  readonly mode: 'automatic' | 'manual' | 'autonomous'
  /** The proven summary. */
  readonly summary: string
  /**
   * `before`: the summary comes before what stays. `after`: it comes after what stays. `sealed`: it is at the beginning, where the provider
   * put it, and what is given here as `summary` is what it left out.
   */
  readonly place: 'before' | 'after' | 'sealed'
  /** Messages that stay: none, a sequence at the end (for `after`, at the beginning), or pieces with places where some are left out. */
  readonly stays: 'none' | 'row' | 'pieces'
  /** Everything that is no longer shown. Undefined if nobody counted. */
  readonly left?: Gap | undefined
  /** Who wrote the summary. Absent: a model. */
  readonly writer?: SummaryWriter
  /** For `after`: what stays begins with an earlier summary, whose words on how to continue no longer count. */
  readonly followsSummary?: boolean
  /** Undefined if the conversation is not on disk. */
  readonly transcriptPath?: string | undefined
  /** The model can recall what left its view. */
  readonly hasRecall?: boolean
}

export type SummaryWriter =
  | { readonly kind: 'model' }
  /** Computed; nobody wrote it. */
  | { readonly kind: 'record' }
  /** Notes that are older than the compaction by this many messages and tokens. */
  | { readonly kind: 'notes'; readonly messages: number; readonly tokens: number }

/** The text of the message that replaces the earlier conversation. */
export function continuationText(given: Continuation): string {
  const { mode, summary, place } = given
  const title = place === 'sealed' ? [] : [titleOf(given.writer)]
  return [
    opening(given),
    ...wayBack(given),
    ...(summary === '' ? [] : [...title, summary]),
    ...CONTINUING[mode],
  ].join('\n\n')
}

function opening({ mode, place, stays, left, followsSummary = false }: Continuation): string {
  const why = mode === 'manual' ? "at the user's request" : 'to fit the context window'
  const isOne = left === undefined || left.messages === 1
  const gone = left === undefined ? 'part of it is' : `${amountOf(left)}, ${isOne ? 'is' : 'are'}`
  const them = isOne ? 'it' : 'them'
  const sentences = {
    before: [
      `This conversation continues an earlier one, which was compacted ${why}: ${gone} no longer shown. The summary below stands for ${them}.`,
      FOLLOWING[stays],
    ],
    after: [
      `The messages above stay as they are. What followed them was compacted ${why}: ${gone} no longer shown. The summary below stands for ${them}.`,
      followsSummary ? NEWER : '',
      stays === 'pieces' ? PICKED : '',
    ],
    sealed: [
      `This conversation continues an earlier one, which was compacted ${why}: ${gone} no longer shown. The summary at its beginning stands for ${them}; the messages between that summary and this one are word for word as they were.`,
    ],
  }
  return sentences[place].filter((one) => one !== '').join(' ')
}

const NEWER =
  'Where it differs from the earlier summary above, and from what that says of how to continue, it counts.'
const PICKED =
  'After it come the messages of that part that say how things stand, as they were; a line in square brackets marks each place where others are left out.'

const FOLLOWING: { readonly [stays in Continuation['stays']]: string } = {
  none: '',
  row: 'The messages after it are the newest, word for word and without a gap.',
  pieces:
    'After it come, where there are any, excerpts of files; then older messages that may still be needed and the newest ones, as they were and in order, with long results stored where a line says so; then files that were read again. A line in square brackets marks each place where messages are left out.',
}

function wayBack({ transcriptPath, hasRecall = false, left, stays }: Continuation): readonly string[] {
  // If there are several places, each has its own line.
  const exactly = left && stays !== 'pieces' ? ` (${wayTo(left, hasRecall)})` : ''
  if (hasRecall)
    return [
      `Nothing is lost: ${RECALL_TOOL} shows all of it word for word${exactly}, by id or by words that stood in it. Look there before you guess at a detail.`,
    ]
  if (transcriptPath === undefined) return []
  return [
    `Nothing is lost: the whole is in ${transcriptPath}${exactly}. Look there before you guess at a detail.`,
  ]
}

function titleOf(writer: SummaryWriter = { kind: 'model' }): string {
  switch (writer.kind) {
    case 'model':
      return 'Summary:'
    case 'record':
      return 'Summary, computed from the record of the conversation (no model wrote it):'
    case 'notes': {
      const { messages, tokens } = writer
      const age = amountOf({ messages, results: 0, tokens })
      return messages === 0
        ? 'Summary, made of the notes of this session:'
        : `Summary, made of the notes of this session. They are ${age} older than the compaction; those ${counted(messages, 'message')} are shown below, and where they differ from the notes, they count:`
    }
    default:
      return writer satisfies never
  }
}

const CONTINUE =
  'Continue the work from where it stopped, without asking whether to. Do not acknowledge the summary, do not recap it, do not greet: take the next step as if there had been no break.'

const CONTINUING: { readonly [mode in Continuation['mode']]: readonly string[] } = {
  automatic: [CONTINUE],
  manual: [],
  autonomous: [
    CONTINUE,
    'You work on your own, and this is not your first wake-up: what the summary says was done is done. Continue the running work; do not start over and do not look for a new task.',
  ],
}
