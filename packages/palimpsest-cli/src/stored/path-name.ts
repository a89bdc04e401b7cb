import type { CompactionPath } from 'palimpsest/engine'

const PATH_NAMES: { readonly [path in CompactionPath]: string } = {
  server: "the provider's summary",
  notes: 'notes',
  prepared: 'a prepared summary',
  fork: 'summary',
  plain: 'summary',
  fold: 'fold',
}

/** Where a summary comes from, in a user's words. Boundaries of other agents do not say. */
export function pathName(path: string | undefined): string {
  const known = Object.entries(PATH_NAMES).find(([name]) => name === path)
  return known?.[1] ?? path ?? 'summary'
}
