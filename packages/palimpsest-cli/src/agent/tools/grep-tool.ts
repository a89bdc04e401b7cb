import { lstat } from 'node:fs/promises'
import { isAbsolute, relative, resolve } from 'node:path'

import type { LoopTool } from 'palimpsest/loop'

import { isLeftOut, type Access } from '../paths/access.ts'
import { grantedPath } from './granted-path.ts'
import type { ChildEnvironment } from '../process/child-environment.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import { Refusal, toRefusal } from '../refusal.ts'
import { defineTool } from './define-tool.ts'
import { runRipgrep, type RipgrepResult } from './ripgrep.ts'
import { optionalChoice, optionalFlag, optionalInteger, optionalText, requiredText } from './tool-input.ts'

const MODES = ['content', 'files_with_matches', 'count'] as const
const HEAD_LIMIT_DEFAULT = 250
const HEAD_LIMIT_MAX = 100_000
const CONTEXT_MAX = 1000
/** A longer line is cut: minified files are no text to read. */
const LINE_CHARS_MAX = 1000

const DESCRIPTION = `Searches the content of files with ripgrep.

- pattern is a regular expression of ripgrep (Rust syntax). Escape braces and dots that are meant literally: \`interface\\{\\}\`.
- path is a file or folder, the working folder unless given. glob ("*.ts", "src/**/*.{ts,tsx}") or type ("ts", "py", "rust") narrows it down. Files that .gitignore names are left out.
- output_mode: "files_with_matches" (paths; the default), "content" (matching lines as path:line:text, with -A, -B or -C lines around them), "count" (matches per file).
- head_limit bounds the number of entries: ${HEAD_LIMIT_DEFAULT} unless given.
- With multiline a pattern may span lines and "." matches line ends.`

interface GrepInput {
  readonly pattern: string
  readonly path: string
  readonly glob: string | undefined
  readonly type: string | undefined
  readonly mode: (typeof MODES)[number]
  readonly flags: readonly string[]
  readonly headLimit: number
}

export interface SearchOptions {
  readonly access: Access
  /** Found at the first search. */
  readonly ripgrep: () => Promise<string | undefined>
  readonly sandbox: Sandbox
  readonly env: ChildEnvironment
}

export function createGrepTool(options: SearchOptions): LoopTool {
  const context = { type: 'integer', minimum: 0 }
  return defineTool<GrepInput>({
    name: 'Grep',
    description: DESCRIPTION,
    properties: {
      pattern: { type: 'string', description: 'The regular expression to look for' },
      path: { type: 'string', description: 'File or folder to search in' },
      glob: { type: 'string', description: 'Only files whose path matches' },
      type: { type: 'string', description: 'Only files of this type' },
      output_mode: { type: 'string', enum: MODES },
      '-i': { type: 'boolean', description: 'Ignore case' },
      '-n': { type: 'boolean', description: 'Show line numbers. Default: true' },
      '-A': { ...context, description: 'Lines to show after each match' },
      '-B': { ...context, description: 'Lines to show before each match' },
      '-C': { ...context, description: 'Lines to show around each match' },
      head_limit: { type: 'integer', minimum: 1, description: 'At most this many entries' },
      multiline: { type: 'boolean', description: 'Let the pattern span lines' },
    },
    required: ['pattern'],
    parse: (input) => {
      const around = (field: string): string[] => {
        const lines = optionalInteger(input, field, { min: 0, max: CONTEXT_MAX })
        return lines === undefined ? [] : [`${field}${lines}`]
      }
      const mode = optionalChoice(input, 'output_mode', MODES) ?? 'files_with_matches'
      const numbered = input['-n'] === undefined || optionalFlag(input, '-n')
      return {
        pattern: requiredText(input, 'pattern'),
        path: optionalText(input, 'path') ?? '.',
        glob: optionalText(input, 'glob'),
        type: optionalText(input, 'type'),
        mode,
        flags: [
          ...(optionalFlag(input, '-i') ? ['--ignore-case'] : []),
          ...(optionalFlag(input, 'multiline') ? ['--multiline', '--multiline-dotall'] : []),
          ...(mode === 'content' ? [numbered ? '-n' : '-N', ...['-A', '-B', '-C'].flatMap(around)] : []),
        ],
        headLimit:
          optionalInteger(input, 'head_limit', { min: 1, max: HEAD_LIMIT_MAX }) ?? HEAD_LIMIT_DEFAULT,
      }
    },
    isReadOnly: true,
    run: async (input, { toolUseId, signal }) => {
      const { access, env, sandbox } = options
      const path = await grantedPath(access, toolUseId, input.path)
      await requireSearchable(path)
      const program = await options.ripgrep()
      if (program === undefined)
        throw new Refusal('ripgrep is not installed. Install it (rg), or search with Bash (grep -rn).')
      const result = await runRipgrep(
        {
          program,
          args: toArguments(input, path),
          folder: access.cwd,
          env,
          inside: { sandbox, root: path },
        },
        signal,
      )
      return render(result, input, access, path)
    },
  })
}

