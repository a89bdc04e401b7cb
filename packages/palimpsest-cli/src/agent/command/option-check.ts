import type { ShellWord } from './shell-word.ts'

// Which arguments a command may have and still only read. Undefined: these are fine; else the reason why not.

export type ArgumentCheck = (args: readonly ShellWord[]) => string | undefined

export interface OptionList {
  /** Letters of options without a value. */
  readonly flags?: string
  /** Letters of options that always have a value: the rest of the word, or the next word. */
  readonly values?: string
  /** Letters of options whose value, if any, is the rest of the word. */
  readonly attached?: string
  readonly long?: readonly string[]
  readonly longValues?: readonly string[]
  readonly operandsMax?: number
}

/** Whatever follows: the command has no option that writes or runs anything. */
export const anyArguments: ArgumentCheck = () => undefined

export const noArguments: ArgumentCheck = (args) => (args.length === 0 ? undefined : 'only without arguments')

/**
 * Only the options listed, spelt out: tools accept abbreviations (`--outp`), so what is not known is not allowed. A file name that
 * may begin with a dash could be an option, too. Every word is looked at, also after `--` and where a value is due: whichever way the
 * tool reads them, none of them is harmful.
 */
export function onlyOptions(list: OptionList): ArgumentCheck {
  return (args) => {
    let operands = 0
    let valueIsDue = false
    for (const word of args) {
      if (mayBeOption(word)) return `"${word.value}" may expand to an option`
      const isOption = word.value.startsWith('-') && word.value !== '-' && word.value !== '--'
      if (isOption && !isListed(word.value, list))
        return `the option ${word.value} is not known to be harmless`
      if (!word.value.startsWith('-') && !valueIsDue)
        operands += word.kind === 'literal' ? 1 : Number.POSITIVE_INFINITY
      valueIsDue = isOption && wantsValue(word.value, list)
    }
    const max = list.operandsMax ?? Number.POSITIVE_INFINITY
    return operands > max ? 'a further operand may be a file to write' : undefined
  }
}

/** Words that are not literal may begin with anything, unless they visibly begin otherwise. */
export function mayBeOption({ kind, value }: ShellWord): boolean {
  if (kind === 'expands') return true
  return kind === 'glob' && /^[-*?[@!+]/.test(value)
}

function isListed(option: string, list: OptionList): boolean {
  if (option.startsWith('--')) {
    const [name = '', value] = option.slice(2).split('=', 2)
    return (
      list.longValues?.includes(name) === true || (value === undefined && list.long?.includes(name) === true)
    )
  }
  for (const letter of option.slice(1)) {
    // The rest of the word is its value.
    if (list.values?.includes(letter) || list.attached?.includes(letter)) return true
    if (!list.flags?.includes(letter)) return false
  }
  return true
}

/** An option whose value is the next word. */
function wantsValue(option: string, list: OptionList): boolean {
  if (option.startsWith('--'))
    return !option.includes('=') && list.longValues?.includes(option.slice(2)) === true
  return list.values?.includes(option.at(-1) ?? '') === true
}

/** None of the literal words matches, and nothing can turn into one that does. */
export function without(pattern: RegExp, what: string): ArgumentCheck {
  return (args) => {
    const bad = args.find((word) => (word.kind === 'literal' ? pattern.test(word.value) : mayBeOption(word)))
    return bad === undefined ? undefined : `${bad.value}: ${what}`
  }
}
