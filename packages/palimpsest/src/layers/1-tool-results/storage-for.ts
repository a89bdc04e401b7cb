import type { Flags } from '../../flags/create-flags.ts'
import { FLAGS } from '../../flags/flags.ts'
import type { StoragePolicy } from './policy.ts'

/** The policy with the flags as they are now. Undefined: nothing more is stored; what was stored stays so. */
export function storageFor(flags: Flags, policy: StoragePolicy, tool?: string): StoragePolicy | undefined {
  if (!flags.value('tool-result-storage')) return undefined
  const resultCharsMax = flags.value(tool === undefined ? 'result-chars-max' : `result-chars-max:${tool}`)
  // A policy is the built-in size, scaled to the window, so a flag's value is scaled too.
  return {
    ...policy,
    resultCharsMax: scaled(policy.resultCharsMax, resultCharsMax, FLAGS['result-chars-max'].builtIn),
    answerCharsMax: scaled(
      policy.answerCharsMax,
      flags.value('answer-chars-max'),
      FLAGS['answer-chars-max'].builtIn,
    ),
  }
}

function scaled(size: number, value: number, builtIn: number): number {
  return Math.floor((size * value) / builtIn)
}
