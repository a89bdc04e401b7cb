import { registerHooks } from 'node:module'

// Each worker loads a thousand sources, and they name each other by paths that end in `.ts`. To find one so needs no look at the disk, at
// manifests and at links, and nobody needs to be told of each: a third of the time that loading takes. For vitest, as one of `setupFiles`.

const HOOKED = Symbol.for('palimpsest.near-sources')
const HERE = new URL('../..', import.meta.url).href
const NEAR = /^\.\.?\/.*\.ts$/

function isOurs(url: string | undefined): url is string {
  return url !== undefined && url.startsWith(HERE) && !url.includes('/node_modules/')
}

// Run again with each file of tests. Who watches files needs to know of each.
if (!(HOOKED in globalThis) && process.env['VITEST_MODE'] !== 'WATCH') {
  Object.assign(globalThis, { [HOOKED]: true })
  registerHooks({
    resolve: (specifier, context, next) =>
      NEAR.test(specifier) && isOurs(context.parentURL)
        ? {
            url: new URL(specifier, context.parentURL).href,
            format: 'module-typescript',
            shortCircuit: true,
          }
        : next(specifier, context),
  })
}
