import { createHash, randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { cp, mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { rolldown, type InputOptions, type OutputOptions } from 'rolldown'
import type { TestProject } from 'vitest/node'

import config from '../../packages/palimpsest-cli/rolldown.config.ts'
import { ROOT } from './source-tree.ts'

// The command as users get it, built once before the tests that start it: it is ready much sooner than its many sources are.

declare module 'vitest' {
  interface ProvidedContext {
    /** The command's file. */
    readonly bundle: string
    /** The folder of the children: `child.ts`. */
    readonly children: string
  }
}

const CLI = join(ROOT, 'packages/palimpsest-cli')
const BUILT = join(ROOT, 'node_modules/.cache/palimpsest-bundle')
/** Longer than any run of the tests: what is older is nobody's. */
const KEPT_MS = 24 * 3_600_000

/** For vitest, as `globalSetup`. */
export async function setup(project: TestProject): Promise<void> {
  project.provide('bundle', await buildCommand())
  project.provide('children', await buildChildren())
}

/**
 * What comes from others goes in too, but for a program: each start would find and read hundreds of files, a fifth of its time. That the
 * command runs without, test/packaging.heavy.test.ts shows.
 */
const WHOLE = {
  external: (id: string) => isBuiltin(id) || id === '@vscode/ripgrep',
  resolve: { ...config.resolve, mainFields: ['module', 'main'] },
}

async function buildCommand(): Promise<string> {
  const [options] = [config.output].flat()
  return join(await build({ ...config, ...WHOLE }, options, ['package.json', 'demo']), 'main.js')
}

/**
 * The programs of ours that tests start and kill, in a few files. From source, each start would take the types out of a hundred files: who
 * is killed keeps nothing for the next.
 */
async function buildChildren(): Promise<string> {
  const names = (await readdir(KIT)).filter((name) => CHILD.test(name))
  const input = Object.fromEntries(names.map((name) => [name.slice(0, -'.ts'.length), join(KIT, name)]))
  const output = { entryFileNames: '[name].mjs', chunkFileNames: '[name]-[hash].mjs' }
  return await build({ input, platform: 'node', ...WHOLE }, output, [])
}

const KIT = import.meta.dirname
/** Not those that try what others publish, as it is published. */
const CHILD = /^child-(?!attw|sandcastle)\w+\.ts$/

/** The folder. Named by what is in it: runs at the same time do not disturb each other, and Node finds again what it has compiled. */
async function build(
  input: InputOptions,
  options: OutputOptions | undefined,
  beside: readonly string[],
): Promise<string> {
  const bundle = await rolldown(input)
  const { output } = await bundle.generate(options)
  await bundle.close()
  const files = output.map(
    (file) => [file.fileName, file.type === 'chunk' ? file.code : file.source] as const,
  )
  const hash = createHash('sha256')
  for (const file of files) for (const part of file) hash.update(part).update('\0')
  const folder = join(BUILT, hash.digest('hex'))
  if (!existsSync(folder)) {
    await removeOld()
    const sources = output.map((file) => [file.fileName, file.type === 'chunk' ? file.moduleIds : []])
    await layOut(folder, files, JSON.stringify(Object.fromEntries(sources)), beside)
  }
  return join(folder, 'dist')
}

/** Beside the folder of the command: which sources each of its files holds. */
export const SOURCES = 'sources.json'

type BuiltFile = readonly [name: string, content: string | Uint8Array]

/** With what the command looks for beside itself. It is there whole, or not at all. */
async function layOut(
  folder: string,
  files: readonly BuiltFile[],
  sources: string,
  beside: readonly string[],
): Promise<void> {
  const draft = join(BUILT, randomUUID())
  await mkdir(join(draft, 'dist'), { recursive: true })
  for (const [name, content] of files) await writeFile(join(draft, 'dist', name), content)
  await writeFile(join(draft, SOURCES), sources)
  for (const name of beside) await cp(join(CLI, name), join(draft, name), { recursive: true })
  // Whoever comes second finds it done.
  await rename(draft, folder).catch(async () => await rm(draft, { recursive: true }))
}

async function removeOld(): Promise<void> {
  for (const name of await readdir(BUILT).catch(() => [])) {
    const path = join(BUILT, name)
    const { mtimeMs } = await stat(path)
    if (Date.now() - mtimeMs > KEPT_MS) await rm(path, { recursive: true, force: true })
  }
}
