import { BaseSequencer, type TestSpecification } from 'vitest/node'

// Files of one worker share its memory, and to start a process takes longer, the more of it there is: tests that start processes come first,
// and of them those that start the most. They also take longest, so that none of them is left over at the end.

/** They start shells and git by the hundred. */
const MOST = ['packages/palimpsest-cli/src/agent/', 'packages/palimpsest-cli/src/team/', 'test/attacks/']

export class HeavyFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- it is not that of an array
    const sorted = await super.sort(files)
    return sorted.toSorted((a, b) => rankOf(a) - rankOf(b))
  }
}

function rankOf({ moduleId }: TestSpecification): number {
  if (!moduleId.endsWith('.heavy.test.ts')) return 2
  return MOST.some((folder) => moduleId.includes(`/${folder}`)) ? 0 : 1
}
