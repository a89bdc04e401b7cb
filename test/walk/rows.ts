import type { FlagName } from '../../packages/palimpsest/src/flags/flags.ts'
import { isJsonObject, type JsonObject } from '../../packages/palimpsest/src/wire/json.ts'
import type { CommandBench } from '../kit/command-bench.ts'
import { onlyTranscript } from '../kit/headless.ts'
import * as sessions from './sessions.ts'
import type { WalkSession } from './sessions.ts'

// For each flag, a session in which its mechanism acts, and how that can be seen from outside.

export interface WalkRow {
  readonly flag: FlagName
  /** The session, as the table describes it. */
  readonly told: string
  readonly session: WalkSession
  readonly seen: Seen
  /** The value that is not built in. */
  readonly other: boolean | number
  /** For both runs: mechanisms that would otherwise act first. */
  readonly given?: { readonly [flag: string]: boolean }
  /** A note for the table. */
  readonly note?: string
  /** Played by every CI run, not in soak alone. */
  readonly isCheap?: boolean
}

/** What the mechanism did, from the transcript and from what the provider was asked. */
interface Seen {
  readonly what: string
  readonly count: (played: Played) => Promise<number>
}

export interface Played {
  readonly bench: CommandBench
  /** What the command printed in addition to its answers. */
  readonly told: string
  /** How often the list of models was asked for. */
  readonly listed: number
}

export const UNPLAYED: { readonly [N in FlagName]?: string } = {
  'memory-index':
    'on: it adds the index of memories to the first request of a session, and a session without memories has none',
  'memory-stated': 'on: it asks no model, so no session shows it in a bill',
  'memory-extraction':
    'on: after a turn, a fork of its last request at the price of a cache read; all background calls together stay within a tenth of the bill, or $0.05',
  dreaming: 'on: after a day and five sessions, with limits of its own; [its page](layers/6-dreaming.md)',
  agents: 'on: only the model starts agents, with limits of their own; [its page](layers/7-agents.md)',
  'session-socket': 'on: it asks no model; a message costs what its text costs: [messages](messages.md)',
  'daily-cap': 'on: without the setting `limits.dailyCostUsd` it limits nothing',
  'daily-log': 'on: it asks no model, so no session shows it in a bill',
  'recall-index': 'on: it asks no model, so no session shows it in a bill; [its figures](recall.md)',
  'recall-pointers': 'off: recorded sessions do not show that it pays; [its figures](recall-pointers.md)',
  'recall-excerpts': 'off: recorded sessions do not show that it pays; [its figures](recall-pointers.md)',
  'cache-edits': 'off: no public provider offers it',
  'compact-before-expiry':
    'off, and for programs that use the library: the command ends or waits for you, and does not compact while it is idle',
}

const FILLED = 'a window of 60,000 that fills, then 6 short rounds'
const PAUSED = '20 reads, a pause of 62 minutes, 8 short rounds'

