import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, relative } from 'node:path'
import { isDeepStrictEqual, promisify } from 'node:util'

import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { serve } from 'palimpsest/node'
import { createSimulator } from 'palimpsest/simulator'

import { ROOT } from './kit/source-tree.ts'

// The packages as a user gets them: built, packed, in an empty folder, run by Node without our conditions. With SOAK=1 npm packs both and
// installs them. In CI it builds both and packs the command; of the library, whose thousands of files take it long, the test takes what
// the manifest says; and what they declare is linked to what is installed here: undeclared needs fail, and nothing is fetched.

const run = promisify(execFile)
const LIBRARY = 'palimpsest'
const COMMAND = 'palimpsest-cli'
const PACKAGES = [LIBRARY, COMMAND]
const tsc = join(ROOT, 'node_modules/.bin/tsc')

interface Packed {
  readonly name: string
  readonly version: string
  /** The tarball. Absent: it lies in its place already. */
  readonly filename?: string
  readonly files: readonly { readonly path: string }[]
}

interface TypesChecked {
  readonly types: unknown
  readonly problems: readonly { readonly resolutionKind?: string }[]
}

/** Builds, packs and installs from npm's cache, beside other workers. */
const INSTALL_MS = 180_000

/** The compiler ends soon: to clear up behind itself takes a third of its time. */
const COMPILER = { GOGC: 'off', GOMEMLIMIT: '3GiB' }

let folder = ''
let packed: Packed[] = []

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'palimpsest-packed-'))
  writeFileSync(join(folder, 'package.json'), '{"name":"user","private":true,"type":"module"}')
  if (process.env['SOAK']) {
    packed = await pack(...PACKAGES)
    const tarballs = packed.map(({ filename }) => `./${filename}`)
    await npm(folder, 'install', '--prefer-offline', '--no-audit', '--no-fund', ...tarballs)
  } else {
    packed = [await layOutLibrary(), ...(await pack(COMMAND))]
    for (const one of packed) unpack(one)
  }
}, INSTALL_MS)

afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
})

