import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { StorageError } from '../../errors.ts'
import { writeAtomically } from '../files/atomic-write.ts'
import { makeFolder, requireInside } from '../files/inside-home.ts'
import { readMemoryTexts } from '../memory/memory-text.ts'

const FOLDER = 'dream'
const INDEX = 'MEMORY'

interface CopyFiles {
  readonly texts: ReadonlyMap<string, string>
  readonly index: string
}

/** A copy of a project's memories, in `dream/` beside them. Copies that killed processes left there are removed first. */
export async function openDreamCopy(
  { home, folder }: { readonly home: string; readonly folder: string },
  id: string,
  files: CopyFiles,
): Promise<{
  readonly path: string
  readonly read: () => Promise<CopyFiles>
  readonly remove: () => Promise<void>
}> {
  const parent = await makeFolder(home, join(folder, FOLDER))
  const remove = async (): Promise<void> => {
    await requireInside(home, parent)
    await rm(parent, { recursive: true, force: true })
  }
  await remove()
  const path = await makeFolder(home, join(parent, id))
  for (const [name, text] of [...files.texts, [INDEX, files.index] as const])
    await writeAtomically(home, join(path, `${name}.md`), text, 'fleeting')
  return { path, read: async () => await readCopy(home, path, files), remove }
}

/** A file without text counts as removed, unless it was empty before. */
async function readCopy(home: string, path: string, before: CopyFiles): Promise<CopyFiles> {
  const texts = new Map<string, string>()
  let index = ''
  const files = (await readdir(path)).filter((file) => !file.startsWith('.')).toSorted()
  const other = files.find((file) => !file.endsWith('.md'))
  if (other !== undefined) throw new StorageError('io', `${other} in the copy is no memory`)
  const read = await readMemoryTexts(
    home,
    files.map((file) => join(path, file)),
  )
  for (const [i, found] of read.entries()) {
    const file = files[i] ?? ''
    const name = file.slice(0, -'.md'.length)
    if (found.kind !== 'text') throw new StorageError('io', `${file} in the copy cannot be used`)
    if (name === INDEX) index = found.text
    else if (found.text.trim() !== '' || before.texts.get(name) === found.text) texts.set(name, found.text)
  }
  return { texts, index }
}
