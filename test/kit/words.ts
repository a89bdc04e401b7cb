// One word per concept, as the glossary has it ("Everyday words"): what users read says it in the words that they know.

export interface AvoidedWord {
  readonly avoid: RegExp
  readonly say: string
}

export const AVOIDED: readonly AvoidedWord[] = [
  {
    avoid:
      /\b(?:had|have|has|having|get|got|give[ns]?|gave|bring(?:s|ing)?|brought|puts?|putting) (?:it |them |that |this |one |all |everything )?back\b/i,
    say: 'restore, restored',
  },
  { avoid: /\b(?:take[ns]?|took|taking) (?:it |them |that |this |one |all )?back\b/i, say: 'undo, undone' },
  { avoid: /\b(?:go(?:es|ing)?|gone|went) on with\b/i, say: 'resume, continue' },
  { avoid: /\b(?:go(?:es|ing)?|gone|went) on\b/i, say: 'continue' },
  { avoid: /\b(?:hold|holds|held) against\b/i, say: 'compare with' },
  { avoid: /\bbehind\b/i, say: 'after' },
  { avoid: /\bdear(?:er|est|ly)?\b/i, say: 'expensive, more expensive' },
  { avoid: /\b(?:differences|they|there) are none\b/i, say: 'not significant; no …' },
  { avoid: /\bmend(?:s|ed|ing)?\b/i, say: 'fix, repair' },
  { avoid: /\bputs? (?:it |them )?right\b/i, say: 'fix' },
  { avoid: /\breckon(?:s|ed|ing)?\b/i, say: 'compute, estimate, count' },
  { avoid: /\b(?:said|told) and left out\b/i, say: 'skipped, with a note' },
  { avoid: /\bmay it run\b/i, say: 'Run this command?' },
  { avoid: /\brestore: what\b/i, say: 'Restore which message?' },
  { avoid: /\b(?:anew|afresh)\b/i, say: 'again' },
  { avoid: /\bbut for\b/i, say: 'except' },
  { avoid: /\b(?:in|out)side of\b/i, say: 'inside, outside' },
  { avoid: /\bfor ever\b/i, say: 'permanently, always' },
  { avoid: /\b(?:let|lets) go of\b/i, say: 'removed' },
  { avoid: /\bis (?:said|told of)\b/i, say: 'says, shows, reports' },
]

/** Texts that the model reads, and words that are looked for: bytes of requests and recognisers. Other words there are another matter. */
export const NOT_FOR_USERS: readonly string[] = [
  'packages/palimpsest/src/context/change-view.ts',
  'packages/palimpsest/src/facts/',
  'packages/palimpsest/src/lab/offline/',
  'packages/palimpsest/src/lab/simulator/context/compact.ts',
  'packages/palimpsest/src/layers/3-session-memory/',
  'packages/palimpsest/src/layers/4-compaction/',
  'packages/palimpsest/src/loop/run-turn.ts',
  'packages/palimpsest-cli/src/agent/command/',
  'packages/palimpsest-cli/src/agent/system-prompt.ts',
  'packages/palimpsest-cli/src/agent/tools/',
  'packages/palimpsest-cli/src/run/compaction/read-again.ts',
]