export const ROWS: readonly WalkRow[] = [
  row(
    'tool-result-storage',
    false,
    'a result of 150,000 characters, 8 short rounds',
    sessions.largeResult,
    inView('results on disk', '<persisted-output>'),
  ),
  row(
    'tool-result-guard',
    false,
    '28,000 tokens, then 4 reads of 14,000 characters at once, in a window of 60,000',
    sessions.fullWindow,
    inView('results on disk', '<persisted-output>'),
  ),
  row(
    'result-chars-max',
    10_000_000,
    'a result of 150,000 characters, 8 short rounds',
    sessions.largeResult,
    inView('results on disk', '<persisted-output>'),
  ),
  row(
    'answer-chars-max',
    10_000_000,
    '6 results of 45,000 characters in one answer, 8 short rounds',
    sessions.wideAnswer,
    inView('results on disk', '<persisted-output>'),
  ),
  row('micro-cold', false, PAUSED, sessions.longPause, inEdits('results cleared', 'replace'), {
    isCheap: true,
  }),
  row(
    'micro-batch',
    false,
    '40 reads in a window of 60,000',
    sessions.manyReads,
    inEdits('results cleared', 'replace'),
  ),
  row(
    'micro-batch-pays',
    false,
    '20 reads, 250 short rounds',
    sessions.manySteps,
    inEdits('results cleared', 'replace'),
  ),
  row(
    'micro-snip',
    false,
    `${PAUSED}, in a window of 60,000`,
    sessions.longPauseSmall,
    inEdits('messages dropped', 'drop'),
  ),
  row(
    'micro-media',
    false,
    '9 pictures of 3 MB',
    sessions.pictures,
    inEdits('pictures that became markers', 'replace'),
    { note: 'without it the provider refuses the request, and a compaction makes room' },
  ),
  row(
    'micro-digest',
    false,
    PAUSED,
    sessions.longPause,
    inView('stand-ins with a digest', /(?:to see it whole|shows it as it was)\\+n/),
    { note: 'the price of what they still say' },
  ),
  row(
    'server-clearing',
    true,
    '40 reads in a window of 60,000, on Opus 4.6',
    sessions.manyReadsCleared,
    byServer(),
  ),
  row('session-memory', false, FILLED, sessions.filledPlain, asked('notes written', 'session-memory')),
  row('session-memory-eager', true, FILLED, sessions.filledPlain, asked('notes written', 'session-memory')),
  row('compaction-from-notes', false, FILLED, sessions.filledPlain, by('notes')),
  row(
    'auto-compact',
    false,
    FILLED,
    sessions.filledPlain,
    boundaries('compactions', () => true),
    { note: 'without it the turn ends with a full window' },
  ),
  row(
    'reactive-only',
    true,
    'answers until the window of 200,000 is full, on Haiku 4.5, 3 short rounds',
    sessions.overflowing,
    overThreshold(),
  ),
  row('prepared-compaction', false, `${FILLED}, without notes`, sessions.filledPlain, by('prepared'), {
    given: { 'session-memory': false },
  }),
  row(
    'compaction-fork',
    false,
    `${FILLED}, with nothing in the background`,
    sessions.filledPlain,
    by('fork'),
    { given: { 'background-calls': false } },
  ),
  row('server-compaction', false, `${FILLED}, on Opus 5.5`, sessions.filledSigning, by('server')),
  row('collapse', true, FILLED, sessions.filledPlain, inEdits('messages folded', 'drop')),
  row('cache-break-detection', false, 'another system prompt in the middle', sessions.otherPrompt, breaks(), {
    isCheap: true,
  }),
  row('cache-hour', false, '20 reads, 6 pauses of 15 minutes', sessions.manyPauses, hours()),
  row('model-list', false, '6 short rounds', sessions.shortTalk, listed(), { isCheap: true }),
  row('background-calls', false, FILLED, sessions.filledPlain, asked('background calls', 'session-memory')),
]

function row(
  flag: FlagName,
  other: boolean | number,
  told: string,
  session: WalkSession,
  seen: Seen,
  more: Pick<WalkRow, 'given' | 'note' | 'isCheap'> = {},
): WalkRow {
  return { flag, other, told, session, seen, ...more }
}

/** In the last request of the conversation. */
function inView(what: string, words: string | RegExp): Seen {
  const count = async ({ bench }: Played) =>
    JSON.stringify(bench.asked('main').at(-1)?.body ?? '').split(words).length - 1
  return { what, count }
}

function inEdits(what: string, member: 'replace' | 'drop'): Seen {
  const lengthOf = ({ subtype, palimpsest }: JsonObject): number => {
    const list = subtype === 'edit' && isJsonObject(palimpsest) ? palimpsest[member] : undefined
    return Array.isArray(list) ? list.length : 0
  }
  return {
    what,
    count: async ({ bench }) => (await onlyTranscript(bench)).reduce((sum, line) => sum + lengthOf(line), 0),
  }
}

function byServer(): Seen {
  const isOne = ({ subtype, palimpsest }: JsonObject): boolean =>
    subtype === 'edit' && isJsonObject(palimpsest) && palimpsest['cause'] === 'server'
  return {
    what: 'clearings by the provider',
    count: async ({ bench }) => (await onlyTranscript(bench)).filter(isOne).length,
  }
}

function asked(what: string, source: string): Seen {
  return { what, count: async ({ bench }) => bench.asked(source).length }
}

function boundaries(what: string, isCounted: (path: unknown) => boolean): Seen {
  return {
    what,
    count: async ({ bench }) =>
      (await onlyTranscript(bench)).filter(
        ({ subtype, compactMetadata: meta }) =>
          subtype === 'compact_boundary' && isCounted(isJsonObject(meta) ? meta['path'] : undefined),
      ).length,
  }
}

function by(path: string): Seen {
  return boundaries(`compactions by ${path}`, (one) => one === path)
}

/** Where a window of 200,000 compacts. */
const AUTO_TOKENS = 167_000

function overThreshold(): Seen {
  return {
    what: 'requests over the threshold',
    count: async ({ bench }) =>
      bench.asked('main').filter(({ input_tokens: tokens }) => tokens > AUTO_TOKENS).length,
  }
}

function breaks(): Seen {
  return {
    what: 'breaks reported',
    count: async ({ told }) => told.split('the prompt cache broke').length - 1,
  }
}

function hours(): Seen {
  return {
    what: 'requests that bought an hour for messages',
    count: async ({ bench }) =>
      bench
        .asked('main')
        .slice(1)
        .filter(({ usage }) => (usage?.cache_creation?.ephemeral_1h_input_tokens ?? 0) > 0).length,
  }
}

function listed(): Seen {
  return {
    what: 'requests for the list of models',
    count: async ({ listed: times }) => times,
  }
}
