import { execFile } from 'node:child_process'
import { cp, mkdtemp, readdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'

import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'

import { loadAgentTypes } from '../packages/palimpsest-cli/src/agents/kinds/load-agent-types.ts'
import { removeFolder } from './kit/temp-home.ts'

// Agent files as people publish them, from the registry, unmodified. Without a network there are none: then the test is skipped, and says so.

const run = promisify(execFile)

/** Pinned, so that the test says the same tomorrow. `agents`: where in the package they lie. */
const PACKAGES = [
  { spec: 'claude-flow@3.43.0', agents: ['.claude/agents'] },
  { spec: 'bmad-method@6.12.0', agents: ['src/bmm-skills/agents', 'src/bmm-skills/plan/bmad-prfaq/agents'] },
] as const

/** What may be said of such a file: each tells the user what is not used, and none of it keeps the agent from being used. */
const SAID =
  /^(unknown (tools|disallowedTools|fields): |(tools|disallowedTools) of MCP servers that are not connected: |patterns in |fields that have no effect yet: |".*" is already defined in .*$|no front matter: )/

/** All by one start of npm, which takes longer than to get them. Undefined where the registry is not reached. */
const packages = { folder: '', packed: undefined as readonly string[] | undefined }
beforeAll(async () => {
  packages.folder = await mkdtemp(join(tmpdir(), 'palimpsest-packages-'))
  const flags = ['--silent', '--ignore-scripts', '--fetch-retries=0', '--fetch-timeout=20000']
  const args = ['pack', ...PACKAGES.map(({ spec }) => spec), ...flags]
  const ran = await run('npm', args, { cwd: packages.folder }).catch(() => undefined)
  packages.packed = ran?.stdout.trim().split('\n').slice(-PACKAGES.length)
})
afterAll(async () => await removeFolder(packages.folder))

async function unpacked(given: (typeof PACKAGES)[number], folder: string): Promise<string | undefined> {
  const packed = packages.packed?.[PACKAGES.indexOf(given)]
  if (packed === undefined) return undefined
  const places = given.agents.map((place) => `package/${place}`)
  await run('tar', ['-xzf', join(packages.folder, packed), ...places], { cwd: folder })
  return join(folder, 'package')
}

const hasHead = (text: string): boolean => /^---[ \t]*\r?\n/.test(text)

test.for(PACKAGES)('the agent files of $spec load unchanged', async (given, { skip }) => {
  const root = await mkdtemp(join(tmpdir(), 'palimpsest-packages-'))
  onTestFinished(async () => await removeFolder(root))
  const { spec, agents } = given
  const folder = await unpacked(given, root)
  if (folder === undefined) return skip(`the registry is not reached: ${spec} was not tried`)
  const project = join(root, 'project')
  for (const place of agents)
    await cp(join(folder, place), join(project, '.claude/agents', place), { recursive: true })
  const names = await readdir(join(project, '.claude/agents'), { recursive: true })
  const files = names.filter((name) => name.endsWith('.md') && !/^readme/i.test(basename(name)))
  const texts = await Promise.all(
    files.map(async (name) => await readFile(join(project, '.claude/agents', name), 'utf8')),
  )
  const loaded = await loadAgentTypes({
    projectFolder: project,
    home: join(root, 'home'),
    userHome: join(root, 'user'),
    isTrusted: true,
  })
  const own = loaded.types.filter(({ source }) => source === 'project')
  const repeated = loaded.problems.filter(({ text }) => text.includes(' is already defined in '))
  expect(own.length + repeated.length).toBe(texts.filter(hasHead).length)
  expect(own.length).toBeGreaterThan(0)
  expect(loaded.problems.filter(({ text }) => !SAID.test(text))).toEqual([])
  expect(own.filter(({ prompt, description }) => prompt === '' || description === '')).toEqual([])
  return undefined
})
