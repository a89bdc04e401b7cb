import { decidesByName, isRepositoryName } from '../../permissions/protected-files.ts'

// Names that nothing in the sandbox may create or change in a working folder: those that `accept-edits` asks about. What builds and tests
// write all day is left out: files that tools keep for themselves, and what installers unpack.

/** Tools write these into the work, and run nothing from there by themselves. */
const CACHES = new Set(
  [
    '.cache .next .nuxt .output .svelte-kit .turbo .parcel-cache .nyc_output .pytest_cache .mypy_cache .ruff_cache .tox .nox',
    '.hypothesis .ipynb_checkpoints .eslintcache .stylelintcache .prettiercache .tsbuildinfo .angular .astro .docusaurus .expo',
    '.vite .vitest .swc .dart_tool .gradle .build .eggs .serverless .wrangler .vercel-cache .ds_store .coverage .phpunit.cache',
    '.rspec_status .jest-cache .rollup.cache .sass-cache .webpack .temp .tmp .generated .import .zig-cache .lake .stack-work',
  ].flatMap((line) => line.split(' ')),
)

/** Third-party code, unpacked: like the sources, it runs when the user builds or tests. */
const UNPACKED = new Set(['node_modules', '.venv', 'venv', 'site-packages', '__pypackages__', '.pnpm-store'])

export function isUnpacked(name: string): boolean {
  return UNPACKED.has(name)
}

export interface NamePlace {
  readonly isFolder: boolean
  /** Below a folder of unpacked code. */
  readonly isUnpacked: boolean
}

export function isProtectedName(name: string, place: NamePlace): boolean {
  const repository = isRepositoryName(name)
  if (repository === '.git') return true
  if (repository === 'HEAD') return !place.isFolder
  if (place.isUnpacked || isUnpacked(name) || CACHES.has(name.toLowerCase())) return false
  if (/^\.(coverage|tsbuildinfo|eslintcache)\./.test(name)) return false
  return decidesByName(name, place.isFolder)
}
