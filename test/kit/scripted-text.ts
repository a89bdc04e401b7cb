// Made-up text of a wanted size that looks like what agents read: lines with paths, names and numbers, most of them new. No two
// results are alike, so nothing is cheap by accident.

/** Tokens per character of these texts, as the simulator counts them for a Claude 5 model. */
const TOKENS_PER_CHAR = { code: 0.435, prose: 0.4 } as const

const STEMS =
  'account batch cache digest editor folder gateway header index journal kernel ledger marker node offset parser queue record stream token upload vector window'.split(
    ' ',
  )
const VERBS = 'apply build check clear fetch format list merge open parse plan read send split write'.split(
  ' ',
)
const WORDS =
  'the file is read again after a change and every test that names it has to pass before we go on with the next step so look at what failed first'.split(
    ' ',
  )

/** Source code, logs, listings. */
export function codeText(random: () => number, tokens: number): string {
  return grow(Math.round(tokens / TOKENS_PER_CHAR.code), () => codeLine(random))
}

/** What people and models say. */
export function proseText(random: () => number, tokens: number): string {
  return grow(Math.round(tokens / TOKENS_PER_CHAR.prose), () => sentence(random))
}

export function filePath(random: () => number): string {
  return `src/${pick(random, STEMS)}/${pick(random, STEMS)}-${number(random, 1_000)}.ts`
}

function grow(chars: number, line: () => string): string {
  const lines: string[] = []
  for (let length = 0; length < chars;) {
    const next = line().slice(0, chars - length)
    lines.push(next)
    length += next.length + 1
  }
  return lines.join('\n')
}

function codeLine(random: () => number): string {
  const name = (): string => `${pick(random, VERBS)}${capital(pick(random, STEMS))}${number(random, 10_000)}`
  switch (number(random, 4)) {
    case 0:
      return `  const ${name()} = ${pick(random, VERBS)}(${pick(random, STEMS)}, ${number(random, 100_000)})`
    case 1:
      return `${filePath(random)}:${number(random, 900)}: ${name()} returns ${pick(random, STEMS)}`
    case 2:
      return `  if (${pick(random, STEMS)}.length > ${number(random, 500)}) return ${name()}(${pick(random, STEMS)})`
    default:
      return `  // ${sentence(random)}`
  }
}

function sentence(random: () => number): string {
  const start = number(random, WORDS.length - 8)
  const words = WORDS.slice(start, start + 4 + number(random, 5)).join(' ')
  return `${capital(words)}, ${pick(random, STEMS)} ${number(random, 10_000)}.`
}

function pick(random: () => number, words: readonly string[]): string {
  return words[number(random, words.length)] ?? ''
}

export function number(random: () => number, below: number): number {
  return Math.floor(random() * below)
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}
