// Short first names that are easy to tell apart, in the order in which a team fills up.

const NAMES = 'ada ben cleo dan eva finn gus hana ivo june kai lena max nora otto pia'.split(' ')

/** Members of a larger team would wait for each other more than they work. */
export const MEMBERS_MAX = NAMES.length

export function memberNames(count: number): readonly string[] {
  return NAMES.slice(0, count)
}
