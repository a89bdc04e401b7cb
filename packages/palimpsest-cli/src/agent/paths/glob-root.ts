import { isAbsolute } from 'node:path'

/** Splits a pattern before its first wildcard: `src/**` in `lib` searches `lib/src` for `**`. Pure. */
export function globRoot(
  pattern: string,
  path: string | undefined,
): { readonly folder: string; readonly rest: string } {
  const parts = pattern.split('/')
  const first = parts.findIndex((part) => /[*?[\]{}\\]/.test(part))
  const at = first === -1 ? parts.length - 1 : first
  const fixed = parts.slice(0, at).join('/')
  const rest = parts.slice(at).join('/')
  if (at === 0) return { folder: path ?? '.', rest }
  const start = fixed === '' ? '/' : fixed
  const isFree = isAbsolute(start) || start === '~' || start.startsWith('~/')
  return { folder: isFree || path === undefined ? start : `${path}/${start}`, rest }
}
