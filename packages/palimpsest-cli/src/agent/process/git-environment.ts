// How git is told to run nothing: settings in the environment, which stand above those of a repository. What has no such switch (filters,
// text converters, external comparers, signatures) is left to the sandbox, or asked about.

type Settings = readonly (readonly [key: string, value: string])[]

const EVERYWHERE: Settings = [
  ['core.fsmonitor', 'false'],
  ['core.hooksPath', '/dev/null'],
  ['core.pager', 'cat'],
  ['log.showSignature', 'false'],
  ['protocol.allow', 'never'],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  // A folder that only looks like a repository is none.
  ['safe.bareRepository', 'explicit'],
]

const PLACES: { readonly [where: string]: Settings } = {
  /** Whose folder it is does not matter there, and submodules cannot do anything either. */
  inside: [['safe.directory', '*']],
  /** A submodule would be asked without these settings. */
  outside: [
    ['diff.ignoreSubmodules', 'all'],
    ['status.submoduleSummary', 'false'],
    ['submodule.recurse', 'false'],
  ],
}

/** Nobody is asked anything, nothing is fetched, and no filter or comparer of the user's own is run on what a repository holds. */
const FIXED = {
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_ATTR_NOSYSTEM: '1',
  GIT_ALLOW_PROTOCOL: '',
  GIT_NO_LAZY_FETCH: '1',
  GIT_ASKPASS: 'true',
  SSH_ASKPASS: 'true',
  GIT_SSH_COMMAND: 'false',
}

/** `inside`: in the sandbox. */
export function gitEnvironment(where: 'inside' | 'outside'): { readonly [name: string]: string } {
  const all = [...EVERYWHERE, ...(PLACES[where] ?? [])]
  const numbered = all.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key] as const,
    [`GIT_CONFIG_VALUE_${index}`, value] as const,
  ])
  return { ...FIXED, GIT_CONFIG_COUNT: String(all.length), ...Object.fromEntries(numbered) }
}
