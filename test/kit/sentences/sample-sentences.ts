import { createHash } from 'node:crypto'

import type { RecordedSentence } from './recorded-sentences.ts'

// Which of a session's sentences are in the labelled list. Users mostly ask and report, so sentences that could tell the agent how to
// behave come first: all with a word of command, wish, permission or limit, in the languages of the recordings. Of the others a few, at
// random. The words choose what is read; they say nothing about its label.

/** No session may dominate the list: 40 of each at most, two of them chosen by hand, because drawing finds hardly any revocation. */
const DRAWN_PER_SESSION_MAX = 38
/** Of sentences without such a word. Some sessions hold a thousand lines of pasted logs. */
const OTHERS_PER_SESSION_MAX = 10
/** A message with more sentences is mostly a pasted document or log: it comes after what the user typed. */
const TYPED_SENTENCES_MAX = 15
const SEED = 'standing sentences, first draw'

/** A sentence that a session repeats counts once. In the order of the session. */
export function sampleSentences(sentences: readonly RecordedSentence[]): RecordedSentence[] {
  const lengths = Map.groupBy(sentences, ({ entry }) => entry)
  const rank = ({ entry, text }: RecordedSentence): number =>
    ((lengths.get(entry)?.length ?? 0) <= TYPED_SENTENCES_MAX ? 0 : 2) + (STRONG.test(text) ? 0 : 1)
  const first = new Map(sentences.toReversed().map((sentence) => [sentence.text, sentence]))
  const drawn = [...first.values()].toSorted((a, b) => (drawKey(a) < drawKey(b) ? -1 : 1))
  const cued = drawn
    .filter(({ text }) => hasCue(text))
    .toSorted((a, b) => rank(a) - rank(b))
    .slice(0, DRAWN_PER_SESSION_MAX)
  const others = drawn
    .filter(({ text }) => !hasCue(text))
    .slice(0, Math.min(OTHERS_PER_SESSION_MAX, DRAWN_PER_SESSION_MAX - cued.length))
  const picked = new Set([...cued, ...others])
  return sentences.filter((sentence) => picked.has(sentence))
}

export function hasCue(text: string): boolean {
  return STRONG.test(text) || ANYWHERE.test(text) || AT_START.test(text) || OTHER_LANGUAGES.test(text)
}

function drawKey({ session, entry, index }: RecordedSentence): string {
  return createHash('sha256').update([SEED, session, entry, index].join('\n')).digest('hex')
}

/** Of duty, prohibition and duration: read first where a session has more than fits. */
const STRONG = anyOf(
  "must|mustn['’]?t|should|shouldn['’]?t|shall|ought|needs? to|have to|has to|required?|requirement|supposed to|prefer|rather",
  "always|never|only|every|each time|do not|don['’]?t|dont|without|instead|unless|until|no need|make sure|ensure|remember|forget|keep",
  'avoid|stick to|stop|ignore|leave|rules?|convention|standards?|policy|from now on|going forward|in (?:the )?future|no longer|whenever',
)

const ANYWHERE = anyOf(
  "needs?|can|could|may|might|would|will|won['’]?t|want|wants|like to|love|hate|value|just|each|all|any|anything|everything|no|none|not",
  "can['’]?t|please|pls|let['’]?s|lets|let|sure|mind|note|careful|carefully|attention|stick|skip|style|constraint|strictly|exactly",
  'explicitly|anymore|any more|by default|feel free|allowed|before|after|first|commit|commits|push|branch|worktree|tests?',
)

const AT_START =
  /^(?:(?:ok|okay|yes|yeah|yep|no|and|also|then|now|but|so|alright|hmm|first|next|go ahead and|you|i|we|do|be)[,.]?\s+)*(?:add|adopt|address|allow|answer|apply|ask|build|change|check|clean|close|combine|compare|consider|continue|copy|create|debug|delete|deploy|describe|do|draft|drop|explain|explore|fetch|find|fix|focus|follow|format|get|give|go|grill|identify|implement|improve|include|install|investigate|limit|list|log|look|make|mark|merge|migrate|move|name|omit|open|pick|print|proceed|propose|provide|put|raise|read|rebase|redo|refactor|reflect|reject|release|remove|rename|reply|report|research|resolve|restart|restructure|retry|revert|review|revise|rewrite|roll|run|scrub|search|send|set|setup|show|simplify|spawn|split|spwan|start|stub|submit|suggest|switch|tag|take|talk|tell|test|treat|try|undo|update|upgrade|use|verify|wait|work|wrap|write)(?![\p{L}\p{N}_])/iu

/** Portuguese, Chinese, Japanese and Korean: the other languages that users of the recordings write. */
const OTHER_LANGUAGES =
  /(?<![\p{L}])(?:não|nunca|sempre|só|deve|devia|tem que|tens que|precis\p{L}+|queria|antes|faz|cria|merge|testa|lança|documenta|decide|actualiza|segue|mostra\p{L}*|torna|explica|coloca\p{L}*|usa|uses)(?![\p{L}])|[不别要请必须只总都应让先再]|して|てください|ように|べき|たい|ないで|必ず|だけ|には|英語|してくだ|해주|해줘|하지|말고|항상|반드시|완료|하세요/iu

function anyOf(...words: readonly string[]): RegExp {
  return new RegExp(`(?<![\\p{L}\\p{N}_])(?:${words.join('|')})(?![\\p{L}\\p{N}_])`, 'iu')
}
