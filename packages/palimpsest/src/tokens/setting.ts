// Settings as people write them, in an environment variable or a file. An invalid value is ignored and a sentence says so; the caller
// decides whether to print it.

export interface Setting<T> {
  /** Absent if nothing was set, or nothing understandable. */
  readonly value?: T
  readonly warning?: string
}

const ON = new Set(['1', 'true', 'yes', 'on'])
const OFF = new Set(['', '0', 'false', 'no', 'off'])

/** A switch is on or off; a value that it does not understand counts as off. */
export function parseSwitch(
  name: string,
  text: string | undefined,
): Setting<boolean> & { readonly value: boolean } {
  const word = (text ?? '').trim().toLowerCase()
  if (ON.has(word)) return { value: true }
  if (OFF.has(word)) return { value: false }
  return {
    value: false,
    warning: `${name}=${text ?? ''} is neither on nor off, so it counts as off. Write 1 or 0.`,
  }
}

/** A whole number of tokens, at least 1. */
export function parseTokens(name: string, text: string | undefined): Setting<number> {
  const word = (text ?? '').trim()
  if (word === '') return {}
  const value = /^\d[\d_,]*$/.test(word) ? Number(word.replaceAll(/[_,]/g, '')) : Number.NaN
  if (Number.isSafeInteger(value) && value > 0) return { value }
  return { warning: `${name}=${word} is ignored: it must be a whole number of tokens, such as 120000.` }
}

/** More than 0, at most 100; decimals are allowed. */
export function parsePercent(name: string, text: string | undefined): Setting<number> {
  const word = (text ?? '').trim()
  if (word === '') return {}
  const value = /^\d+(?:\.\d+)?%?$/.test(word) ? Number(word.replace('%', '')) : Number.NaN
  if (value > 0 && value <= 100) return { value }
  return { warning: `${name}=${word} is ignored: it must be a percentage above 0 and up to 100.` }
}

/** A number of tokens, or `full`. */
export function parseWorkingWindow(name: string, text: string | undefined): Setting<number | 'full'> {
  return (text ?? '').trim().toLowerCase() === 'full' ? { value: 'full' } : parseTokens(name, text)
}

export interface CompactionSwitches {
  /** Compaction of any kind, including a manual one. */
  readonly manual: boolean
  /** Everything that starts automatically, including the reaction to an overflow. */
  readonly auto: boolean
  readonly warnings: readonly string[]
}

export function readCompactionSwitches(said: {
  /** `DISABLE_COMPACT` */
  readonly disableCompact?: string | undefined
  /** `DISABLE_AUTO_COMPACT` */
  readonly disableAutoCompact?: string | undefined
  /** The setting. Absent: on. */
  readonly autoCompactEnabled?: boolean | undefined
}): CompactionSwitches {
  const all = parseSwitch('DISABLE_COMPACT', said.disableCompact)
  const automatic = parseSwitch('DISABLE_AUTO_COMPACT', said.disableAutoCompact)
  return {
    manual: !all.value,
    auto: !all.value && !automatic.value && said.autoCompactEnabled !== false,
    warnings: [all.warning, automatic.warning].filter((warning) => warning !== undefined),
  }
}
