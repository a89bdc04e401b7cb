import { lstat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

import type { Access } from '../../paths/access.ts'
import { isInside, realPathOf } from '../../paths/real-path.ts'
import { namedByGit } from '../../permissions/named-by-git.ts'
import type { Mount } from '../mount.ts'
import { shownPlaces } from '../shown-places.ts'
import { keepDevices } from './keep-devices.ts'
import { createLookThrough, ENTRIES_MAX, type FolderLook, type Protected } from './look-through.ts'
import { moveAway, stillThere, type Moved, type MovedAway, type Stuck } from './move-away.ts'

// Keeps commands in the sandbox from using the working folders against what runs outside. Protected files that exist are mounted read-only.
// A name that does not exist cannot be mounted without creating it, so whatever has such a name after a command is moved away.
//
// Folders above a protected or hidden file are mounted onto themselves: a mount cannot be renamed, so no command can move such a file
// to where it counts for less, or replace its folder with a link while the next command is being set up.

export interface GuardOptions {
  readonly access: Access
  /** Folder for what is moved away. */
  readonly quarantine: string
  /** Real paths in the work that run by themselves: programs on the search path, our own files. */
  readonly alsoProtected: () => Promise<readonly string[]>
  readonly now: () => number
}

export interface Ground {
  readonly mounts: readonly Mount[]
  readonly folders: readonly string[]
}

export interface Guard {
  readonly enter: () => Promise<
    ({ readonly ok: true } & Ground) | { readonly ok: false; readonly why: string }
  >
  /** What was moved away, and what could not be. */
  readonly leave: (end: { readonly wasKilled: boolean }) => Promise<MovedAway>
  /** Checks again if commands run or something could not be moved away. Returns what still cannot be. */
  readonly settle: () => Promise<readonly Stuck[]>
  /** Returns, once, what was moved away in between and no command has reported yet. */
  readonly takeUntold: () => readonly Moved[]
  /** Nothing runs, and nothing is left to check or to report. */
  readonly isIdle: () => boolean
  readonly expect: (path: string) => void
}

interface Baseline extends Ground {
  readonly rules: Access['rules']
  readonly ids: ReadonlySet<string>
  /** Links by slot: a mount cannot hold a link, so it must stay the same. */
  readonly links: ReadonlyMap<string, Protected>
  readonly slots: ReadonlySet<string>
  /** Paths that do not exist and must not be created. */
  readonly missing: readonly string[]
  readonly restoreDevices: () => Promise<void>
}

/** They are arguments of one program, and each takes a moment to mount. */
const COVERS_MAX = 1_000
/** A killed command disappears a moment after the program that held it. */
const GONE_MS = 100

export function createGuard(options: GuardOptions): Guard {
  const look = createLookThrough(options.now)
  const expected = new Set<string>()
  let baseline: Baseline | undefined
  let running = 0
  let stuck: readonly Stuck[] = []
  let untold: readonly Moved[] = []
  const inTurn = createTurns()
  const isExpected = (path: string): boolean => [...expected].some((one) => isInside(path, one))
  const check = async (held: Baseline): Promise<MovedAway> => {
    const found = await look(options.access.folders, {
      isClosed: isClosedIn(held.mounts),
      entriesMax: Number.POSITIVE_INFINITY,
    })
    await held.restoreDevices()
    const intruders = (found?.protected ?? []).filter((one) => isNew(one, held) && !isExpected(one.path))
    const made = await existing(held.missing.filter((path) => !isExpected(path)))
    const wanted = intruders.map(({ path, slot }) => ({ path, target: held.links.get(slot)?.target }))
    return await moveAway([...wanted, ...made.map((path) => ({ path }))], options.quarantine)
  }
  /** With no command running, anything new may be the user's own, so only what could not be moved is tried again. */
  const again = async (): Promise<MovedAway> => {
    const left = (await stillThere(stuck)).filter(({ path }) => !isExpected(path))
    const result =
      running > 0 && baseline !== undefined ? await check(baseline) : await moveAway(left, options.quarantine)
    stuck = result.stuck
    return result
  }
  const settle = async (): Promise<readonly Stuck[]> => {
    if (running > 0 || stuck.length > 0) untold = [...untold, ...(await again()).moved]
    return stuck
  }
  return {
    enter: () =>
      inTurn(async () => {
        const [left] = await settle()
        if (left !== undefined) return { ok: false, why: `${left.path} could not be moved away: ${left.why}` }
        if (running === 0) {
          expected.clear()
          const found = await findBaseline(options, look)
          if (typeof found === 'string') return { ok: false, why: found }
          baseline = found
        } else if (baseline !== undefined && baseline.rules !== options.access.rules)
          return { ok: false, why: 'rules changed while another command runs in it' }
        if (baseline === undefined) return { ok: false, why: 'the folder could not be looked through' }
        running++
        return { ok: true, mounts: baseline.mounts, folders: baseline.folders }
      }),
    leave: ({ wasKilled }) =>
      inTurn(async () => {
        if (wasKilled) await wait(GONE_MS)
        try {
          return await again()
        } finally {
          running--
        }
      }),
    settle: () => inTurn(settle),
    takeUntold: () => {
      const taken = untold
      untold = []
      return taken
    },
    isIdle: () => running === 0 && stuck.length === 0 && untold.length === 0,
    expect: (path) => void expected.add(path),
  }
}

function createTurns(): <T>(run: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return (run) => {
    const next = last.then(run, run)
    last = next.catch(() => undefined)
    return next
  }
}

/** A command in the sandbox cannot replace a mount, but it can replace a link. */
function isNew(one: Protected, { ids, slots, links }: Baseline): boolean {
  const link = links.get(one.slot)
  if (link !== undefined) return link.id !== one.id || link.target !== one.target
  return !slots.has(one.slot) && !ids.has(one.id)
}

async function existing(paths: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(paths.map((path) => lstat(path).catch(() => undefined)))
  return paths.filter((_, index) => found[index] !== undefined)
}

type Look = ReturnType<typeof createLookThrough>

/** A string says why nothing may be written here. */
async function findBaseline(options: GuardOptions, look: Look): Promise<Baseline | string> {
  const { access } = options
  const { rules } = access
  const places = await shownPlaces(access)
  if (!places.ok) return places.why
  const found = await look(access.folders, { isClosed: isClosedIn(places.mounts), entriesMax: ENTRIES_MAX })
  if (found === undefined) return 'there are too many files to look through'
  const odd = found.protected.find(({ kind }) => kind === 'odd')
  if (odd !== undefined) return `${dirname(odd.path)} holds a name that is no text`
  const { covers, missing } = await findCovers(found, options)
  if (covers.some((path) => access.folders.includes(path)))
    return 'the working folder is itself among what runs by itself'
  if (covers.length + found.doors.length > COVERS_MAX) return 'it holds very many protected files'
  const mounts = [...places.mounts, ...coverMounts(covers, found.doors, { access, places: places.mounts })]
  return {
    ...{ rules, mounts, folders: places.folders, missing },
    ids: new Set(found.protected.flatMap(({ id, kind }) => (kind === 'link' ? [] : [id]))),
    slots: new Set(found.protected.map(({ slot }) => slot)),
    links: new Map(found.protected.flatMap((one) => (one.kind === 'link' ? [[one.slot, one] as const] : []))),
    restoreDevices: await keepDevices(),
  }
}

function isClosedIn(mounts: readonly Mount[]): (path: string) => boolean {
  const closed = new Set(mounts.flatMap(({ kind, path }) => (kind === 'closed' ? [path] : [])))
  return (path) => closed.has(path)
}

/** Real paths to mount read-only, and those that do not exist. */
async function findCovers(
  found: FolderLook,
  { access, alsoProtected }: GuardOptions,
): Promise<{ readonly covers: readonly string[]; readonly missing: readonly string[] }> {
  const links = found.protected.filter(({ kind }) => kind === 'link')
  const targets = await Promise.all(links.map(({ path }) => realPathOf(path).catch(() => undefined)))
  const trees = found.protected.filter(({ path }) => /\/\.git$/i.test(path)).map(({ path }) => dirname(path))
  const above = access.folders.flatMap(foldersFrom)
  const named = await Promise.all(
    [...new Set([...trees, ...above])].map((tree) => namedByGit(tree, access.home)),
  )
  const isWork = (path: string): boolean => access.folders.some((folder) => isInside(folder, path))
  const wanted = [
    ...found.protected.flatMap(({ path, kind, isHead }) =>
      kind === 'link' ? [] : [isHead ? dirname(path) : path],
    ),
    ...found.shared,
    ...targets.flatMap((path) => path ?? []),
    ...named.flat(),
    ...(await alsoProtected()),
  ].filter((path) => isWork(path))
  const unique = [...new Set(wanted)]
  const there = new Set(await existing(unique))
  // A configuration that seems to name a whole working folder only contains its name as a word.
  const isFolder = new Set(access.folders)
  const isMeant = (path: string): boolean =>
    !isFolder.has(path) || found.protected.some(({ isHead, path: at }) => isHead && dirname(at) === path)
  return {
    covers: unique.filter((path) => there.has(path) && isMeant(path)),
    missing: unique.filter((path) => !there.has(path)),
  }
}

function foldersFrom(path: string): readonly string[] {
  return dirname(path) === path ? [path] : [path, ...foldersFrom(dirname(path))]
}

function coverMounts(
  covers: readonly string[],
  doors: readonly string[],
  { access, places }: { readonly access: Access; readonly places: readonly Mount[] },
): readonly Mount[] {
  const closed = places.flatMap(({ kind, path }) => (kind === 'closed' ? [path] : []))
  const isBelow = (path: string, others: readonly string[]): boolean =>
    others.some((other) => other !== path && isInside(other, path))
  const isFree = (path: string): boolean =>
    !closed.includes(path) && !isBelow(path, closed) && !isBelow(path, covers)
  const [shown, shut] = [covers.filter(isFree), doors.filter(isFree)]
  const roots = new Set(access.folders)
  const held = new Set(
    [...shown, ...shut, ...closed].flatMap((path) =>
      foldersFrom(dirname(path)).filter((above) => isBelow(above, access.folders) && !roots.has(above)),
    ),
  )
  return [
    ...[...held].filter(isFree).map((path): Mount => ({ kind: 'writable', path })),
    ...shown.map((path): Mount => ({ kind: 'shown', path })),
    ...shut.map((path): Mount => ({ kind: 'closed', path, isFolder: false })),
  ]
}
