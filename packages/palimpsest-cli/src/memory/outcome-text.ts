import type { MemoryOutcome } from 'palimpsest/memory'

/** What became of a memory, as one sentence. `flags`: options that the command needs to find it. */
export function outcomeText(outcome: MemoryOutcome, flags = ''): string {
  switch (outcome.kind) {
    case 'written': {
      const ended = outcome.ended.length === 0 ? '' : `; it ends ${outcome.ended.join(', ')}`
      return `${WHAT[outcome.what]} ${outcome.name}${ended}`
    }
    case 'queued':
      return `not written: ${outcome.why}. It waits for you: \`palimpsest memory approve ${outcome.id}${flags}\`, or \`refuse\``
    case 'refused':
      return `not written: ${outcome.why}`
    default:
      return outcome satisfies never
  }
}

const WHAT = {
  added: 'added',
  merged: 'merged with',
  replaced: 'changed',
  verified: 'known already, verified now:',
} as const
