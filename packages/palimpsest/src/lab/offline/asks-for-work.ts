// Whether somebody wants something done that searching and quoting cannot do: files changed, commands run.

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

/** A question asks where or how, and is searched for, whatever verb is in it. */
const QUESTION_START =
  /^(?:how|why|where|what|whats|which|who|whose|when|is|are|was|were|does|do (?:we|you|they|i|the)|did|has|have|should|in which)\b/
/** Words before the verb that make a wish of it. */
const POLITE =
  /^(?:(?:and|then|now|next|also|ok|okay|so|just|yes|well|hey|hi|hello|please|kindly|first|finally|instead|let'?s|let us|go ahead and|go on and|try to|try and|help me(?: to)?|(?:can|could|would|will) (?:you|we)(?: please| also| now)?|i(?:'d| would)? (?:like|want|need) you to|i(?:'d| would) like to|i want to|i need to|we need to|we should|you should|you must|you need to|your task is to|make sure (?:to|that you))[\s,:]+)+/
const CLAUSE_END = /[.;:!?\n]+|,\s+|(?<!\s)\s+(?:and|then|but|so)\s+/

/** Longer texts are documents: what is wanted stands at their beginning or their end. */
const READ_CHARS_MAX = 2_000

export function asksForWork(asked: string): boolean {
  const text =
    asked.length > 2 * READ_CHARS_MAX
      ? `${asked.slice(0, READ_CHARS_MAX)}\n${asked.slice(-READ_CHARS_MAX)}`
      : asked
  const lower = withoutQuotes(text).toLowerCase().replaceAll('’', "'")
  return sentencesOf(lower).some(({ words, isQuestion }) => {
    const wish = words.replace(POLITE, '')
    if (isQuestion && (wish === words || QUESTION_START.test(wish))) return false
    if (QUESTION_START.test(words)) return false
    return clausesOf(words).some(isOrder)
  })
}

/** What stands in quotes or code is talked about. */
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

/** A verb of work first, and something that it is done to. */
function isOrder(clause: string): boolean {
  const [verb = '', object] = clause.replace(POLITE, '').match(/[a-z']+/g) ?? []
  return object !== undefined && WORK_VERBS.has(verb)
}
