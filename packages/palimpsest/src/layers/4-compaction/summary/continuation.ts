import { RECALL_TOOL } from '../../../transcript/recall-tool.ts'

export interface Continuation {
  /** `automatic`: in the middle of work. `manual`: the user asked for it. `autonomous`: nobody watches; the agent was woken by itself. */
  readonly mode: 'automatic' | 'manual' | 'autonomous'
  /** The proven summary. */
  readonly summary: string
  /** Undefined where the conversation is not on disk. */
  readonly transcriptPath?: string
  /** The model can see again what left its view. */
  readonly hasRecall?: boolean
  /** Messages of the earlier part follow the summary as they were. */
  readonly keepsTail: boolean
  /** The summary stands where the provider put it, before the kept messages: what is given here as one is what it left out. */
  readonly isSigned?: boolean
}

const STANDS_BELOW =
  'This conversation continues an earlier one that had filled the context window. The summary below stands for its earlier part.'
const STANDS_FIRST =
  'This conversation continues an earlier one that had filled the context window. The summary at its beginning stands for the earlier part; the messages behind it are as they were.'

/** The text of the message that stands for the earlier conversation. */
export function continuationText({
  mode,
  summary,
  transcriptPath,
  keepsTail,
  isSigned = false,
  hasRecall = false,
}: Continuation): string {
  const where = wayBack(transcriptPath, hasRecall)
  const tail = keepsTail && !isSigned ? ['The newest messages follow the summary as they were.'] : []
  return [
    isSigned ? STANDS_FIRST : STANDS_BELOW,
    ...where,
    ...tail,
    ...(summary === '' ? [] : [summary]),
    ...GOING_ON[mode],
  ].join('\n\n')
}

function wayBack(path: string | undefined, hasRecall: boolean): readonly string[] {
  const isIn = path === undefined ? '' : ` It is in ${path}.`
  if (hasRecall)
    return [
      `Nothing is lost: ${RECALL_TOOL} shows any part of the earlier conversation word for word, by words (query) or by an id that stands here in brackets (id).${isIn} Look there before you guess at a detail.`,
    ]
  return path === undefined
    ? []
    : [`Nothing is lost: the whole conversation is in ${path}. Look there before you guess at a detail.`]
}

const GO_ON =
  'Go on with the work from where it stopped, without asking whether to. Do not acknowledge the summary, do not recap it, do not greet: take the next step as if there had been no break.'

const GOING_ON: { readonly [mode in Continuation['mode']]: readonly string[] } = {
  automatic: [GO_ON],
  manual: [],
  autonomous: [
    GO_ON,
    'You work on your own, and this is not your first wake-up: what the summary says was done is done. Continue the running work; do not start over and do not look for a new task.',
  ],
}
