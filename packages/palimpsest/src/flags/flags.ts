// A flag for every automatic mechanism. A flag is read when a decision is made: turned off, it stops new decisions, but what the transcript
// has stays, and no sent byte changes. What shapes the prefix (system, tools, thinking) is never a flag.

export type FlagValue = boolean | number

/** The layer whose decisions read it; `around`: none of the layers. */
export type FlagLayer = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 'around'

interface FlagFacts {
  readonly layer: FlagLayer
  /** `later`: the name is reserved, and nothing reads it yet. */
  readonly since: '0.1' | 'later'
  /** What happens while it is on, or what the number limits. */
  readonly what: string
}

export interface SwitchFlag extends FlagFacts {
  readonly type: 'boolean'
  readonly builtIn: boolean
}

export interface NumberFlag extends FlagFacts {
  readonly type: 'number'
  readonly builtIn: number
  readonly min: number
  readonly max: number
  /** `name:Tool` sets it for one tool. */
  readonly perTool: boolean
}

export type Flag = SwitchFlag | NumberFlag

export const FLAGS = {
  'tool-result-storage': on(
    1,
    '0.1',
    'a result over its limit goes to disk; if all results of an answer are over theirs, so do the largest',
  ),
  'tool-result-guard': on(
    1,
    '0.1',
    'results that were not sent yet go to disk, largest first, until the next request fits',
  ),
  'result-chars-max': {
    type: 'number',
    builtIn: 50_000,
    // Below this, a preview would be no smaller than what it replaces.
    min: 5_000,
    max: 10_000_000,
    perTool: true,
    layer: 1,
    since: '0.1',
    what: 'characters of one result, in a full-size window; a tool with a smaller limit of its own keeps it',
  },
  'answer-chars-max': {
    type: 'number',
    builtIn: 200_000,
    min: 20_000,
    max: 100_000_000,
    perTool: false,
    layer: 1,
    since: '0.1',
    what: 'characters that all results of one answer share, in a full-size window',
  },
  'micro-cold': on(2, '0.1', 'clearing when the cache has expired'),
  'micro-batch': on(2, '0.1', 'clearing in batches while the cache is warm'),
  'micro-batch-pays': on(2, '0.1', 'batches that pay for themselves, not only when space is short'),
  'micro-snip': on(2, '0.1', 'an edit also removes superseded rounds'),
  'micro-media': on(2, '0.1', 'the oldest media become markers when the request nears its limit of bytes'),
  'micro-digest': on(2, '0.1', 'stand-ins keep the identifiers that first appeared in the result'),
  'cache-edits': off(2, '0.1', 'clearing by edits of the cache, where provider and model support them'),
  'server-clearing': off(2, '0.1', 'clearing on the server, for models that do not bind thinking'),
  'session-memory': on(3, '0.1', 'notes of the conversation'),
  'session-memory-eager': off(3, '0.1', 'notes are written as the conversation grows, not once'),
  'compaction-from-notes': on(3, '0.1', 'the notes become the summary if they are good enough'),
  'auto-compact': on(4, '0.1', 'all automatic compactions: by threshold, after an overflow, prepared'),
  'reactive-only': off(
    4,
    '0.1',
    'no threshold and no blocking; only a refusal by the provider starts a compaction',
  ),
  'prepared-compaction': on(
    4,
    '0.1',
    'a summary written in the background before the threshold is crossed, if the notes will not be the summary',
  ),
  'compaction-fork': on(4, '0.1', 'the request for a summary extends the cached prefix'),
  'server-compaction': on(
    4,
    '0.1',
    'signed compaction on the server, if the model binds thinking and supports it',
  ),
  'compact-before-expiry': off(
    4,
    '0.1',
    'a long idle conversation is compacted shortly before its cache expires',
  ),
  collapse: off(4, '0.1', 'the oldest spans are folded one by one, instead of a compaction by threshold'),
  'memory-index': on(5, '0.1', 'the index of memories is shown when a conversation begins or was compacted'),
  'memory-stated': on(
    5,
    '0.1',
    'what you ask to be remembered is written to memory when a turn ends, without a model',
  ),
  'memory-extraction': on(5, '0.1', 'what will matter later is written to memory when a turn ends'),
  'daily-log': on(5, '0.1', 'one line per turn in the log of the day'),
  dreaming: on(6, '0.1', 'memory is consolidated after a day and five sessions'),
  agents: on(7, '0.1', 'the model may start agents'),
  'session-socket': on(7, '0.1', 'other sessions of yours can write to this one'),
  'agent-summary': on(7, 'later', 'a few words on what an agent is doing'),
  'cache-break-detection': on('around', '0.1', 'a shortfall of cache reads is reported with its cause'),
  'recall-pointers': off(
    'around',
    '0.1',
    'after a search or an edit that names something found only outside the window, one line says where it was',
  ),
  'recall-excerpts': off('around', '0.1', 'instead of that line, five lines of what was there'),
  'cache-hour': on(
    'around',
    '0.1',
    'an hour in the cache is bought if the pauses in the conversation make it worth its price',
  ),
  'recall-index': on('around', '0.1', 'the index of the project follows its sessions, in the background'),
  'model-list': on(
    'around',
    '0.1',
    'the provider is asked once a day how large the windows of its models are',
  ),
  'daily-cap': on(
    'around',
    '0.1',
    'no request exceeds what the setting `limits.dailyCostUsd` allows per day',
  ),
  'background-calls': on('around', '0.1', 'all model calls that no user and no answer waits for'),
} as const satisfies { readonly [name: string]: Flag }

export type FlagName = keyof typeof FLAGS
export type SwitchName = { [N in FlagName]: (typeof FLAGS)[N] extends SwitchFlag ? N : never }[FlagName]
export type NumberKey = Exclude<FlagName, SwitchName> | `result-chars-max:${string}`

function on(layer: FlagLayer, since: Flag['since'], what: string): SwitchFlag {
  return { type: 'boolean', builtIn: true, layer, since, what }
}

function off(layer: FlagLayer, since: Flag['since'], what: string): SwitchFlag {
  return { type: 'boolean', builtIn: false, layer, since, what }
}
