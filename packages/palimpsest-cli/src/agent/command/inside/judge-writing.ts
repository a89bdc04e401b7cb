import type { ShellWord } from '../shell-word.ts'
import { gitUse } from './git-reads.ts'
import type { InsideVerdict } from './judge-inside.ts'
import { lineFacts } from './line-facts.ts'
import { isBuiltin } from './reading-programs.ts'

// Is a line worth running in the writing sandbox, unasked? Pure. What it does there stays in the working folders, so it is, unless it
// plainly wants what the sandbox does not have: then it would do half of its work and fail.

/** They want rights, services or keys of the user. */
const OUTSIDE = new Set(
  `sudo su doas pkexec runuser systemctl service journalctl launchctl docker podman buildah kubectl helm nerdctl ssh scp sftp
  mosh rsync apt apt-get dpkg dnf yum zypper pacman apk brew snap flatpak crontab at mount umount gh glab aws gcloud az gpg
  code open xdg-open pbcopy osascript kill killall pkill`
    .trim()
    .split(/\s+/),
)
const NETWORK = new Set('curl wget ftp telnet nc ncat dig nslookup ping host whois'.split(' '))
/** Installers, with the words that make them fetch. */
const FETCHES: ReadonlyMap<string, RegExp> = new Map([
  [
    'npm',
    /^(i|in|install|ci|add|update|up|upgrade|publish|login|audit|view|info|outdated|create|init|exec)$/,
  ],
  ['pnpm', /^(i|install|add|update|up|publish|dlx|create|outdated|audit|fetch)$/],
  ['yarn', /^(install|add|up|upgrade|dlx|create|publish)$/],
  ['bun', /^(i|install|add|update|x|create)$/],
  ['npx', /^(--yes|-y|--package)$/],
  ['pip', /^(install|download)$/],
  ['pip3', /^(install|download)$/],
  ['uv', /^(add|sync|lock|pip|tool)$/],
  ['poetry', /^(install|add|update|lock)$/],
  ['cargo', /^(install|add|fetch|update|publish|search)$/],
  ['go', /^(get|install)$/],
  ['gem', /^(install|update)$/],
  ['bundle', /^(install|update)$/],
  ['composer', /^(install|update|require)$/],
])

export function judgeWriting(
  source: string,
  { hasNetwork }: { readonly hasNetwork: boolean },
): InsideVerdict {
  const facts = lineFacts(source)
  if (!facts.readable) return { fits: false, why: facts.why }
  if (facts.hasBackground) return { fits: false, why: 'it leaves something running' }
  const lasting = lastsLonger(facts.commands, facts.functions)
  if (lasting !== undefined) return { fits: false, why: lasting }
  const programs = new Set<string>()
  const folders: ShellWord[] = []
  for (const { name, args } of facts.commands) {
    if (facts.functions.has(name)) continue
    const why = wantsOutside(name, args, hasNetwork)
    if (why !== undefined) return { fits: false, why: `${name}: ${why}` }
    if (name === 'cd' || name === 'pushd') folders.push(...args.filter(({ value }) => !value.startsWith('-')))
    else if (name === 'git') {
      const places = gitUse(args).folders
      folders.push(...args.filter(({ value }) => places.includes(value)))
      programs.add(name)
    } else if (!name.includes('/') && !isBuiltin(name)) programs.add(name)
  }
  const moves = facts.commands.some(({ name }) => name === 'cd' || name === 'pushd' || name === 'popd')
  const isSaid = (name: string): boolean => name === 'echo' || name === 'printf'
  return {
    ...{ fits: true, programs, folders, moves, variables: facts.variables },
    usesGit: facts.commands.some(({ name }) => name === 'git'),
    movesFirst: facts.commands[0]?.name === 'cd',
    words: [
      ...facts.commands.flatMap(({ name, args }) => (isSaid(name) ? [] : args)),
      ...facts.redirects.flatMap(({ target }) => target ?? []),
    ],
  }
}

function lastsLonger(
  commands: readonly { readonly name: string; readonly args: readonly ShellWord[] }[],
  functions: ReadonlySet<string>,
): string | undefined {
  // A variable that is set and then used in the same line is not meant for later.
  if (commands.every(({ name }) => name === 'export' || name === 'source' || name === '.' || name === 'cd'))
    return commands.every(({ name }) => name === 'cd') ? undefined : 'it changes the shell for later commands'
  const unused = [...functions].find((name) => !commands.some((command) => command.name === name))
  return unused === undefined ? undefined : `it defines the function ${unused} for later commands`
}

function wantsOutside(name: string, args: readonly ShellWord[], hasNetwork: boolean): string | undefined {
  const program = name.split('/').at(-1) ?? name
  if (OUTSIDE.has(program)) return 'the sandbox has no such rights and services'
  if (program === 'git') {
    const { why } = gitUse(args)
    return why === undefined ? undefined : `the sandbox does not let repositories change (${why})`
  }
  if (hasNetwork) return undefined
  if (NETWORK.has(program)) return 'the sandbox reaches nobody'
  const isFetching = args.some(({ value }) => FETCHES.get(program)?.test(value) === true)
  return isFetching ? 'it fetches, and the sandbox reaches nobody' : undefined
}
