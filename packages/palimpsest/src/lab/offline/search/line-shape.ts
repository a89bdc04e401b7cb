// What a line does, judged only by its form.

export interface LineShape {
  /** Throws, rejects, reports an error. */
  readonly refuses: boolean
  /** Has a number other than 0 and 1. */
  readonly hasNumber: boolean
  /** Gives a number a name. */
  readonly namesNumber: boolean
  readonly tests: boolean
  readonly assigns: boolean
  readonly constructs: boolean
  readonly computes: boolean
  /** Has several texts, or begins a list. */
  readonly lists: boolean
  /** Operators as words, for expressions like "more than". */
  readonly operators: readonly string[]
}

const REFUSES =
  /\bthrow\b|\braise\b|reject\(|\.error\(|\bfail\w*\(|Error\(|\berrors?\.push|issues?\.push|refus|\bpanic/
const NUMBER = /(?<![\w$.[])(?![01](?![\d._ex]))\d[\d_]*(?:\.\d+)?(?:e\d+)?\b/
const NAMES_NUMBER =
  /^(?:(?:export|static|readonly|private)\s+)*(?:const |let |var )?[#\w$]+(?:: \w+)?\s*=\s*[-\d]/
const TESTS = /\b(?:if|elif|while|case|when|unless)\b|\?\s|&&|\|\||===|!==/
const ASSIGNS = /\?\?|\|\||(?<![=!<>])=(?![=>])|\bdefault/i
const LISTS = /=\s*(?:\/\*.*\*\/\s*)?(?:new Set\()?\(?\[$|[=:]\s*\[.*,|=\s*\/\S.*\|/
const TEXTS = /'[^']*'|"[^"]*"/g
const TEXTS_OF_LIST_MIN = 2

/** Takes a line without surrounding space. */
export function lineShape(text: string): LineShape {
  return {
    refuses: REFUSES.test(text),
    hasNumber: NUMBER.test(text),
    namesNumber: NAMES_NUMBER.test(text),
    tests: TESTS.test(text),
    assigns: ASSIGNS.test(text),
    constructs: /\bnew\s+[\w$.]+\(/.test(text),
    computes: /\s[*+/-]\s[\w(]|Math\./.test(text),
    lists: LISTS.test(text) || (text.match(TEXTS) ?? []).length >= TEXTS_OF_LIST_MIN,
    operators: operatorsOf(text),
  }
}

const OPERATORS: readonly (readonly [RegExp, string])[] = [
  [/[^=-]>=?(?!=)/, '>'],
  [/[^<]<=?\s/, '<'],
  [/ % /, '%'],
  [/\?\?|\|\|/, '??'],
  [/\.sort\(|\.toSorted\(/, 'order'],
  [/NaN/, 'nan'],
]

function operatorsOf(text: string): readonly string[] {
  return OPERATORS.filter(([pattern]) => pattern.test(text)).map(([, word]) => word)
}
