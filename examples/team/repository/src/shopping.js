/** One list of several: what stands on two of them is bought once, in the sum. */
export function shopping(lists) {
  const all = {}
  for (const list of lists) for (const [name, grams] of Object.entries(list)) all[name] = grams
  return all
}