describe('the packed packages', () => {
  test('contain what is built and nothing else', () => {
    const strangers = packed.flatMap(({ name, files }) =>
      files
        .map(({ path }) => path)
        .filter(
          (path) =>
            !/^(package\.json|README\.md|LICENSE|demo\/session\.jsonl|bin\/palimpsest\.cjs|tools\.d\.ts|dist\/[\w/-]+\.(js|js\.map|d\.ts))$/.test(
              path,
            ),
        )
        .map((path) => `${name}: ${path}`),
    )
    expect(strangers).toEqual([])
    expect(packed.map(({ name }) => name)).toEqual(PACKAGES)
  })

  test.each(PACKAGES)('publint finds %s well-formed', async (name) => {
    const pkgDir = join(folder, 'node_modules', name)
    const { messages, pkg } = await publint({ pkgDir, pack: false, strict: true })
    expect(messages.map((message) => formatMessage(message, pkg, { color: false }))).toEqual([])
  })

  test('name source, types and program for every public path of the library, and contain them', () => {
    const { files } = packed.find(({ name }) => name === LIBRARY) ?? { files: [] }
    const there = new Set(files.map(({ path }) => `./${path}`))
    const odd = Object.entries(publicPaths()).filter(([, { types, default: script, ...others }]) => {
      const stem = script.replace(/\.js$/, '')
      const source = `${stem.replace('/dist/', '/src/')}.ts`
      const isWhole = isDeepStrictEqual(others, { 'x-source': source }) && types === `${stem}.d.ts`
      return !isWhole || !there.has(types) || !there.has(script)
    })
    expect(odd).toEqual([])
  })

  // Each path takes a second or more. In CI the compiler and Node say it themselves, at the end of this file.
  test.skipIf(!process.env['SOAK'])(
    'attw finds that they resolve the same for the compiler and Node, for modules',
    async () => {
      const { types, problems } = await checkTypes()
      expect(types).toEqual({ kind: 'included' })
      // It is a package of modules: what is said about `require` and about compilers that do not read `exports` holds for all of those.
      expect(
        problems.filter(({ resolutionKind = '' }) => !/^(node10|node16-cjs)$/.test(resolutionKind)),
      ).toEqual([])
    },
    INSTALL_MS,
  )

  test('carry source maps that resolve', () => {
    const { files } = packed.find(({ name }) => name === LIBRARY) ?? { files: [] }
    const root = join(folder, 'node_modules/palimpsest')
    const scripts = files.map(({ path }) => path).filter((path) => path.endsWith('.js'))
    const broken = scripts.filter((path) => {
      const name = /\n\/\/# sourceMappingURL=(.+)\s*$/.exec(readFileSync(join(root, path), 'utf8'))?.[1] ?? ''
      const map: { sources: readonly string[]; sourcesContent?: readonly string[] } = JSON.parse(
        readFileSync(join(root, dirname(path), name), 'utf8'),
      )
      const [source = ''] = map.sources
      const written = readFileSync(join(ROOT, 'packages/palimpsest', dirname(path), source), 'utf8')
      return map.sources.length !== 1 || map.sourcesContent?.[0] !== written
    })
    expect(broken).toEqual([])
    expect(scripts.length).toBeGreaterThan(100)
  })

  test('provide the coding tools to an agent of the library', async () => {
    writeFileSync(
      join(folder, 'tools.mjs'),
      `import { codingTools } from 'palimpsest-cli/tools'
      const { tools, close } = await codingTools({ cwd: process.cwd(), env: process.env })
      console.log(tools.map(({ name }) => name).join())
      await close()`,
    )
    const { stdout } = await run(process.execPath, ['tools.mjs'], { cwd: folder })
    expect(stdout).toBe('Read,Write,Edit,Bash,TaskOutput,TaskStop,Grep,Glob,WebFetch,TodoWrite\n')
  })

  test('provide the command', async () => {
    const bin = (name: string): string => join(folder, 'node_modules/.bin', name)
    const version = packed.find(({ name }) => name === COMMAND)?.version
    expect((await run(bin('palimpsest'), ['--version'])).stdout).toBe(`${version}\n`)
    expect((await run(bin('pal'), ['--help'])).stdout).toMatch(/^Usage:\n {2}palimpsest /m)
    // The demo finds its recording. That it plays to the end takes its time.
    if (process.env['SOAK'])
      expect((await run(bin('pal'), ['demo'])).stdout).toContain('unmanaged, window that fits')
    else expect(await firstWords(bin('pal'), 'demo')).toMatch(/A session recorded with this agent, \d+ turns/)
  })

  test.each(['20.20.2', '22.15.9', '23.11.0', ...(process.env['SOAK'] ? ['18.0.0'] : [])])(
    'on Node %s say in one sentence which version they need, whatever the arguments',
    async (version) => {
      // The check reads the version and nothing else, so another Node can be made believe.
      const lie = `data:text/javascript,Object.defineProperty(process.versions,'node',{value:'${version}'})`
      const on = (...args: string[]): unknown => failing(process.execPath, ['--import', lie, ...args])
      const command = join(folder, 'node_modules/palimpsest-cli/bin/palimpsest.cjs')
      for (const args of version.startsWith('20') ? [['doctor'], ['--version'], ['-p', 'hi']] : [['doctor']])
        expect(on(command, ...args)).toEqual({ exit: 2, out: '', err: tooOld(version) })
      writeFileSync(
        join(folder, 'old.mjs'),
        `await import('palimpsest/wire').catch((e) => console.log(e.name, e.message))`,
      )
      const library = await run(process.execPath, ['--import', lie, 'old.mjs'], { cwd: folder })
      expect(library.stdout).toBe(`UsageError this is Node ${version}; palimpsest needs ${NEEDED}\n`)
    },
  )

  const older = olderNode()
  test.skipIf(older === undefined)(
    'on the older Node of this machine say so, without a stack trace',
    async () => {
      const { path = '', version = '' } = older ?? {}
      const command = join(folder, 'node_modules/palimpsest-cli/bin/palimpsest.cjs')
      expect(failing(path, [command, 'doctor'])).toEqual({ exit: 2, out: '', err: tooOld(version) })
    },
  )

  test('an installation that lacks a file says so', () => {
    const command = join(folder, 'node_modules/palimpsest-cli/bin/palimpsest.cjs')
    const main = join(folder, 'node_modules/palimpsest-cli/dist/main.js')
    renameSync(main, `${main}.away`)
    const { exit, err } = failing(process.execPath, [command, 'doctor'])
    renameSync(`${main}.away`, main)
    expect(exit).toBe(1)
    expect(err).toMatch(
      /^palimpsest: the installation is damaged: Cannot find module .*\. Install it again.*\n$/,
    )
  })

  test('run the lines of the README with both majors of the SDK, and the lines type-check', async () => {
    const places = SDKS.map(([version, sdk]) => userWith(version, sdk))
    const programs = places.flatMap((place) =>
      linesOfReadme().map((lines, i) => {
        writeFileSync(join(place, `readme-${i}.mts`), lines)
        return join(place, `readme-${i}`)
      }),
    )
    expect(await compile(folder, ...programs.map((path) => `${path}.mts`), '--skipLibCheck')).toBe('')
    const words = SDKS.flatMap(() => ['Hello.', '42 bolts.'])
    const script = words.map((text) => ({ content: [{ type: 'text' as const, text }] }))
    const server = await serve(createSimulator({ script }).fetch)
    const env = { ...process.env, ANTHROPIC_API_KEY: 'none', ANTHROPIC_BASE_URL: server.url }
    const all = join(folder, 'readme.mjs')
    writeFileSync(all, programs.map((path) => `await import('${path}.mjs')\n`).join(''))
    try {
      const { stdout } = await run(process.execPath, [all], { cwd: folder, env })
      // One program prints a line, the other what comes, as it comes.
      expect(stdout).toBe(SDKS.map(() => 'Hello.\n42 bolts.').join(''))
    } finally {
      await server.close()
    }
  })

  test.skipIf(!process.env['SOAK'])(
    'run the examples and the programs of the guide on the oldest Node of the 22 line',
    async ({ skip }) => {
      const node = await oldestNode()
      if (node === undefined) return skip('npm brings no Node 22.16.0 for this machine.')
      const place = userWith('1.8.0', '@anthropic-ai/sdk', 'user-oldest')
      for (const name of ['ai', '@ai-sdk'])
        symlinkSync(join(ROOT, 'node_modules', name), join(place, 'node_modules', name))
      cpSync(join(ROOT, 'examples'), join(place, 'examples'), { recursive: true })
      // The one of logs reads a file of this repository.
      const programs = globSync(['examples/*.ts', 'examples/library/*.ts'], { cwd: place }).filter(
        (path) => !path.endsWith('replay-your-logs.ts'),
      )
      expect(programs.length).toBeGreaterThan(10)
      for (const path of programs) {
        const args = path.endsWith('tool-runner.ts') ? ['40'] : []
        const asked = run(node, ['--experimental-strip-types', '--no-warnings', path, ...args], {
          cwd: place,
        })
        asked.child.stdin?.end()
        expect((await asked).stdout).not.toBe('')
      }
    },
    INSTALL_MS,
  )

  test('provide every public path of the library, at run time and to the compiler', async () => {
    const paths = Object.keys(publicPaths()).map((path) => path.replace(/^\./, 'palimpsest'))
    const lines = paths.map((path, i) => `import * as p${i} from '${path}'`)
    const names = paths.map((_, i) => `Object.keys(p${i}).length`)
    writeFileSync(
      join(folder, 'use.mts'),
      `${lines.join('\n')}\nconsole.log(JSON.stringify([${names.join(', ')}]))\n`,
    )
    expect(await compile(folder, 'use.mts')).toBe('')
    const { stdout } = await run(process.execPath, ['use.mjs'], { cwd: folder })
    const [rootNames, ...counts]: number[] = JSON.parse(stdout)
    expect(rootNames).toBeGreaterThan(0)
    expect(counts).toHaveLength(paths.length - 1)
  })
})

