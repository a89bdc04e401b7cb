import type { LoopTool } from 'palimpsest/loop'
import type { JsonObject } from 'palimpsest/wire'

import { parseShell, type ShellText } from '../command/parse-shell.ts'
import { toAbsolutePath } from '../paths/absolute-path.ts'
import { isReadablePath, isWorkPath, type Access } from '../paths/access.ts'
import { globRoot } from '../paths/glob-root.ts'
import { isInside, namesAlong } from '../paths/real-path.ts'
import { toRefusal } from '../refusal.ts'
import { optionalFlag, optionalText, requiredText } from '../tools/tool-input.ts'
import { isOwnTool, TOOL_NATURES, type ToolName } from '../tools/tool-natures.ts'
import { toPageUrl } from '../web/fetch-page.ts'
import { isNamedByGit } from './named-by-git.ts'
import { isConfiguration, liesInRepository } from './protected-files.ts'

// What a call would touch, found out before anything is decided.

export interface FileFacts {
  readonly kind: 'file'
  readonly access: 'read' | 'write'
  /** Every name by which the system gets there, including the real one. */
  readonly names: readonly string[]
  /** The real path. */
  readonly real: string
  /** For a write: in the working folders. For a read: where reading is free. */
  readonly isInside: boolean
  /** For a write: another check judges what is written there, whatever the mode. */
  readonly isJudged: boolean
  /** For a write: the plan of the conversation, which may be written. */
  readonly isPlan: boolean
  /** Configuration that decides what programs do: needs a rule that names it, or the user's answer. */
  readonly isProtected: boolean
  /** Whether another path is protected too. */
  readonly protects: (path: string) => boolean
}

export type CallFacts =
  | FileFacts
  | {
      readonly kind: 'shell'
      readonly command: string
      readonly text: ShellText
      /** The model wants it outside the sandbox. */
      readonly isOutside: boolean
    }
  | { readonly kind: 'web'; readonly host: string; readonly hostname: string }
  /** Touches nothing outside the conversation. */
  | { readonly kind: 'inner' }
  | { readonly kind: 'other'; readonly readsOnly: boolean }

/** Called only for writes: it takes a while to find these folders. */
type ProtectedFolders = () => Promise<readonly string[]>

/** Throws a `Refusal` for an input that makes no sensible call. */
export async function factsOf(
  tool: Pick<LoopTool, 'name' | 'isReadOnly'>,
  input: JsonObject,
  access: Access,
  protectedFolders: ProtectedFolders,
): Promise<CallFacts> {
  const { name } = tool
  if (!isOwnTool(name)) return { kind: 'other', readsOnly: tool.isReadOnly(input) }
  const nature = TOOL_NATURES[name]
  switch (nature) {
    case 'read':
      return readFacts(requiredText(input, 'file_path'), access)
    case 'search':
      return readFacts(searchedFolder(name, input), access)
    case 'write':
      return writeFacts(requiredText(input, 'file_path'), access, protectedFolders)
    case 'run': {
      const command = requiredText(input, 'command')
      const isOutside = optionalFlag(input, 'outside_sandbox')
      return { kind: 'shell', command, text: parseShell(command), isOutside }
    }
    case 'fetch': {
      const { host, hostname } = toPageUrl(requiredText(input, 'url'))
      return { kind: 'web', host, hostname }
    }
    case 'inner':
      return { kind: 'inner' }
    default:
      return nature satisfies never
  }
}

/** The pattern itself may lead out of the folder that is searched. */
function searchedFolder(name: ToolName, input: JsonObject): string {
  const path = optionalText(input, 'path')
  return name === 'Glob' ? globRoot(requiredText(input, 'pattern'), path).folder : (path ?? '.')
}

async function readFacts(path: string, access: Access): Promise<FileFacts> {
  const { names, real } = await resolvePath(path, access)
  return {
    kind: 'file',
    access: 'read',
    names,
    real,
    isInside: isReadablePath(access, real),
    isJudged: false,
    isPlan: false,
    isProtected: false,
    protects: () => false,
  }
}

async function writeFacts(
  path: string,
  access: Access,
  protectedFolders: ProtectedFolders,
): Promise<FileFacts> {
  const { names, real } = await resolvePath(path, access)
  const folders = await protectedFolders()
  const protects = (one: string): boolean =>
    folders.some((folder) => isInside(folder, one)) || isConfiguration(one, access.folders)
  const isProtected =
    names.some(protects) ||
    (await liesInRepository(real, access.folders)) ||
    (await isNamedByGit(real, access.home))
  const isWork = isWorkPath(access, real)
  const isJudged = access.isJudged(real)
  const { path: plan, isWritable = false } = access.planFile ?? {}
  const isPlan = isWritable && real === plan
  return {
    kind: 'file',
    access: 'write',
    names,
    real,
    isInside: isWork,
    isJudged,
    isPlan,
    isProtected,
    protects,
  }
}

async function resolvePath(
  path: string,
  access: Access,
): Promise<{ names: readonly string[]; real: string }> {
  const named = toAbsolutePath(path, access)
  const names = await namesAlong(named).catch((error: unknown) => {
    throw toRefusal(error, 'use', path)
  })
  return { names, real: names.at(-1) ?? named }
}
