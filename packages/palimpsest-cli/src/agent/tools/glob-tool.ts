import { lstat } from 'node:fs/promises'
import { isAbsolute, join, relative } from 'node:path'

import type { LoopTool } from 'palimpsest/loop'

import { isLeftOut } from '../paths/access.ts'
import { globRoot } from '../paths/glob-root.ts'
import { grantedPath } from './granted-path.ts'
import { Refusal, toRefusal } from '../refusal.ts'
import { defineTool } from './define-tool.ts'
import type { SearchOptions } from './grep-tool.ts'
import { runRipgrep } from './ripgrep.ts'
import { optionalText, requiredText } from './tool-input.ts'

const SHOWN_MAX = 100
/** Paths whose times are compared; more are only counted. */
const COMPARED_MAX = 50_000

const DESCRIPTION = `Finds files by a pattern of their path, the most recently changed first.

- "*.ts" matches in the folder itself, "**/*.ts" at any depth, "src/**/*.{ts,tsx}" below src.
- path is the folder to search in, the working folder unless given.
- At most ${SHOWN_MAX} paths come back. Only files are listed, no folders.
- Files that .gitignore names are left out, unless nothing else matches.`

interface GlobInput {
  readonly pattern: string
  readonly path: string | undefined
}

export function createGlobTool(options: SearchOptions): LoopTool {
  return defineTool<GlobInput>({
    name: 'Glob',
    description: DESCRIPTION,
    properties: {
      pattern: { type: 'string', description: 'The pattern, for example "src/**/*.ts"' },
      path: { type: 'string', description: 'The folder to search in' },
    },
    required: ['pattern'],
    parse: (input) => ({ pattern: requiredText(input, 'pattern'), path: optionalText(input, 'path') }),
    isReadOnly: true,
    run: async ({ pattern, path }, { toolUseId, signal }) => {
      const { folder, rest } = globRoot(pattern, path)
      if (rest === '')
        throw new Refusal('The pattern names a folder. End it with a file pattern, for example "/**".')
      const root = await grantedPath(options.access, toolUseId, folder)
      await requireFolder(root)
      const list = (flags: readonly string[]) => listFiles({ root, pattern: rest, flags }, options, signal)
      const kept = await list([])
      const found = kept.paths.length > 0 ? kept : await list(['--no-ignore'])
      const notes = [
        ...(kept.paths.length === 0 && found.paths.length > 0
          ? ['[.gitignore names these files; no others match.]']
          : []),
        ...(found.isPart
          ? ['[There are too many files to look at all of them. Use a narrower pattern.]']
          : []),
      ]
      return render(await newestFirst(found.paths), {
        total: found.paths.length,
        notes,
        cwd: options.access.cwd,
      })
    },
  })
}

async function requireFolder(path: string): Promise<void> {
  const found = await lstat(path).catch((error: unknown) => {
    throw toRefusal(error, 'search', path)
  })
  if (!found.isDirectory()) throw new Refusal(`${path} is no folder.`)
}

interface Listing {
  readonly root: string
  readonly pattern: string
  readonly flags: readonly string[]
}

async function listFiles(
  { root, pattern, flags }: Listing,
  { access, ripgrep, env, sandbox }: SearchOptions,
  signal: AbortSignal,
): Promise<{ readonly paths: readonly string[]; readonly isPart: boolean }> {
  const program = await ripgrep()
  if (program === undefined)
    throw new Refusal('ripgrep is not installed. Install it (rg), or search with Bash (find).')
  // A leading slash anchors the pattern, and keeps it from being an exclusion.
  const args = ['--files', '--null', '--hidden', ...flags, `--glob=/${pattern}`, '--glob=!.git']
  const { output, cut } = await runRipgrep(
    { program, args, folder: root, env, inside: { sandbox, root } },
    signal,
  )
  const paths = output
    .split('\0')
    .filter((path) => path !== '')
    .map((path) => join(root, path))
    .filter((path) => !isLeftOut(access, path, root))
  return { paths, isPart: cut !== 'no' }
}

async function newestFirst(paths: readonly string[]): Promise<readonly string[]> {
  const compared = paths.slice(0, COMPARED_MAX)
  const times = await Promise.all(
    compared.map((path) =>
      lstat(path).then(
        ({ mtimeMs }) => mtimeMs,
        () => 0,
      ),
    ),
  )
  const dated = compared.map((path, index) => ({ path, time: times[index] ?? 0 }))
  return dated.toSorted((a, b) => b.time - a.time || (a.path < b.path ? -1 : 1)).map(({ path }) => path)
}

interface Rest {
  readonly total: number
  readonly notes: readonly string[]
  readonly cwd: string
}

function render(paths: readonly string[], { total, notes, cwd }: Rest): string {
  if (total === 0) return ['No files match.', ...notes].join('\n')
  const shown = paths.slice(0, SHOWN_MAX).map((path) => {
    const below = relative(cwd, path)
    return below.startsWith('..') || isAbsolute(below) ? path : below
  })
  const more =
    total > shown.length ? [`[${total - shown.length} more files match. Use a narrower pattern.]`] : []
  return [...shown, ...more, ...notes].join('\n')
}