const SDKS = [
  ['1.8.0', '@anthropic-ai/sdk'],
  ['0.137.0', 'anthropic-sdk-0x'],
] as const

interface Manifest {
  readonly version: string
  readonly files: readonly string[]
  readonly exports: {
    readonly [path: string]: { readonly types: string; readonly default: string; readonly 'x-source': string }
  }
  readonly dependencies?: { readonly [name: string]: string }
  readonly bin?: { readonly [name: string]: string }
}

function publicPaths(): Manifest['exports'] {
  return manifestOf(join(ROOT, 'packages/palimpsest')).exports
}

function manifestOf(place: string): Manifest {
  return JSON.parse(readFileSync(join(place, 'package.json'), 'utf8'))
}

/** Builds them too: `prepack` does. */
async function pack(...names: readonly string[]): Promise<Packed[]> {
  const workspaces = names.map((name) => `--workspace=${name}`)
  const { stdout } = await npm(ROOT, 'pack', '--json', '--pack-destination', folder, ...workspaces)
  return Object.values(JSON.parse(stdout))
}

/**
 * What `npm pack` does, but that the types are not checked: `npm run check` does that. Npm reads `files` in many more ways, but needs seconds
 * for so many.
 */
async function layOutLibrary(): Promise<Packed> {
  await npm(ROOT, 'run', '--silent', 'prepack', `--workspace=${LIBRARY}`, '--', '--', '--noCheck')
  const from = join(ROOT, 'packages/palimpsest')
  const place = join(folder, 'node_modules', LIBRARY)
  const { version, files } = manifestOf(from)
  const isLeftOut = (path: string): boolean => files.includes(`!${relative(from, path)}`)
  for (const name of ['package.json', ...files.filter((one) => !one.startsWith('!'))])
    cpSync(join(from, name), join(place, name), { recursive: true, filter: (path) => !isLeftOut(path) })
  const laidOut = readdirSync(place, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => ({ path: relative(place, join(entry.parentPath, entry.name)) }))
  return { name: LIBRARY, version, files: laidOut }
}

