/** The same recipe for more people, or fewer. */
export function scale(amounts, factor) {
  return Object.fromEntries(Object.entries(amounts).map(([name, grams]) => [name, grams + factor]))
}
