import { readFileSync } from 'node:fs'
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

test('every optional package has its lock entry, for all platforms; `npm run lock` adds those that are missing', () => {
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
