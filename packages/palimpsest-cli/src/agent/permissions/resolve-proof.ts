import { lstat, readdir, stat } from 'node:fs/promises'
import { join, normalize } from 'node:path'

import { expandPath } from '../paths/absolute-path.ts'
import { isHiddenUnderAName, isReadablePath, isWorkPath, type Access } from '../paths/access.ts'
import { realPathOf } from '../paths/real-path.ts'
import { matchPathPattern, parsePathPattern } from '../patterns/path-pattern.ts'
import { systemCode } from '../files/system-code.ts'
import { hidesFiles } from './match-path.ts'
import type { ProvenWord } from '../command/proven/argument-grammar.ts'
import type { LineProof, ProvenCommand, ProvenStep } from '../command/proven/prove-line.ts'

// Compares a proven line with the disk: every file it names must be readable unasked, patterns become the names they match, and the line
// is rewritten from that.

export type ResolvedLine =
  | { readonly ok: true; readonly command: string; readonly folder: string }
  | { readonly ok: false; readonly why: string }

/** Only a benchmark replaces this, to stand in for the disk. */
type IsFolder = (path: string) => Promise<boolean>

async function isFolderHere(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() === true
}

class NotFree extends Error {}

const WORDS_MAX = 500
/** Entries that a pattern may reach; with more, the user is asked. */
const ENTRIES_MAX = 5000

export async function resolveProof(
  proof: Extract<LineProof, { proven: true }>,
  access: Access,
  isFolder: IsFolder = isFolderHere,
): Promise<ResolvedLine> {
  try {
    const here = access.shellFolder()
    const folder = proof.folder === undefined ? here : await leadTo(proof.folder, here, { access, isFolder })
    const steps: string[] = []
    for (const step of proof.steps) steps.push(await written(step, folder, access))
    const go = proof.folder === undefined ? '' : `cd -P -- ${quoted(folder)} || exit 1\n`
    return { ok: true, folder, command: `${go}${steps.join(' ')}` }
  } catch (error) {
    if (error instanceof NotFree) return { ok: false, why: error.message }
    throw error
  }
}

/** The words of a proven command as we write them. Undefined if one names something that may not be read unasked. */
export async function writtenWords(
  words: readonly ProvenWord[],
  folder: string,
  access: Access,
): Promise<readonly string[] | undefined> {
  try {
    const written: string[] = []
    for (const word of words) written.push(...(await resolvedWord(word, folder, access)))
    return written.length > WORDS_MAX ? undefined : written
  } catch (error) {
    if (error instanceof NotFree) return undefined
    throw error
  }
}

export async function leadTo(
  word: ProvenWord,
  here: string,
  { access, isFolder = isFolderHere }: { readonly access: Access; readonly isFolder?: IsFolder },
): Promise<string> {
  if (word.kind !== 'file' || word.isPattern) throw new NotFree('where it goes is not plain')
  const folder = await freePath(word.path, here, access)
  // After the move, only real paths are checked, so a link could hide the name that a rule is about.
  const named = normalize(expandPath(word.path, { cwd: here, home: access.home }))
  if (access.rules.some(hidesFiles) && named.replace(/(?<=.)\/$/, '') !== folder)
    throw new NotFree(`${word.path} is a link, and rules hide files by their names`)
  if (!(await isFolder(folder)) || !isWorkPath(access, folder))
    throw new NotFree(`${word.path} is no folder that is worked in`)
  return folder
}

async function written(step: ProvenStep, folder: string, access: Access): Promise<string> {
  const commands: string[] = []
  for (const command of step.commands) commands.push(await writtenCommand(command, folder, access))
  const joint = step.joint === '' ? '' : `${step.joint} `
  return `${joint}${step.isNegated ? '! ' : ''}${commands.join(' | ')}`
}

async function writtenCommand(command: ProvenCommand, folder: string, access: Access): Promise<string> {
  const words: string[] = []
  for (const word of command.words) words.push(...(await resolvedWord(word, folder, access)))
  if (words.length > WORDS_MAX) throw new NotFree('it names very many files')
  const [input] = command.input === undefined ? [] : await resolvedWord(command.input, folder, access)
  return [
    quoted(command.name),
    ...words.map(quoted),
    ...(input === undefined ? [] : [`< ${quoted(input)}`]),
    ...command.redirects,
  ].join(' ')
}

async function resolvedWord(word: ProvenWord, folder: string, access: Access): Promise<readonly string[]> {
  if (word.kind === 'text') return [word.text]
  const { path, option, isPattern, mustBeRegular } = word
  const paths = isPattern ? await namesOf(path, folder, access) : [path]
  for (const one of paths) {
    const real = await freePath(one, folder, access)
    if (mustBeRegular && (await lstat(real).catch(() => undefined))?.isFile() !== true)
      throw new NotFree(`${one} is no plain file`)
  }
  return paths.map((one) => `${option}${expandTilde(one, access)}`)
}

/** The real path, if it may be read unasked; otherwise throws `NotFree`. */
async function freePath(path: string, folder: string, access: Access): Promise<string> {
  const named = expandPath(path, { cwd: folder, home: access.home })
  if (named === '/dev/null') return named
  const real = await realPathOf(named).catch((error: unknown) => {
    // The system could not open this path.
    if (['ENOTDIR', 'ENAMETOOLONG'].includes(systemCode(error) ?? '')) return undefined
    throw new NotFree(`${named} is not among the files it may read unasked`)
  })
  if (real !== undefined && (!isReadablePath(access, real) || (await isHiddenUnderAName(access, named))))
    throw new NotFree(`${named} is not among the files it may read unasked`)
  return real ?? named
}

function expandTilde(path: string, { home }: Access): string {
  return path === '~' || path.startsWith('~/') ? `${home}${path.slice(1)}` : path
}

/** What bash would expand the pattern to; the pattern itself if nothing matches. */
async function namesOf(pattern: string, folder: string, access: Access): Promise<readonly string[]> {
  const expanded = expandTilde(pattern, access)
  if (/(^|\/)\.\.?(\/|$)/.test(expanded.replace(/^(\.\/)+/, '')))
    throw new NotFree(`the pattern "${pattern}" is not plain`)
  let found = [expanded.startsWith('/') ? '/' : '']
  let entries = 0
  for (const part of expanded.split('/').filter((name) => name !== '')) {
    const next: string[] = []
    for (const at of found) {
      const names = /[*?]/.test(part) ? await readdir(join(folder, at)).catch(() => []) : [part]
      entries += names.length
      if (entries > ENTRIES_MAX) throw new NotFree(`the pattern "${pattern}" reaches very many files`)
      const matcher = parsePathPattern(`/${part}`, false)
      const isMet = (name: string): boolean =>
        name === part ||
        ((part.startsWith('.') || !name.startsWith('.')) &&
          matcher !== undefined &&
          matchPathPattern(matcher, name).matches)
      next.push(
        ...names.filter(isMet).map((name) => (at === '' || at === '/' ? `${at}${name}` : `${at}/${name}`)),
      )
    }
    found = next
  }
  const names = found.map((name) => (/^[\w./]/.test(name) ? name : `./${name}`))
  return names.length === 0 ? [expanded] : names.toSorted()
}

export function quoted(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`
}
