// Whether the user wants something done that searching and quoting cannot do: files changed, commands run.

const WORK_VERBS = new Set(
  `add adjust annotate append apply bring build bump change clean comment commit compile complete configure continue convert copy correct create
  debug decrease delete deploy disable do document downgrade draft drop edit enable ensure execute extend extract finish fix format generate give
  handle hook implement improve increase inline insert install integrate introduce kill launch lint lower make mend merge migrate modify move open
  optimise optimize patch port prepare publish pull push put raise rebase redo reduce refactor reformat release remove rename reorder repair
  replace reset resolve restart restore restructure revert rewrite run save scaffold send set shorten simplify solve sort split squash start stop
  support swap switch tag test tidy translate turn undo uninstall update upgrade upload use wire wrap write`.split(
    /\s+/,
  ),
)

/** A question asks where or how, so it is searched for, whatever verb it contains. */
const QUESTION_START =
  /^(?:how|why|where|what|whats|which|who|whose|when|is|are|was|were|does|do (?:we|you|they|i|the)|did|has|have|should|in which)\b/
/** Words before the verb that turn it into a wish. */
const POLITE =
  /^(?:(?:and|then|now|next|also|ok|okay|so|just|yes|well|hey|hi|hello|please|kindly|first|finally|instead|let'?s|let us|go ahead and|go on and|try to|try and|help me(?: to)?|(?:can|could|would|will) (?:you|we)(?: please| also| now)?|i(?:'d| would)? (?:like|want|need) you to|i(?:'d| would) like to|i want to|i need to|we need to|we should|you should|you must|you need to|your task is to|make sure (?:to|that you))[\s,:]+)+/
/** Statements about how something should be: a wish, not a question. */
const WISH =
  /^(?:i|we)(?:'d| would)? (?:want|need|like|wish|prefer) (?!(?:you )?to (?:know|understand|see|find|learn|read|look|hear|ask|figure|explain|tell|show|search|list|describe|quote)\b|(?:an? |some |the )?(?:explanation|overview|list|summary|idea|answer|help)\b)/
const DEMAND = /\b(?:should|must|ought to|needs? to|ha(?:s|ve) to)\b/
/** What follows these words only says which thing is meant. */
const RELATIVE = /\b(?:that|which|who|whose|what|where|why|how|when|whether|if)\b/
const CLAUSE_END = /[.;:!?\n]+|,\s+|(?<!\s)\s+(?:and|then|but|so)\s+/

/** Longer texts are documents: what is wanted is at their beginning or end. */
const READ_CHARS_MAX = 2_000

export function asksForWork(asked: string): boolean {
  const text =
    asked.length > 2 * READ_CHARS_MAX
      ? `${asked.slice(0, READ_CHARS_MAX)}\n${asked.slice(-READ_CHARS_MAX)}`
      : asked
  const lower = withoutQuotes(text).toLowerCase().replaceAll('’', "'")
  const sentences = sentencesOf(lower)
  // Sentences beside a question are what the question is about.
  const isAsking = sentences.some(({ words, isQuestion }) => isQuestion || QUESTION_START.test(words))
  if (!isAsking && sentences.some(({ words }) => isWish(words))) return true
  return sentences.some(({ words, isQuestion }) => {
    const wish = words.replace(POLITE, '')
    if (isQuestion && (wish === words || QUESTION_START.test(wish))) return false
    if (QUESTION_START.test(words)) return false
    return clausesOf(words).some(isOrder)
  })
}

function isWish(sentence: string): boolean {
  if (/^(?:i|we)\b/.test(sentence)) return WISH.test(sentence)
  const demand = DEMAND.exec(sentence)
  return demand !== null && demand.index > 0 && !RELATIVE.test(sentence.slice(0, demand.index))
}

/** The user talks about text in quotes or code. */
function withoutQuotes(text: string): string {
  return text.replaceAll(/```[^]*?```|`[^`\n]*`|"[^"\n]*"|“[^“”\n]*”/g, ' it ')
}

function sentencesOf(text: string): readonly { readonly words: string; readonly isQuestion: boolean }[] {
  return [...text.matchAll(/[^.!?\n]+[.!?\n]*/g)].map(([sentence]) => ({
    words: sentence.trim(),
    isQuestion: sentence.includes('?'),
  }))
}

function clausesOf(sentence: string): readonly string[] {
  return sentence.split(CLAUSE_END).map((clause) => clause.trim())
}

/** A verb of work, followed by something that it is done to. */
function isOrder(clause: string): boolean {
  const [verb = '', object] = clause.replace(POLITE, '').match(/[a-z']+/g) ?? []
  return object !== undefined && WORK_VERBS.has(verb)
}
