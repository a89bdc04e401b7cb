/** In the order of an index: capital letters make no difference. */
export function byName(names) {
  return [...names].sort()
}
