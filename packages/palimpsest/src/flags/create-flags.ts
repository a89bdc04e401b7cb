import { FLAGS, type Flag, type FlagValue, type NumberKey, type SwitchName } from './flags.ts'

export interface Flags {
  readonly value: {
    (name: SwitchName): boolean
    (key: NumberKey): number
  }
}

/** Where values come from. If a source does not know a flag, or has an invalid value, the next source is asked. */
export interface FlagSource {
  readonly name: string
  readonly find: (key: string) => FlagValue | undefined
}

export interface ExplainedFlag {
  readonly value: FlagValue
  /** The source; absent if the value is the built-in one. */
  readonly from?: string
}

/** The first source that knows a flag decides. Sources are asked at every reading, so that the next decision sees a change. */
export function createFlags(sources: readonly FlagSource[]): Flags {
  function value(name: SwitchName): boolean
  function value(key: NumberKey): number
  function value(key: SwitchName | NumberKey): FlagValue {
    // A name that is no flag, from a caller without type checks, is off.
    return explainFlag(key, sources)?.value ?? false
  }
  return { value }
}

/** A map, because a plain object would also find what every object inherits. */
const BY_NAME: ReadonlyMap<string, Flag> = new Map(Object.entries(FLAGS))

/** For callers with neither file nor service. */
export const BUILT_IN_FLAGS: Flags = createFlags([])

/** Undefined if there is no such flag. */
export function explainFlag(key: string, sources: readonly FlagSource[]): ExplainedFlag | undefined {
  const flag = findFlag(key)
  if (!flag) return undefined
  const [name] = splitKey(key)
  for (const { name: from, find } of sources) {
    // A value for one tool comes before a value for all tools, but only within the same source.
    for (const asked of new Set([key, name])) {
      const value = find(asked)
      if (value !== undefined && problemOfValue(flag, value) === undefined) return { value, from }
    }
  }
  return { value: flag.builtIn }
}

/** The flag of a key: its name, or `name:Tool` if tools have values of their own. */
export function findFlag(key: string): Flag | undefined {
  const [name, tool] = splitKey(key)
  const flag = BY_NAME.get(name)
  if (tool === undefined) return flag
  return flag?.type === 'number' && flag.perTool && tool !== '' ? flag : undefined
}

/** Why a flag cannot have this value; undefined if it can. */
export function problemOfValue(flag: Flag, value: unknown): string | undefined {
  switch (flag.type) {
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'must be true or false'
    case 'number': {
      const { min, max } = flag
      const fits = typeof value === 'number' && value >= min && value <= max
      return fits ? undefined : `must be a number from ${min} to ${max}`
    }
    default:
      return flag satisfies never
  }
}

function splitKey(key: string): readonly [name: string, tool: string | undefined] {
  const at = key.indexOf(':')
  return at < 0 ? [key, undefined] : [key.slice(0, at), key.slice(at + 1)]
}
