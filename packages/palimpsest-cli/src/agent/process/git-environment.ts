// Keeps git from running other programs: settings in the environment, which override those of a repository. What has no such switch
// (filters, text converters, external diff programs, signatures) is left to the sandbox, or the user is asked.

type Settings = readonly (readonly [key: string, value: string])[]

const EVERYWHERE: Settings = [
  ['core.fsmonitor', 'false'],
  ['core.hooksPath', '/dev/null'],
  ['core.pager', 'cat'],
  ['log.showSignature', 'false'],
  ['protocol.allow', 'never'],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  // A folder that only looks like a repository does not count as one.
  ['safe.bareRepository', 'explicit'],
]

const PLACES: { readonly [where: string]: Settings } = {
  /** In the sandbox it does not matter who owns the folder, and submodules can do no harm either. */
  inside: [['safe.directory', '*']],
  /** Without these settings, git would look into submodules. */
  outside: [
    ['diff.ignoreSubmodules', 'all'],
    ['status.submoduleSummary', 'false'],
    ['submodule.recurse', 'false'],
  ],
}

/** No questions, no fetching, and none of the user's own filters or diff programs run on what a repository contains. */
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
