import { readFileSync } from 'node:fs'

import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'

// What attw says of a tarball, as JSON. Arguments: the file, then the public paths; none: all. A process of its own, since its package gives
// test runners TypeScript that Node does not strip.

const [file = '', ...entrypoints] = process.argv.slice(2)
const tarball = createPackageFromTarballData(Uint8Array.from(readFileSync(file)))
const analysis = await checkPackage(tarball, entrypoints.length > 0 ? { entrypoints } : {})
const problems = 'problems' in analysis ? analysis.problems : []
process.stdout.write(JSON.stringify({ types: analysis.types, problems }))