/** What `npm install` does, but that dependencies are linked: those that the package declares, and no others. */
function unpack({ name, filename }: Packed): void {
  const modules = join(folder, 'node_modules')
  const place = join(modules, name)
  mkdirSync(place, { recursive: true })
  if (filename !== undefined)
    execFileSync('tar', ['-xzf', join(folder, filename), '-C', place, '--strip-components=1'])
  const manifest = manifestOf(place)
  for (const dependency of Object.keys(manifest.dependencies ?? {})) {
    mkdirSync(dirname(join(modules, dependency)), { recursive: true })
    symlinkSync(join(ROOT, 'node_modules', dependency), join(modules, dependency))
  }
  for (const [command, file] of Object.entries(manifest.bin ?? {})) {
    mkdirSync(join(modules, '.bin'), { recursive: true })
    chmodSync(join(place, file), 0o755)
    symlinkSync(join(place, file), join(modules, '.bin', command))
  }
}

/** What a program prints first; then it is stopped. */
async function firstWords(program: string, ...args: string[]): Promise<string> {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  let printed = ''
  for await (const chunk of child.stdout) {
    printed += String(chunk)
    if (printed.includes('\n\n')) break
  }
  child.kill('SIGKILL')
  return printed
}

const NEEDED =
  'Node 22.16 or later in the 22 line, or Node 24 and later. Install one (https://nodejs.org, or `nvm install 24`)'

function tooOld(version: string): string {
  return `palimpsest: this is Node ${version}; Palimpsest needs ${NEEDED} and run the command again\n`
}

