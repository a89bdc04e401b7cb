import { stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { hashBytes } from '../files/hash-bytes.ts'
import { readRegular } from '../files/open-regular.ts'
import { fromUnits, toTextForm } from '../files/text-form.ts'
import { expandPath } from '../paths/absolute-path.ts'
import { isHiddenUnderAName } from '../paths/access.ts'
import { dottedPlaceAround, isPrivatePath, privatePlacesOf } from '../paths/private-places.ts'
import { isInside, realPathOf } from '../paths/real-path.ts'
import { Refusal } from '../refusal.ts'
import { findImports } from './find-imports.ts'

// The instruction files of a folder: its own and those of the folders above it, outermost first, and what they import. They become part of
// the first user message, never of the system prompt. Whatever is left out is reported.

export const INSTRUCTION_NAMES = ['AGENTS.md', 'CLAUDE.md'] as const
export const IMPORT_DEPTH_MAX = 4
/** About 25,000 tokens; a longer file is cut at a line end. */
export const FILE_CHARS_MAX = 100_000
export const TOTAL_CHARS_MAX = 200_000
export const FILES_MAX = 100
/** Most bytes to read from disk, before anything is checked. */
const FILE_BYTES_MAX = 4 * 1024 * 1024

export interface InstructionFile {
  readonly path: string
  readonly text: string
  /** The file that imports it. Absent: it was not imported. */
  readonly importedBy?: string | undefined
  /** Characters left out at its end. */
  readonly cut: number
}

export interface Instructions {
  readonly files: readonly InstructionFile[]
  /** For the user: what was not loaded, and why. */
  readonly notices: readonly string[]
}

export interface InstructionPlaces {
  readonly cwd: string
  /** Main folder of the project, real or not; imports from outside it need trust. */
  readonly projectFolder: string
  /** PALIMPSEST_HOME: contains the user's own AGENTS.md, which comes first. */
  readonly home: string
  /** What `~` stands for. */
  readonly userHome: string
  readonly isTrusted: boolean
  /** Rules keep the file from being read unasked. Takes one of its names. */
  readonly isHidden?: (path: string) => boolean
}

interface Loading {
  readonly places: InstructionPlaces & {
    readonly realProject: string
    readonly realHome: string
    readonly realUserHome: string
    readonly privatePlaces: readonly string[]
  }
  readonly files: InstructionFile[]
  readonly notices: string[]
  /** Real paths and contents that were already loaded. */
  readonly seen: Set<string>
  chars: number
}

export async function loadInstructions(places: InstructionPlaces): Promise<Instructions> {
  const realProject = await realPathOf(places.projectFolder)
  const realHome = await realPathOf(places.home)
  const realUserHome = await realPathOf(places.userHome)
  const loading: Loading = {
    places: {
      ...places,
      realProject,
      realHome,
      realUserHome,
      privatePlaces: privatePlacesOf(realUserHome),
    },
    files: [],
    notices: [],
    seen: new Set(),
    chars: 0,
  }
  for (const folder of [places.home, ...foldersDownTo(await realPathOf(places.cwd))]) {
    for (const name of INSTRUCTION_NAMES) await loadFile(loading, { path: join(folder, name), depth: 0 })
  }
  return { files: loading.files, notices: loading.notices }
}

/** From the root to the folder itself. */
function foldersDownTo(folder: string): readonly string[] {
  const parent = dirname(folder)
  return parent === folder ? [folder] : [...foldersDownTo(parent), folder]
}

interface Wanted {
  readonly path: string
  readonly depth: number
  readonly importedBy?: string
}

async function loadFile(loading: Loading, wanted: Wanted): Promise<void> {
  const { path, depth, importedBy } = wanted
  // A word with @ that names no file is just a word.
  if ((await stat(path).catch(() => undefined))?.isFile() !== true) return
  const real = await realPathOf(path)
  if (loading.seen.has(real)) return
  const refusal = await refusalOf(loading, wanted, real)
  if (refusal !== undefined) {
    loading.notices.push(`${path} is not loaded: ${refusal}`)
    return
  }
  loading.seen.add(real)
  const text = await readText(real, loading)
  if (text === undefined || text.trim() === '') return
  const content = hashBytes(Buffer.from(text.trim()))
  if (loading.seen.has(content)) return
  loading.seen.add(content)
  const imports = findImports(text)
  // A file that only points to another has no text of its own.
  const isPointer = imports.length === 1 && text.trim() === `@${imports[0]}`
  if (!isPointer) addFile(loading, { path: real, text: text.trim(), importedBy })
  if (imports.length > 0 && depth >= IMPORT_DEPTH_MAX) {
    loading.notices.push(
      `${real}: its imports are not followed, because they are nested more than ${IMPORT_DEPTH_MAX} deep`,
    )
    return
  }
  for (const name of imports) {
    const target = expandPath(name, { cwd: dirname(real), home: loading.places.userHome })
    await loadFile(loading, { path: target, depth: depth + 1, importedBy: real })
  }
}

/** Why a file must not be loaded; depends on who wrote it: the user, the project, or someone who needs trust first. Undefined: it may. */
async function refusalOf(
  { places, files }: Loading,
  wanted: Wanted,
  real: string,
): Promise<string | undefined> {
  if (files.length >= FILES_MAX) return `there are more than ${FILES_MAX} instruction files`
  const { isHidden } = places
  if (isHidden !== undefined && (await isHiddenUnderAName({ isHidden }, wanted.path)))
    return 'a rule does not allow reading it without asking'
  const closed = [...places.privatePlaces, ...dottedPlaceAround(real, places.realUserHome)]
  const isPrivate = isPrivatePath(real, closed, [places.realProject, places.realHome])
  if (isPrivate && wanted.importedBy !== undefined)
    return `${wanted.importedBy} imports it from a place where keys are kept`
  if (isPrivate && real !== wanted.path) return 'it is a link to a place where keys are kept'
  if (isInside(places.realProject, real) || isInside(places.realHome, real)) return undefined
  // No tool writes instruction files unasked, but a tool may write what they import.
  if (wanted.depth > 1 && isInside(places.realProject, wanted.importedBy ?? ''))
    return `${wanted.importedBy} imports it from outside the project, and only AGENTS.md and CLAUDE.md can`
  if (places.isTrusted) return undefined
  if (wanted.importedBy === undefined && real === wanted.path) {
    const { uid } = await stat(real)
    const own = process.getuid?.()
    return own === undefined || uid === own || uid === 0
      ? undefined
      : 'it belongs to another user. Use --trust to load it'
  }
  return wanted.importedBy === undefined
    ? 'it is a link to a place outside the project. Use --trust to load it'
    : `${wanted.importedBy} imports it from outside the project. Use --trust to load it`
}

async function readText(path: string, loading: Loading): Promise<string | undefined> {
  try {
    const { bytes } = await readRegular(path, FILE_BYTES_MAX)
    const form = toTextForm(bytes)
    if (form !== undefined) return fromUnits(form.units, form.encoding).replaceAll('\r\n', '\n')
    loading.notices.push(`${path} is not loaded: it is not a text file`)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    loading.notices.push(`${path} is not loaded: ${error.message}`)
  }
  return undefined
}

function addFile(loading: Loading, file: Omit<InstructionFile, 'cut'>): void {
  const room = Math.min(FILE_CHARS_MAX, TOTAL_CHARS_MAX - loading.chars)
  const text = file.text.length <= room ? file.text : atLineEnd(file.text, room)
  if (text === '') {
    loading.notices.push(
      `${file.path} is not loaded: all instruction files together hold more than ${TOTAL_CHARS_MAX} characters`,
    )
    return
  }
  const cut = file.text.length - text.length
  if (cut > 0) loading.notices.push(`${file.path} is too long: its last ${cut} characters are left out`)
  loading.chars += text.length
  loading.files.push({ ...file, text, cut })
}

function atLineEnd(text: string, charsMax: number): string {
  return text.slice(0, Math.max(0, text.lastIndexOf('\n', charsMax)))
}
