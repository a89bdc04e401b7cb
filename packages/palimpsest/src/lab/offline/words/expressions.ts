import { stem } from './stem.ts'

// Expressions of several words for what code says in one. Operators are words here too: `<`, `>`, `??`.

const EXPRESSIONS: readonly (readonly [expression: RegExp, words: string])[] = [
  [
    /\b(?:at most|up to|no more than)\b|\bhow (?:many|much|large|big|long|far|deep|high|often)\b.*\b(?:may|can|could|allowed|at most)\b/,
    'max limit',
  ],
  [/\bat least\b/, 'min'],
  [/\b(?:three|four|five|six|seven|eight|nine|ten|twenty|hundred) \w+s\b/, 'max limit'],
  [/\bhow long\b/, 'timeout ms duration'],
  [/\bhow often\b|\bhow many times\b/, 'attempts times retries interval'],
  [/\bhow old\b/, 'age'],
  [
    /\b(?:more|longer|larger|greater) than\b|\btoo (?:many|much|long|large|big|often|deep)\b|\bis reached\b|\bexceed/,
    '> exceed max overflow',
  ],
  [/\b(?:less|fewer|shorter|smaller) than\b|\btoo (?:short|small|few)\b/, '< min'],
  [/\b(?:left|leaves?) out\b|\bkept out\b|\bpassed over\b/, 'omit skip exclude filter'],
  [/\btake[ns]? (?:out|away|off)\b|\bg[eo]ts? rid\b/, 'remove delete strip'],
  [/\bthrown? away\b/, 'discard drop'],
  [/\bpick(?:ed|s)? up again\b|\bgo(?:es)? on\b/, 'resume continue'],
  [/\bgive[ns]? up\b/, 'abort close destroy stop'],
  [/\bside by side\b|\bat the same time\b|\bat once\b/, 'parallel concurrent'],
  [/\bcarried out\b/, 'run execute'],
  [/\bh[eo]ld(?:s|ing)? back\b/, 'pending buffer delay'],
  [/\b(?:held|kept|keeps?|hold) open\b|\bkeep alive\b/, 'keepalive'],
  [/\bsen[dt]s? (?:us |you |it )?on\b/, 'redirect forward'],
  [/\bf(?:ou|i)nd out\b/, 'detect check'],
  [/\bputs? together\b/, 'join combine'],
  [/\bbroken[- ]off\b|\bcut off\b/, 'abort partial interrupted'],
  [/\bclean(?:ed|s)?[- ]?up\b/, 'cleanup teardown finalizer unsubscribe'],
  [/\bturn(?:ed|s)? into\b|\bbecomes? an?\b/, 'convert'],
  [/\bby default\b|\bif nothing\b|\bnobody\b|\bnot given\b|\bnothing was\b/, 'default fallback ??'],
  [/\bin (?:which|what) order\b/, 'sort order'],
  [/\bonly once\b|\bonce only\b/, 'once'],
  [/\bcannot (?:be )?pars/, 'invalid nan'],
  [/\bnot a number\b/, 'nan'],
  [/\bdo(?:es)? not (?:exist|match|fit)\b/, 'missing mismatch'],
  [/\bnowhere\b|\bnot (?:in|there|found)\b|\bno longer\b/, 'missing absent undefined'],
  [/\bwidth and height\b|\bheight and width\b/, 'size dimensions'],
  [/\brun time\b/, 'runtime'],
  [/\btime zone\b/, 'timezone offset'],
  [/\bfile names?\b/, 'filename'],
]

/** The expressions in a question, each as a list of stems, the main one first. Takes the question in lower case. */
export function findExpressions(question: string): readonly (readonly string[])[] {
  return EXPRESSIONS.filter(([expression]) => expression.test(question)).map(([, words]) =>
    words.split(' ').map(stem),
  )
}
