import { UsageError } from './errors.ts'

// The first thing that every public path loads. On a Node that is too old the library would fail somewhere in the middle, with a message
// about a function that is not there.

/** As `engines` has it: ^22.16 || >=24. */
const LINE = 22
const LINE_MINOR_MIN = 16
const MAJOR_MIN = 24

const versions = member(member(globalThis, 'process'), 'versions')
const found = member(versions, 'node')
// Other runtimes tell a version of Node that they are like. What they can do counts.
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
