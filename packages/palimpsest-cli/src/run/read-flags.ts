import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'

import { UsageError } from 'palimpsest'

import type { CommandInput } from '../commands/command.ts'
import type { World } from '../world.ts'

// Flags as values, checked on entry.

export function textOf({ flags }: CommandInput, name: string): string | undefined {
  const value = flags[name]
  return typeof value === 'string' ? value : undefined
}

export function countOf(input: CommandInput, name: string): number | undefined {
  const text = textOf(input, name)
  if (text === undefined) return undefined
  const count = Number(text)
  if (!Number.isInteger(count) || count < 1)
    throw new UsageError(`--${name} "${text}": give a whole number, 1 or more`)
  return count
}

export async function folderOf(
  text: string | undefined,
  world: Pick<World, 'cwd'>,
  flag = 'cwd',
): Promise<string> {
  const folder = resolve(world.cwd, text ?? '.')
  const isFolder = await stat(folder).then(
    (found) => found.isDirectory(),
    () => false,
  )
  if (!isFolder) throw new UsageError(`--${flag} ${folder}: there is no such folder`)
  return folder
}

export function pathOf(text: string | undefined, world: World): string | undefined {
  return text === undefined ? undefined : resolve(world.cwd, text)
}
