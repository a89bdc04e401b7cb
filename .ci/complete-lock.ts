import { readFileSync, writeFileSync } from 'node:fs'

// `npm ci` demands a lock entry for every optional package, for foreign platforms too; `npm install` leaves out those that the registry
// at hand does not offer. This adds them: name, version and platform are known from the package that wants them. Nothing is fetched
// for a platform that is not one's own, so that an entry without an integrity sum does no harm there.

const LOCK = new URL('../package-lock.json', import.meta.url)

interface LockedPackage {
  readonly version?: string | undefined
  readonly dev?: boolean
  readonly optionalDependencies?: { readonly [name: string]: string }
  readonly [field: string]: unknown
}

const lock: { packages: { [location: string]: LockedPackage } } = JSON.parse(readFileSync(LOCK, 'utf8'))
const missing = new Map<string, LockedPackage>()
for (const [location, { dev, optionalDependencies }] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(optionalDependencies ?? {})) {
    if (`${location}/node_modules/${name}` in lock.packages) continue
    const place = `node_modules/${name}`
    if (place in lock.packages) continue
    missing.set(place, inOrder({ version, ...platformOf(name), ...(dev ? { dev } : {}), optional: true }))
  }
}

if (missing.size > 0) {
  const packages = [...Object.entries(lock.packages), ...missing].toSorted(([a], [b]) => (a < b ? -1 : 1))
  writeFileSync(LOCK, `${JSON.stringify({ ...lock, packages: Object.fromEntries(packages) }, null, 2)}\n`)
}
process.stdout.write(`${missing.size} entries added to package-lock.json\n`)

/** As npm prints it, so that the next install changes nothing. */
function inOrder({ version, ...rest }: LockedPackage): LockedPackage {
  return { version, ...Object.fromEntries(Object.entries(rest).toSorted(([a], [b]) => (a < b ? -1 : 1))) }
}

/** `@oxlint/binding-linux-arm64-musl` → linux, arm64, musl. */
function platformOf(name: string): LockedPackage {
  const words = new Set(name.split(/[/-]/))
  const pick = (known: readonly string[]): string | undefined => known.find((word) => words.has(word))
  const os = pick(['linux', 'darwin', 'win32', 'freebsd', 'android', 'openharmony'])
  const cpu = pick(['x64', 'arm64', 'arm', 'ia32', 'ppc64', 'riscv64', 's390x', 'wasm32'])
  if (os === undefined && cpu === undefined)
    throw new Error(`the name ${name} tells no platform; lock it by hand`)
  const libc = os !== 'linux' ? undefined : words.has('musl') || words.has('musleabihf') ? 'musl' : 'glibc'
  return {
    ...(cpu === undefined ? {} : { cpu: [cpu] }),
    ...(libc === undefined ? {} : { libc: [libc] }),
    ...(os === undefined ? {} : { os: [os] }),
  }
}
