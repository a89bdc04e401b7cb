import { judgeInside } from '../command/inside/judge-inside.ts'
import type { ShellText, SimpleCommand } from '../command/parse-shell.ts'
import { proveLine, proveWords } from '../command/proven/prove-line.ts'
import { VERSIONS } from '../command/proven/special-grammars.ts'
import { isWorkPath, type Access } from '../paths/access.ts'
import type { UnaskedAnswer } from '../paths/command-grant.ts'
import { findProgram } from '../sandbox/find-program.ts'
import { findGitRisk, type RiskOptions } from './find-git-risk.ts'
import { insideConcern, type InsidePlace } from './inside-concern.ts'
import { resolveProof, wordConcern, leadTo } from './resolve-proof.ts'

// How a command may run without a question: in the sandbox, where it works; without one as a line that was proven to only read, word by
// word. There is no third way.

export interface ReadingPolicy extends InsidePlace {
  readonly isTrusted: boolean
  /** Rules forbid, or ask before, reading some files. */
  readonly hidesFiles: boolean
}

export interface WantedCommand {
  readonly command: string
  /** The model wants it outside of the sandbox. */
  readonly isOutside: boolean
}

export async function findUnaskedWay(wanted: WantedCommand, policy: ReadingPolicy): Promise<UnaskedAnswer> {
  if ((await policy.sandbox.problem()) !== undefined) return await findProvenWay(wanted.command, policy)
  if (wanted.isOutside) return { ok: false, why: 'it is to run outside of the sandbox' }
  const verdict = judgeInside(wanted.command)
  if (!verdict.fits) return { ok: false, why: verdict.why }
  // What a rule hides may stand in the history as well.
  if (verdict.usesGit && policy.hidesFiles) return { ok: false, why: 'git may show files that rules hide' }
  const inside = await insideConcern(verdict, policy)
  return inside.ok ? { ok: true, way: { kind: 'inside', shown: inside.shown } } : inside
}

async function findProvenWay(command: string, policy: ReadingPolicy): Promise<UnaskedAnswer> {
  const proof = proveLine(command)
  if (!proof.proven) return { ok: false, why: proof.why }
  const names = proof.steps.flatMap(({ commands }) => commands.map(({ name }) => name))
  const why = await programConcern(names, policy)
  if (why !== undefined) return { ok: false, why }
  const { realPath } = policy
  const isFolder = realPath && (async (path: string) => (await realPath(path)) !== undefined)
  const resolved = await resolveProof(proof, policy.access, isFolder)
  if (!resolved.ok) return resolved
  const below = proof.readsBelow ? belowConcern(policy) : undefined
  if (below !== undefined) return { ok: false, why: below }
  const risk = proof.usesGit ? await gitConcern(resolved.folder, policy) : undefined
  if (risk !== undefined) return { ok: false, why: risk }
  const folder = policy.access.shellFolder()
  return { ok: true, way: { kind: 'proven', command: resolved.command, folder } }
}

const SYSTEM = /^\/(usr|bin|sbin|lib|nix\/store|gnu\/store|opt\/homebrew)\//

async function programConcern(
  names: readonly string[],
  { env }: Pick<ReadingPolicy, 'env'>,
): Promise<string | undefined> {
  for (const name of names.filter((one) => VERSIONS.has(one))) {
    const found = await findProgram(name, env['PATH'] ?? '')
    if (found !== undefined && !SYSTEM.test(found.real)) return `${found.path} is not the system's own`
  }
  return undefined
}

function belowConcern({ access, hidesFiles }: ReadingPolicy): string | undefined {
  if (hidesFiles) return 'it may read files that rules hide'
  const hasPrivate = access.privatePlaces.some(
    (place) => isWorkPath(access, place) && !access.folders.includes(place),
  )
  return hasPrivate ? 'it may read places where keys are kept' : undefined
}

/** Filters, text converters and signatures have no switch: whoever did not trust the folder is asked. */
async function gitConcern(
  folder: string,
  { isTrusted }: ReadingPolicy,
  options: RiskOptions = {},
): Promise<string | undefined> {
  return isTrusted
    ? await findGitRisk(folder, options)
    : 'git may run what the repository says, and the folder is not trusted'
}

type ReadableText = Extract<ShellText, { readable: true }>

/** Of the commands that no rule allows, in a line that runs as it is because rules allow the rest. */
export async function uncoveredConcern(
  text: ReadableText,
  uncovered: readonly SimpleCommand[],
  policy: ReadingPolicy,
): Promise<string | undefined> {
  const { access } = policy
  const written = text.redirects.find((redirect) => !readsOnly(redirect))
  if (written !== undefined) return `"${written.operator}" writes a file`
  const moves = text.commands.filter(({ name }) => name === 'cd')
  const bases = await basesOf(text, moves, access)
  if (typeof bases === 'string') return bases
  for (const { target } of text.redirects.filter(({ operator }) => operator === '<')) {
    const input = proveWords('cat', target === undefined ? [] : [target])
    for (const base of bases) {
      const why = input.ok ? await wordConcern(input.words, base, access) : input.why
      if (why !== undefined) return why
    }
  }
  for (const { name, args } of uncovered) {
    if (name === undefined || name === 'cd') continue
    const proven = proveWords(name, args)
    if (!proven.ok) return `${name}: ${proven.why}`
    const program = await programConcern([name], policy)
    if (program !== undefined) return program
    if (name === 'git' || name === 'rg' || /^[ef]?grep$/.test(name)) {
      const below = belowConcern(policy)
      if (below !== undefined) return below
    }
    for (const base of bases) {
      const why =
        (await wordConcern(proven.words, base, access)) ??
        (name === 'git' ? await gitConcern(base, policy, { withHooks: true }) : undefined)
      if (why !== undefined) return why
    }
  }
  return undefined
}

/** Where its words are meant from. A `cd` may fail, and then the rest happens here. */
async function basesOf(
  text: ReadableText,
  moves: readonly SimpleCommand[],
  access: Access,
): Promise<readonly string[] | string> {
  const here = access.shellFolder()
  if (moves.length === 0) return [here]
  const [first] = text.topLevel
  if (moves.length > 1 || first === undefined || first !== moves[0])
    return 'it changes the folder in a way that is hard to follow'
  const proven = proveWords('cd', first.args)
  const target = proven.ok ? proven.words.at(-1) : undefined
  if (target === undefined) return 'it changes the folder in a way that is hard to follow'
  if (target.kind === 'file' && /(^|\/)[^./][^/]*\/+\.\.(\/|$)/.test(target.path))
    return 'it changes the folder in a way that is hard to follow'
  const why = await wordConcern([target], here, access)
  if (why !== undefined) return why
  return await leadTo(target, here, { access }).then(
    (folder) => [here, folder],
    () => `where it goes is no folder that is worked in`,
  )
}

type LineRedirect = ReadableText['redirects'][number]

function readsOnly({ operator, target }: LineRedirect): boolean {
  if (target?.kind !== 'literal') return false
  const { value } = target
  if (operator === '<') return !value.startsWith('/dev/') || value === '/dev/null'
  if (operator === '<>') return false
  if (operator === '>&' || operator === '<&') return /^(\d+-?|-)$/.test(value)
  return ['/dev/null', '/dev/stdout', '/dev/stderr'].includes(value)
}
