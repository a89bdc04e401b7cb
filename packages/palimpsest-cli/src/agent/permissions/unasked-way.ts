import { judgeInside } from '../command/inside/judge-inside.ts'
import { judgeWriting } from '../command/inside/judge-writing.ts'
import { proveLine } from '../command/proven/prove-line.ts'
import { VERSIONS } from '../command/proven/special-grammars.ts'
import { isWorkPath } from '../paths/access.ts'
import type { UnaskedAnswer } from '../paths/command-grant.ts'
import { holdsMachine } from '../paths/private-places.ts'
import { findProgram } from '../sandbox/find-program.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import { findGitRisk, type RiskOptions } from './find-git-risk.ts'
import { gitPlaces } from './git-places.ts'
import { insideConcern, type InsidePlace } from './inside-concern.ts'
import { resolveProof } from './resolve-proof.ts'

// How a command may run without a question: in the sandbox, if it works; otherwise as a line that was proven to only read, word by word.
// There is no third way.

export interface ReadingPolicy extends InsidePlace {
  readonly sandbox: Sandbox
  readonly isTrusted: boolean
  /** Rules forbid reading some files, or ask before it. */
  readonly hidesFiles: boolean
}

export interface WantedCommand {
  readonly command: string
  /** The model wants it outside the sandbox. */
  readonly isOutside: boolean
}

export async function findUnaskedWay(wanted: WantedCommand, policy: ReadingPolicy): Promise<UnaskedAnswer> {
  if ((await policy.sandbox.problem()) !== undefined) return await findProvenWay(wanted.command, policy)
  if (wanted.isOutside) return { ok: false, why: 'it is to run outside the sandbox' }
  const verdict = judgeInside(wanted.command)
  if (!verdict.fits) return { ok: false, why: verdict.why }
  // What a rule hides may be in the history as well.
  if (verdict.usesGit && policy.hidesFiles) return { ok: false, why: 'git may show files that rules hide' }
  const inside = await insideConcern(verdict, policy)
  return inside.ok ? { ok: true, way: { kind: 'inside', shown: inside.shown } } : inside
}

/** Undefined if nothing that writes runs unasked. */
export async function findWritingWay(
  wanted: WantedCommand,
  policy: ReadingPolicy,
): Promise<UnaskedAnswer | undefined> {
  const { writing } = policy.sandbox
  if (writing === undefined) return undefined
  const problem = await writing.problem()
  if (problem !== undefined)
    return {
      ok: false,
      why: `the sandbox cannot write here: ${problem.why}. To change that, ${problem.cure}`,
    }
  if (wanted.isOutside) {
    const reason = writing.reasonOf(wanted.command)
    return { ok: false, why: `it is to run outside the sandbox${reason === undefined ? '' : `: ${reason}`}` }
  }
  const verdict = judgeWriting(wanted.command, { hasNetwork: writing.hasNetwork })
  if (!verdict.fits) return { ok: false, why: verdict.why }
  if (verdict.usesGit && policy.hidesFiles) return { ok: false, why: 'git may show files that rules hide' }
  const inside = await insideConcern(verdict, { ...policy, sandbox: writing, runsOwn: true })
  return inside.ok ? { ok: true, way: { kind: 'writing', shown: inside.shown } } : inside
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

export async function programConcern(
  names: readonly string[],
  { env }: Pick<ReadingPolicy, 'env'>,
): Promise<string | undefined> {
  for (const name of names.filter((one) => VERSIONS.has(one))) {
    const found = await findProgram(name, env['PATH'] ?? '')
    if (found !== undefined && !SYSTEM.test(found.real)) return `${found.path} is not the system's own`
  }
  return undefined
}

export function belowConcern({ access, hidesFiles }: ReadingPolicy): string | undefined {
  if (hidesFiles) return 'it may read files that rules hide'
  if (access.folders.some(holdsMachine)) return 'it may read what processes hold'
  const hasPrivate = access.privatePlaces.some(
    (place) => isWorkPath(access, place) && !access.folders.includes(place),
  )
  return hasPrivate ? 'it may read places where keys are kept' : undefined
}

/**
 * Filters, text converters and signatures have no switch: unless the user trusts the folder, they are asked. And git must show only what
 * is in the working folders: a repository above them, or elsewhere, contains more.
 */
export async function gitConcern(
  folder: string,
  { access, isTrusted }: Pick<ReadingPolicy, 'access' | 'isTrusted'>,
  options: RiskOptions = {},
): Promise<string | undefined> {
  if (!isTrusted) return 'git may run what the repository says, and the folder is not trusted'
  const places = await gitPlaces(folder, access)
  return places.ok ? await findGitRisk(folder, options) : places.why
}
