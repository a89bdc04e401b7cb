/** How many people a pot feeds: nobody gets half a portion. */
export function portions(grams, gramsEach) {
  return Math.ceil(grams / gramsEach)
}
