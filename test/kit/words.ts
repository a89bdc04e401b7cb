import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { ROOT } from './source-tree.ts'

// One word per concept, as the glossary has it: what users read says it in the words that they know. The glossary's column "avoid" is
// the list of words; here is how their forms are found, and which of them also have a meaning of their own.

export interface AvoidedWord {
  readonly avoid: RegExp
  readonly say: string
}

/** It names the words to avoid. */
export const GLOSSARY = 'docs/glossary.md'

/** Up to three words, as "the old results", or `…` for an expression of the source. */
const WORDS = '(?: [^ .,;:]+){0,3}'

/** Words of the glossary that have forms, or are wrong in one place of a sentence only. The others are looked for as they are. */
export const PATTERNS: readonly AvoidedWord[] = [
  {
    avoid: new RegExp(
      String.raw`\b(?:had|have|has|having|gets?|getting|got|give[ns]?|gave|giving|bring(?:s|ing)?|brought|puts?|putting)${WORDS} back\b`,
      'i',
    ),
    say: 'restore, restored',
  },
  {
    avoid: new RegExp(String.raw`\b(?:take[ns]?|took|taking)${WORDS} back\b`, 'i'),
    say: 'undo, undone',
  },
  { avoid: /\b(?:go(?:es|ing)?|gone|went) on with\b/i, say: 'resume, continue' },
  { avoid: /\b(?:go(?:es|ing)?|gone|went) on\b/i, say: 'continue' },
  { avoid: new RegExp(String.raw`\b(?:holds?|holding|held)${WORDS} against\b`, 'i'), say: 'compare with' },
  { avoid: /\bdear(?:er|est|ly)?\b/i, say: 'expensive, more expensive' },
  { avoid: /\b(?:differences|they|there)(?: that)? "?are none\b/i, say: 'not significant; no …' },
  { avoid: /\bmend(?:s|ed|ing)?\b/i, say: 'fix, repair' },
  {
    avoid: new RegExp(String.raw`\b(?:puts?|putting)${WORDS} right\b(?! after| before)`, 'i'),
    say: 'fix',
  },
  { avoid: /\breckon(?:s|ed|ing)?\b/i, say: 'compute, estimate, count' },
  { avoid: /\b(?:said|told) and left out\b/i, say: 'skipped, with a note' },
  { avoid: /\bmay it run\b/i, say: 'Run this command?' },
  { avoid: /\brestore: what\b/i, say: 'Restore which message?' },
  { avoid: /\bis (?:said|told of)\b/i, say: 'says, shows, reports' },
  { avoid: /\b(?:tells?|told|telling) of\b/i, say: 'says, shows, reports' },
  {
    avoid: /\bwhat (?:has |have |had )?(?:went|gone)\b(?! (?:wrong|well|through))/i,
    say: 'removed',
  },
  {
    avoid: /\b(?:takes?|took|taken|taking)(?: it| them| that| this)? out\b/i,
    say: 'removed',
  },
  { avoid: /\b(?:let|lets|letting)(?: [^ .,;:]+)? go of\b/i, say: 'removed' },
  { avoid: /\ball (?:[^ .,;:]+ ){0,2}but\b/i, say: 'except' },
  { avoid: /(?<=^|[.;:!?] )else\b/i, say: 'otherwise' },
  { avoid: /\b(?:stands?|lies) in\b(?! the way)/i, say: 'is in' },
]

interface OtherMeaning {
  readonly words: readonly string[]
  readonly meaning: string
}

/**
 * Words of the column "avoid" that are right in another sense, which a search cannot tell from the one to avoid. Words that the glossary
 * itself uses for another concept, or explains in parentheses, need no row.
 */
export const OTHER_MEANINGS: readonly OtherMeaning[] = [
  { words: ['as it is'], meaning: 'unchanged' },
  { words: ['is told'], meaning: 'somebody is told something' },
  { words: ['policy'], meaning: 'a public name of the library' },
  { words: ['completion', 'chat'], meaning: 'of a shell and of a task; names of other APIs' },
  {
    words: ['part', 'chunk', 'item', 'event', 'record'],
    meaning: 'of anything; of a stream, an index, a list',
  },
  { words: ['checkpoint'], meaning: 'of files, before the agent changes them' },
  { words: ['marker'], meaning: 'in the place of removed media; of a cache' },
  { words: ['normalised'], meaning: 'of words that are compared' },
  { words: ['branch', 'clone', 'revert', 'stage'], meaning: 'of git' },
  { words: ['thread', 'container', 'iteration', 'citation'], meaning: 'of the Messages API' },
  { words: ['digest'], meaning: 'the few lines that stay of a cleared result' },
  { words: ['stale'], meaning: 'of a path, a lock, a result' },
  { words: ['phase'], meaning: 'of a dream, and a name of traces' },
  {
    words: ['lock', 'log', 'header', 'offset', 'context', 'delete'],
    meaning: 'of files, requests and prompts',
  },
  { words: ['keep', 'decision', 'action', 'service', 'mention', 'history'], meaning: 'everyday words' },
  {
    words: ['safe', 'validation', 'caller', 'backend', 'placeholder'],
    meaning: 'everyday words of programmers',
  },
  { words: ['rule', 'constraint'], meaning: 'of permissions; a class of standing words' },
]

export interface GlossaryWord {
  /** As the glossary has it. */
  readonly word: string
  readonly say: string
  /** The glossary explains its other meaning. */
  readonly isExplained: boolean
}

export interface Glossary {
  /** Words that we use, for some concept. */
  readonly used: ReadonlySet<string>
  readonly avoided: readonly GlossaryWord[]
}

/** Both tables, whose third column is what to avoid. The word to say is bold in the second one, or the whole first one. */
export function readGlossary(text: string = readFileSync(join(ROOT, GLOSSARY), 'utf8')): Glossary {
  const rows = text.split('\n').flatMap((line) => {
    const [, first, second, third] = line.split('|').map((cell) => cell.trim())
    if (first === undefined || second === undefined || third === undefined) return []
    return third === 'avoid' || first.startsWith('---') ? [] : [{ first, second, third }]
  })
  return {
    used: new Set(
      rows.flatMap(({ first, second }) => [...first.split(', '), ...boldIn(`${first} ${second}`)]),
    ),
    avoided: rows.flatMap(({ first, second, third }) =>
      third.split(', ').flatMap((cell) => {
        const word = cell.replace(/ \(.*\)$/, '')
        const say = second.startsWith('**') ? second.replaceAll('**', '') : first
        return word === '' ? [] : [{ word, say, isExplained: word !== cell }]
      }),
    ),
  }
}

function boldIn(text: string): readonly string[] {
  return Array.from(text.matchAll(/\*\*(.+?)\*\*/g), ([, word]) => word ?? '')
}

/** What to look for: the patterns, and every other word of the glossary that has no meaning of its own. */
export function avoidedWords({ used, avoided }: Glossary = readGlossary()): readonly AvoidedWord[] {
  const others = new Set(OTHER_MEANINGS.flatMap(({ words }) => words))
  const plain = avoided.filter(
    ({ word, isExplained }) => !isExplained && !used.has(word) && !others.has(word) && !patternFor(word),
  )
  return [
    ...PATTERNS,
    ...plain.map(({ word, say }) => ({
      avoid: new RegExp(String.raw`\b${word.replaceAll(/[^\w\s-]/g, String.raw`\$&`)}(?:s|d|ed|ing)?\b`, 'i'),
      say,
    })),
  ]
}

export function patternFor(word: string): AvoidedWord | undefined {
  return PATTERNS.find(({ avoid }) => avoid.test(word))
}

interface Exceptions {
  readonly reason: string
  /** Of each file only these words, and not in texts that by their syntax only users read. */
  readonly files: Readonly<Record<string, readonly string[]>>
}

const SRC = 'packages/palimpsest/src'
const AGENT = 'packages/palimpsest-cli/src/agent'

/** Texts that have such words for a reason. */
export const EXCEPTIONS: readonly Exceptions[] = [
  {
    reason:
      'The model reads it, and these bytes are measured, cached and recorded: the prompt and the tools.',
    files: {
      [`${AGENT}/system-prompt.ts`]: ['go on'],
      [`${AGENT}/tools/agent-tool.ts`]: ['side by side'],
      [`${AGENT}/tools/ask-user-tool.ts`]: ['go on'],
      [`${AGENT}/tools/bash-tool.ts`]: ['go on', 'goes on', 'outside of'],
      [`${AGENT}/tools/edit-tool.ts`]: ['stands in'],
      [`${AGENT}/tools/page.ts`]: ['go on', 'go on with'],
      [`${AGENT}/tools/read-tool.ts`]: ['behind', 'go on'],
      [`${AGENT}/tools/recall-tool.ts`]: ['go on', 'goes on', 'stands in'],
    },
  },
  {
    reason:
      'The model reads it, and these bytes are measured, cached and recorded: requests of the layers and the loop.',
    files: {
      [`${SRC}/context/change-view.ts`]: ['brought back'],
      [`${SRC}/layers/1-tool-results/stand-in.ts`]: ['tells of'],
      [`${SRC}/layers/3-session-memory/prompt.ts`]: ['anew'],
      [`${SRC}/layers/3-session-memory/template.ts`]: ['mended'],
      [`${SRC}/layers/4-compaction/summary/prompt.ts`]: [
        'go on',
        'going on',
        'in front of',
        'made up',
        'mended',
      ],
      [`${SRC}/layers/4-compaction/summary/server-compaction.ts`]: ['go on', 'mended'],
      [`${SRC}/lab/offline/extract/write-notes.ts`]: ['mended'],
      [`${SRC}/loop/run-turn.ts`]: ['go on'],
    },
  },
  {
    reason: 'Words that are looked for in what users and programs write.',
    files: {
      [`${AGENT}/command/proven/git-grammar.ts`]: ['behind'],
      [`${SRC}/facts/standing/english-duties.ts`]: ['go on'],
      [`${SRC}/facts/standing/english-unwanted.ts`]: ['preamble', 'stubs'],
      [`${SRC}/facts/standing/english-work.ts`]: ['execute'],
      [`${SRC}/lab/offline/asks-for-work.ts`]: ['execute', 'mend'],
      [`${SRC}/lab/offline/words/expressions.ts`]: ['execute'],
      [`${SRC}/lab/offline/words/irregular-forms.ts`]: ['verification'],
      [`${SRC}/lab/offline/words/related-words.ts`]: [
        'dear',
        'exchange',
        'execute',
        'mend',
        'perform',
        'reply',
        'stub',
      ],
      [`${SRC}/lab/offline/words/word-classes.ts`]: ['behind', 'dear', 'hot'],
      [`${SRC}/lab/replay/measure/common-words.ts`]: ['else'],
      [`${SRC}/tokens/overflow.ts`]: ['context length'],
    },
  },
  {
    reason: 'Errors as other providers word them.',
    files: { [`${SRC}/lab/simulator/overflow-formats.ts`]: ['context length'] },
  },
  { reason: 'A key of a file.', files: { [`${SRC}/facts/encode-facts.ts`]: ['mended'] } },
  {
    reason: 'Names that other programs give to what they do.',
    files: {
      'docs/peers/README.md': ['pruning'],
      'docs/peers/gemini-cli.md': ['masking'],
      'docs/peers/opencode.md': ['pruning'],
    },
  },
  {
    reason: 'A recorded conversation with the words of its day, and the picture of it.',
    files: {
      'packages/palimpsest-cli/demo/session.jsonl': ['go on', 'side by side', 'stands in'],
    },
  },
]
