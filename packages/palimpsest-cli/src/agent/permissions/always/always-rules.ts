import { realpath } from 'node:fs/promises'
import { isIP } from 'node:net'
import { resolve } from 'node:path'

import type { Access } from '../../paths/access.ts'
import { isInside } from '../../paths/real-path.ts'
import { escapePath } from '../../patterns/path-pattern.ts'
import { escapeWildcard } from '../../patterns/wildcard.ts'
import { isPublicAddress } from '../../web/public-address.ts'
import type { CallFacts, FileFacts } from '../call-facts.ts'
import { parseRule, type Rule } from '../rule.ts'
import { whyNotNarrow } from './narrow-command.ts'
import { toPlainLine, type PlainLine } from './plain-line.ts'

// What "always" may offer for a call: the narrowest rules that cover it, one for each command of a line. It offers none if every rule
// that covers the call would also cover much else.

export interface AlwaysRule {
  readonly rule: Rule
  /** What the rule allows, in words that follow "Always allow". */
  readonly what: string
}

export interface AlwaysRules {
  /** Every rule that might be needed; the caller leaves out those that it does not need. */
  readonly rules: readonly AlwaysRule[]
  /** Where all of them hold, in words that follow theirs. */
  readonly where: string
  /** What still asks, although the words might suggest otherwise. Absent: nothing. */
  readonly except?: string
}

/** A line with more commands is a script, and gets no offer. */
const COMMANDS_MAX = 6
/** A path in these folders may lead to something else later. */
const SYSTEM_FOLDERS = ['/proc', '/sys', '/dev']

const NOTHING: AlwaysRules = { rules: [], where: '' }

/** Empty if nothing narrow covers the call. */
export async function alwaysRulesFor(facts: CallFacts, access: Access): Promise<AlwaysRules> {
  const whileHere = `while you work in ${access.cwd}`
  switch (facts.kind) {
    case 'shell':
      return facts.text.readable ? await commandRules(facts.command, access) : NOTHING
    case 'file':
      return facts.access === 'write' ? writeRules(facts, access) : readRules(facts, access)
    case 'web': {
      const rule = { text: `WebFetch(domain:${facts.host})`, what: `pages from ${facts.host}` }
      return mayBePublic(facts.hostname) ? { rules: toRules(rule, access.cwd), where: whileHere } : NOTHING
    }
    case 'inner':
    case 'other':
      return NOTHING
    default:
      facts satisfies never
      return NOTHING
  }
}

async function commandRules(source: string, access: Access): Promise<AlwaysRules> {
  const line = toPlainLine(source)
  const folder = line && (await folderOfLine(line, access.shellFolder()))
  if (line === undefined || folder === undefined || line.commands.length > COMMANDS_MAX) return NOTHING
  const narrow = line.commands.filter((command) => whyNotNarrow(command) === undefined)
  const texts = new Set(narrow.map(({ text }) => text))
  const rules = [...texts].flatMap((text) =>
    toRules({ text: `Bash(${escapeWildcard(text)})`, what: `\`${text}\`` }, folder),
  )
  return { rules, where: `in ${folder}, exactly as written` }
}

function writeRules({ real, isInside: isWork, isProtected }: FileFacts, access: Access): AlwaysRules {
  const { cwd, folders, home } = access
  if (isProtected) return NOTHING
  const folder = isWork ? folders.find((one) => isInside(one, real)) : undefined
  if (folder === undefined) {
    const rule = { text: `Edit(${pathPattern(real)})`, what: `edits to the file ${real}` }
    return { rules: toRules(rule, cwd), where: `while you work in ${cwd}` }
  }
  // All of the home folder, or of the disk, is not narrow.
  if (isInside(folder, home)) return NOTHING
  const pattern = folder === cwd ? './**' : `${pathPattern(folder)}/**`
  const rule = { text: `Edit(${pattern})`, what: 'edits to files' }
  return { rules: toRules(rule, cwd), where: `in ${folder}`, except: STILL_ASKED }
}

const STILL_ASKED = 'hooks, settings and the like still ask'

function readRules({ real }: FileFacts, { cwd, home }: Access): AlwaysRules {
  const holdsMuch = [home, cwd].some((place) => isInside(real, place))
  if (holdsMuch || SYSTEM_FOLDERS.some((place) => isInside(place, real))) return NOTHING
  const rule = { text: `Read(${pathPattern(real)})`, what: `reading ${real}` }
  return { rules: toRules(rule, cwd), where: `while you work in ${cwd}` }
}

/** A pattern that takes each character of the path literally; it also covers everything below the path. */
export function pathPattern(path: string): string {
  return path === '/' ? '/' : `/${escapePath(path)}`
}

/** Empty if no rule can express the text, such as a name with a line end. */
function toRules(
  { text, what }: { readonly text: string; readonly what: string },
  folder: string,
): readonly AlwaysRule[] {
  const parsed = parseRule(text, 'allow')
  return parsed.ok ? [{ rule: { ...parsed.rule, always: { folder } }, what }] : []
}

/** The real folder that all commands of the line run in. Undefined: it does not exist. */
export async function folderOfLine({ movesTo }: PlainLine, shellFolder: string): Promise<string | undefined> {
  return await realpath(resolve(shellFolder, movesTo ?? '.')).catch(() => undefined)
}

/** Hosts on this machine or its network get no offer: only a rule written by hand allows them. */
function mayBePublic(hostname: string): boolean {
  const plain = hostname.replaceAll(/^\[|\]$/g, '')
  if (isIP(plain) !== 0) return isPublicAddress(plain)
  return plain.includes('.') && !/\.(?:localhost|local|internal|lan|home|arpa)\.?$/.test(plain)
}
