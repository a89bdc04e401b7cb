import { UsageError } from './errors.ts'

// Every public path loads this file first. On a Node version that is too old, the library would otherwise fail somewhere in the middle,
// with a message about a missing function.

/** Same as `engines`: ^22.16 || >=24. */
const LINE = 22
const LINE_MINOR_MIN = 16
const MAJOR_MIN = 24

const versions = member(member(globalThis, 'process'), 'versions')
const found = member(versions, 'node')
// Other runtimes report the Node version that they imitate. What they can do is what counts.
const isNode = typeof found === 'string' && !member(versions, 'bun') && !member(versions, 'deno')
if (!(isNode ? isNewEnough(found) : 'groupBy' in Map))
  throw new UsageError(
    `this is ${isNode ? `Node ${found}` : 'an older runtime'}; palimpsest needs Node 22.16 or later in the 22 line, or Node 24 and later. Install one (https://nodejs.org, or \`nvm install 24\`)`,
  )

function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return (major === LINE && minor >= LINE_MINOR_MIN) || major >= MAJOR_MIN
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}