/** If the path itself is a pipe, ripgrep would wait, and a device never ends. Below a folder, ripgrep skips both. */
async function requireSearchable(path: string): Promise<void> {
  const found = await lstat(path).catch((error: unknown) => {
    throw toRefusal(error, 'search', path)
  })
  if (!found.isFile() && !found.isDirectory())
    throw new Refusal(`${path} is a pipe, socket or device, not a file.`)
}

const MODE_FLAGS = {
  content: ['--no-heading'],
  files_with_matches: ['--files-with-matches'],
  count: ['--count-matches'],
} as const

/** No input can become an option: values are attached, and the path comes after `--`. */
function toArguments({ pattern, glob, type, mode, flags }: GrepInput, path: string): string[] {
  return [
    ...MODE_FLAGS[mode],
    '--null',
    '--with-filename',
    '--hidden',
    '--color=never',
    `--max-columns=${LINE_CHARS_MAX}`,
    '--max-columns-preview',
    ...flags,
    ...(type === undefined ? [] : [`--type=${type}`]),
    ...(glob === undefined ? [] : [`--glob=${glob}`]),
    '--glob=!.git',
    `--regexp=${pattern}`,
    '--',
    path,
  ]
}

interface FileEntries {
  readonly path: string
  readonly lines: readonly string[]
}

/** Files in the order of their paths, whatever order the search had, without those that rules hide. */
function render({ output, cut }: RipgrepResult, input: GrepInput, access: Access, root: string): string {
  const files = parseFiles(output, input.mode).filter(
    ({ path }) => !isLeftOut(access, resolve(access.cwd, path), root),
  )
  const sorted = files.toSorted((a, b) => (a.path < b.path ? -1 : 1))
  const entries = sorted.flatMap((file) => toEntries(file, input.mode, access.cwd))
  if (entries.length === 0) return cut === 'no' ? 'No matches.' : `No matches so far. ${cutText(cut)}`
  const shown = entries.slice(0, input.headLimit)
  const left = entries.length - shown.length
  return [
    ...shown,
    ...(left > 0 ? [`[${left} more entries. Narrow the search down, or raise head_limit.]`] : []),
    ...(cut === 'no' ? [] : [cutText(cut)]),
  ].join('\n')
}

function cutText(cut: 'too-much' | 'too-long'): string {
  return cut === 'too-much'
    ? '[The search found too much and was ended. Narrow it down by path, glob or pattern.]'
    : '[The search took too long and was ended. Narrow it down by path, glob or pattern.]'
}

interface FileLine {
  readonly path: string
  readonly line: string
}

const BINARY = /^(.*): binary file matches \(/s

/** A NUL follows each path. A path may contain line ends, so a line without a NUL belongs to the path after it. */
function parseFiles(output: string, mode: GrepInput['mode']): FileEntries[] {
  if (mode === 'files_with_matches') {
    return output.split('\0').flatMap((path) => (path === '' ? [] : [{ path, lines: [] }]))
  }
  const lines: FileLine[] = []
  let pending = ''
  for (const line of output.split('\n')) {
    const end = line.indexOf('\0')
    const [, binary] = end === -1 ? (BINARY.exec(line) ?? []) : []
    if (end !== -1) {
      lines.push({ path: pending + line.slice(0, end), line: line.slice(end + 1) })
      pending = ''
    } else if (binary !== undefined) lines.push({ path: binary, line: '(a binary file that matches)' })
    else if (line === '--') lines.push({ path: lines.at(-1)?.path ?? '', line })
    else pending += `${line}\n`
  }
  const byFile = Map.groupBy(lines, ({ path }) => path)
  return [...byFile].map(([path, all]) => ({ path, lines: withoutEdges(all.map(({ line }) => line)) }))
}

/** At the end of a file, the mark between two groups of lines separates nothing. */
function withoutEdges(lines: readonly string[]): readonly string[] {
  return lines.at(-1) === '--' ? lines.slice(0, -1) : lines
}

function toEntries({ path, lines }: FileEntries, mode: GrepInput['mode'], cwd: string): string[] {
  const below = relative(cwd, resolve(cwd, path))
  const shown = below.startsWith('..') || isAbsolute(below) ? path : below
  switch (mode) {
    case 'files_with_matches':
      return [shown]
    case 'count':
      return lines.map((count) => `${shown}:${count}`)
    case 'content':
      return lines.map((line) => (line === '--' ? line : `${shown}${separatorOf(line)}${line}`))
    default:
      mode satisfies never
      return []
  }
}

/** A matching line has a colon after its number, a context line a dash. */
function separatorOf(line: string): string {
  return /^\d+-/.test(line) ? '-' : ':'
}
