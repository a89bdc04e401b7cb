import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { tempFolder } from '../../../../../test/kit/temp-home.ts'
import { UsageError } from '../../errors.ts'
import { openHome } from './inside-home.ts'
import { agentTranscriptPath, openProject, projectSlug, requireSessionId, transcriptPath } from './paths.ts'

describe('projectSlug', () => {
  it('keeps letters and digits and replaces everything else by dashes', () => {
    expect(projectSlug('/home/me/my_project.v2')).toBe('-home-me-my-project-v2')
    expect(projectSlug('C:\\Users\\Zoë')).toBe('C--Users-Zo-')
  })

  it('is shortened and hashed above 200 characters, so that long paths remain distinct', () => {
    const long = `/${'a'.repeat(199)}`
    expect(projectSlug(long)).toBe(`-${'a'.repeat(199)}`)
    const longer = projectSlug(`${long}b`)
    expect(longer).toMatch(/^-a{199}-[0-9a-f]{8}$/)
    expect(projectSlug(`${long}c`)).not.toBe(longer)
  })
})

describe('openProject', () => {
  it('records the real path and finds the same folder again', async () => {
    const folder = await tempFolder()
    const home = await openHome(join(folder, 'home'))
    const first = await openProject(home, folder)
    expect(first).toEqual({ home, folder: join(home, 'projects', projectSlug(folder)), project: folder })
    expect(JSON.parse(await readFile(join(first.folder, 'project.json'), 'utf8'))).toEqual({ path: folder })
    expect(await openProject(home, folder)).toEqual(first)
  })

  it('a second path with the same slug gets a folder of its own', async () => {
    const folder = await tempFolder()
    const home = await openHome(join(folder, 'home'))
    await mkdir(join(folder, 'a.b'))
    await mkdir(join(folder, 'a-b'))
    const [dot, dash] = [
      await openProject(home, join(folder, 'a.b')),
      await openProject(home, join(folder, 'a-b')),
    ]
    expect(dash.folder).toMatch(new RegExp(`^${dot.folder}-[0-9a-f]{8}$`))
    expect(await openProject(home, join(folder, 'a-b'))).toEqual(dash)
    expect(await openProject(home, join(folder, 'a.b'))).toEqual(dot)
  })

  it('two paths with the same slug, opened in parallel, each get their own folder', async () => {
    const folder = await tempFolder()
    const home = await openHome(join(folder, 'home'))
    const paths = ['x.y', 'x-y', 'x_y', 'x y'].map((name) => join(folder, name))
    await Promise.all(paths.map((path) => mkdir(path)))
    const opened = await Promise.all(paths.map((path) => openProject(home, path)))
    expect(new Set(opened.map((project) => project.folder)).size).toBe(paths.length)
  })

  it('a damaged project.json is reported, with what to do', async () => {
    const folder = await tempFolder()
    const home = await openHome(join(folder, 'home'))
    const { folder: made } = await openProject(home, folder)
    await writeFile(join(made, 'project.json'), '{"pa')
    await expect(openProject(home, folder)).rejects.toThrow(/project\.json is damaged.*Fix it or delete it/)
  })

  it('folders have mode 0700 and files 0600; an existing home keeps its mode', async () => {
    const folder = await tempFolder()
    await mkdir(join(folder, 'home'))
    await chmod(join(folder, 'home'), 0o755)
    const home = await openHome(join(folder, 'home'))
    const project = await openProject(home, folder)
    const mode = async (path: string) => (await stat(path)).mode & 0o777
    expect(await mode(home)).toBe(0o755)
    expect(await mode(join(home, 'projects'))).toBe(0o700)
    expect(await mode(project.folder)).toBe(0o700)
    expect(await mode(join(project.folder, 'project.json'))).toBe(0o600)
  })
})

describe('ids that become paths', () => {
  const project = { home: '/h', folder: '/h/projects/p', project: '/p' }

  it('letters, digits, dashes and underscores', () => {
    const id = '9b2f6c3e-1111-4222-8333-444455556666'
    expect(transcriptPath(project, id)).toBe(`/h/projects/p/${id}.jsonl`)
    expect(agentTranscriptPath(project, 's', 'agent_1')).toBe('/h/projects/p/s/agents/agent_1.jsonl')
  })

  it.each([
    '',
    '.',
    '..',
    '../x',
    'a/b',
    'a\\b',
    'a\0b',
    '-x',
    'a.b',
    'memory',
    'Session-Memory',
    'x'.repeat(129),
    'é',
  ])('(S1) %j is refused', (id) => {
    expect(() => requireSessionId(id)).toThrow(UsageError)
  })
})
