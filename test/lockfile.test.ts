import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { ROOT } from './kit/source-tree.ts'

interface Locked {
  readonly resolved?: string
  readonly optionalDependencies?: { readonly [name: string]: string }
}

const { packages }: { packages: { [location: string]: Locked } } = JSON.parse(
  readFileSync(join(ROOT, 'package-lock.json'), 'utf8'),
)

test('every optional package has its lock entry, for all platforms; `npm run lock` adds missing ones', () => {
  const missing = Object.entries(packages).flatMap(([location, { optionalDependencies }]) =>
    Object.keys(optionalDependencies ?? {}).filter(
      (name) => !(`${location}/node_modules/${name}` in packages) && !(`node_modules/${name}` in packages),
    ),
  )
  expect(missing).toEqual([])
})

test('the lock names no registry', () => {
  const named = Object.values(packages).filter(({ resolved }) => resolved?.includes('://'))
  expect(named).toEqual([])
})

test('no file names the host of a registry: whoever installs chooses it', () => {
  // Put together, so that this file does not name them either.
  const hosts = ['npmjs', 'yarnpkg'].map((name) => ['registry', name].join('.'))
  const folders = ['packages/*/src', 'docs', 'test', 'bench', 'examples', '.ci']
  const files = [
    ...globSync('{*,packages/*/*}.{md,json,ts}', { cwd: ROOT }),
    ...folders.flatMap((folder) => globSync(`${folder}/**/*.{md,json,ts,svg}`, { cwd: ROOT })),
  ]
  expect(files.length).toBeGreaterThan(1_000)
  const naming = files.filter((file) => {
    const text = readFileSync(join(ROOT, file), 'utf8').toLowerCase()
    return hosts.some((host) => text.includes(host))
  })
  expect(naming).toEqual([])
})
