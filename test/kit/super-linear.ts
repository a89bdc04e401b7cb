// Whether a regular expression takes more than linear time on some text, as far as the checker can prove it. It comes with `npm ci`; a
// tree that was installed before it existed does without.

export interface Pattern {
  readonly source: string
  readonly flags: string
}

/** The ways in which a pattern is slow; none where it is not known to be. */
export type FindSlowness = (pattern: Pattern) => readonly string[]

/** Undefined where it is not installed. */
export async function loadChecker(): Promise<FindSlowness | undefined> {
  const name: string = 'scslre'
  const loaded: unknown = await import(/* @vite-ignore */ name).catch(() => undefined)
  if (!hasAnalyse(loaded)) return undefined
  return ({ source, flags }) => {
    // Without something that repeats without end there is nothing to find.
    if (!/[*+]|\{\d+,\}/.test(source)) return []
    // `Move`: slow because a match may begin at every place. That is slow too, on a long text.
    return loaded.analyse({ source, flags }, { reportTypes: { Move: true } }).reports.map(({ type }) => type)
  }
}

interface Checker {
  readonly analyse: (
    pattern: Pattern,
    options: { readonly reportTypes: { readonly Move: boolean } },
  ) => { readonly reports: readonly { readonly type: string }[] }
}

function hasAnalyse(value: unknown): value is Checker {
  return (
    typeof value === 'object' && value !== null && 'analyse' in value && typeof value.analyse === 'function'
  )
}
