import { join } from 'node:path'

import { inject } from 'vitest'

/** The file of `child-NAME.ts`, built before the tests. Only tests that are named heavy have it. */
export function childFile(name: string): string {
  return join(inject('children'), `child-${name}.mjs`)
}