function failing(
  program: string,
  args: readonly string[],
): { readonly exit: number | null; readonly out: string; readonly err: string } {
  const ended = spawnSync(program, args, { encoding: 'utf8' })
  return { exit: ended.status, out: ended.stdout, err: ended.stderr }
}

/** The machine's own, where it is older than what we need. Scripts of npm put ours before it. */
function olderNode(): { readonly path: string; readonly version: string } | undefined {
  for (const place of (process.env['PATH'] ?? '').split(delimiter)) {
    const path = join(place, 'node')
    if (place.includes('node_modules') || !existsSync(path)) continue
    const version = execFileSync(path, ['-p', 'process.versions.node'], { encoding: 'utf8' }).trim()
    if (Number(version.split('.')[0]) < 22) return { path, version }
  }
  return undefined
}

async function checkTypes(): Promise<TypesChecked> {
  const { filename = '' } = packed.find(({ name }) => name === LIBRARY) ?? {}
  const script = join(ROOT, 'test/kit/child-attw.ts')
  const { stdout } = await run(process.execPath, [script, join(folder, filename)])
  const checked: TypesChecked = JSON.parse(stdout)
  return checked
}

/** Undefined where npm has none for this machine. */
async function oldestNode(): Promise<string | undefined> {
  const name = `node-${process.platform}-${process.arch}`
  const place = join(folder, 'oldest')
  mkdirSync(place)
  writeFileSync(join(place, 'package.json'), '{"name":"oldest","private":true}')
  try {
    await npm(
      place,
      'install',
      '--prefer-offline',
      '--no-audit',
      '--no-fund',
      '--ignore-scripts',
      `${name}@22.16.0`,
    )
  } catch {
    return undefined
  }
  return join(place, 'node_modules', name, 'bin/node')
}

/** Somebody who installed the library and this version of the SDK, and nothing else. */
function userWith(version: string, sdk: string, name = `user-${version}`): string {
  const place = join(folder, name)
  mkdirSync(join(place, 'node_modules/@anthropic-ai'), { recursive: true })
  symlinkSync(join(folder, 'node_modules/palimpsest'), join(place, 'node_modules/palimpsest'))
  symlinkSync(join(ROOT, 'node_modules', sdk), join(place, 'node_modules/@anthropic-ai/sdk'))
  const manifest: { version: string } = JSON.parse(
    readFileSync(join(place, 'node_modules/@anthropic-ai/sdk/package.json'), 'utf8'),
  )
  expect(manifest.version).toBe(version)
  return place
}

/** The programs of its section about the library. */
function linesOfReadme(): string[] {
  const section =
    readFileSync(join(ROOT, 'README.md'), 'utf8').split('\n## The library\n')[1]?.split('\n## ')[0] ?? ''
  const programs = Array.from(section.matchAll(/```ts\n([^]*?)```/g), ([, lines = '']) => lines)
  expect(programs).toHaveLength(2)
  return programs
}

/** What the compiler complains of. */
async function compile(cwd: string, ...files: string[]): Promise<string> {
  const failed = (error: Error & { stdout?: string }): { stdout: string } => ({
    stdout: error.stdout ?? error.message,
  })
  const env = { ...process.env, ...COMPILER }
  return (await run(tsc, compilerOptions(files), { cwd, env }).catch(failed)).stdout
}

/** As a user of Node has them: the types of Node are there, those of the SDK, an optional peer, need not be. */
function compilerOptions(files: readonly string[]): string[] {
  const types = ['--typeRoots', join(ROOT, 'node_modules/@types'), '--types', 'node']
  return [...files, '--strict', '--module', 'NodeNext', '--target', 'ES2024', '--lib', 'ES2024', ...types]
}

async function npm(cwd: string, ...args: string[]): Promise<{ stdout: string }> {
  return await run('npm', args, {
    cwd,
    env: { ...process.env, NODE_OPTIONS: '', ...COMPILER },
    maxBuffer: 64 * 1024 * 1024,
  })
}
