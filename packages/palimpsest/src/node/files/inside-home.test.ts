import { execFileSync } from 'node:child_process'
import { constants } from 'node:fs'
import { mkdir, readdir, readFile, readlink, rename, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { fileOptions, say, tempFolder, tempProject } from '../../../../../test/kit/temp-home.ts'
import { UsageError } from '../../errors.ts'
import { createExclusively, writeAtomically } from './atomic-write.ts'
import { createBlobStore } from './blobs.ts'
import { forkTranscript } from '../transcripts/fork-transcript.ts'
import { createInsideOpener, makeFolder, openHome, openInside } from './inside-home.ts'
import { openProject } from './paths.ts'
import { createTranscript, openTranscript } from '../transcripts/transcript-file.ts'

/** A home with a folder outside it that must stay empty. */
async function homeAndOutside() {
  const folder = await tempFolder()
  const outside = join(folder, 'outside')
  await mkdir(outside)
  const home = await openHome(join(folder, 'home'))
  return { folder, home, outside }
}

const REFUSED = { name: 'StorageError', failure: 'no-permission' }

describe('nothing is written outside the home', () => {
  it('(S1) a folder that links out of the home is refused, and nothing is created in its target', async () => {
    const { home, outside, folder } = await homeAndOutside()
    await symlink(outside, join(home, 'projects'))
    await expect(makeFolder(home, join(home, 'projects', 'a', 'b'))).rejects.toMatchObject(REFUSED)
    await expect(openProject(home, folder)).rejects.toMatchObject(REFUSED)
    expect(await readdir(outside)).toEqual([])
  })

  it('(S1) a project folder that links out of the home receives no transcript, blob, lock or fork', async () => {
    const { home, outside } = await homeAndOutside()
    await mkdir(join(home, 'projects'))
    await symlink(outside, join(home, 'projects', 'p'))
    const project = { home, folder: join(home, 'projects', 'p'), project: '/p' }
    await expect(createTranscript(fileOptions(project))).rejects.toMatchObject(REFUSED)
    await expect(createBlobStore(project, 's-1').save('toolu_1', 'x')).rejects.toMatchObject(REFUSED)
    const source = join(outside, '..', 'source.jsonl')
    await writeFile(source, '{}\n')
    await expect(
      forkTranscript({ source, project, sessionId: 'f', version: '0', now: () => 0 }),
    ).rejects.toMatchObject(REFUSED)
    expect(await readdir(outside)).toEqual([])
  })

  it('(S1) a transcript, lock or blob that is a link is not written through', async () => {
    const project = await tempProject()
    const victim = join(project.home, '..', 'victim')
    await writeFile(victim, 'precious')
    const path = join(project.folder, 's-1.jsonl')

    await symlink(victim, path)
    await expect(openTranscript(fileOptions(project))).rejects.toMatchObject(REFUSED)
    await expect(createTranscript(fileOptions(project))).rejects.toThrow(UsageError)

    const store = createBlobStore(project, 's-1')
    await makeFolder(project.home, join(project.folder, 's-1', 'tool-results'))
    await symlink(victim, join(project.folder, 's-1', 'tool-results', 'toolu_1.txt'))
    await expect(store.save('toolu_1', 'overwritten?')).rejects.toMatchObject(REFUSED)

    await symlink(victim, join(project.folder, 's-2.jsonl.lock'))
    const options = { ...fileOptions(project), sessionId: 's-2' }
    await expect(createTranscript(options)).rejects.toMatchObject({ name: 'StorageError' })
    expect(await readFile(victim, 'utf8')).toBe('precious')
  })

  it('(S1) a dangling link cannot be used to create a file outside', async () => {
    const project = await tempProject()
    const target = join(project.home, '..', 'made-outside')
    await symlink(target, join(project.folder, 's-1.jsonl'))
    await expect(createTranscript(fileOptions(project))).rejects.toThrow(UsageError)
    await expect(openTranscript(fileOptions(project))).rejects.toMatchObject(REFUSED)
    await symlink(target, join(project.folder, 'file'))
    await writeAtomically(project.home, join(project.folder, 'file'), 'inside')
    expect(await createExclusively(project.home, join(project.folder, 's-1.jsonl'), 'x')).toBe(false)
    expect(await readdir(join(project.home, '..'))).toEqual(['home'])
    expect(await readFile(join(project.folder, 'file'), 'utf8')).toBe('inside')
  })

  it('(S1) a path with .. is refused before anything is opened', async () => {
    const { home } = await homeAndOutside()
    await expect(openInside(home, join(home, '..', 'x'), constants.O_RDONLY)).rejects.toMatchObject(REFUSED)
    await expect(makeFolder(home, '/etc/x')).rejects.toMatchObject(REFUSED)
  })

  it('(S1) of many files opened for reading, none is used once their folder leads elsewhere', async () => {
    const { home, outside } = await homeAndOutside()
    const folder = await makeFolder(home, join(home, 'a'))
    await writeFile(join(folder, 'file'), 'inside')
    const opener = createInsideOpener(home)
    await expect(opener.open(join(home, '..', 'x'))).rejects.toMatchObject(REFUSED)
    const handle = await opener.open(join(folder, 'file'))
    await handle.close()
    expect(await opener.isStillInside()).toBe(true)
    await rename(folder, join(home, 'moved'))
    await symlink(outside, folder)
    expect(await opener.isStillInside()).toBe(false)
    await expect(createInsideOpener(home).open(join(folder, 'file'))).rejects.toMatchObject(REFUSED)
  })

  it('a home that is itself a link is followed, because that is the user’s choice', async () => {
    const folder = await tempFolder()
    await mkdir(join(folder, 'real'))
    await symlink(join(folder, 'real'), join(folder, 'home'))
    const home = await openHome(join(folder, 'home'))
    expect(home).toBe(join(folder, 'real'))
    const file = await createTranscript(fileOptions(await openProject(home, folder)))
    await file.append([say('a', null)])
    await file.close()
    expect(await readlink(join(folder, 'home'))).toBe(join(folder, 'real'))
  })

  it('an empty home is a usage error', async () => {
    await expect(openHome('')).rejects.toThrow(UsageError)
  })

  it('a home below a file cannot be created, and the error says what to do', async () => {
    const folder = await tempFolder()
    await writeFile(join(folder, 'file'), '')
    await expect(openHome(join(folder, 'file', 'home'))).rejects.toMatchObject({
      name: 'StorageError',
      message: expect.stringContaining('choose another PALIMPSEST_HOME'),
    })
    await expect(openHome('/proc/palimpsest')).rejects.toMatchObject({ name: 'StorageError' })
  })

  it.skipIf(process.platform === 'win32')(
    'a named pipe in place of a transcript does not block forever',
    async () => {
      const project = await tempProject()
      execFileSync('mkfifo', [join(project.folder, 's-1.jsonl')])
      await expect(openTranscript(fileOptions(project))).rejects.toMatchObject({
        failure: 'not-a-transcript',
      })
    },
  )
})
