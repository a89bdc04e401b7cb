import { purgeHome } from '../../packages/palimpsest/src/node/purge-home.ts'
import { removeRecallIndex } from '../../packages/palimpsest/src/node/recall-index/open-recall.ts'

// A process of its own that takes a text out of a home. It says when it begins.

const [home = '', text = ''] = process.argv.slice(2)
process.stdout.write('begun\n')
await purgeHome(home, text, (folder) => removeRecallIndex({ folder }))
process.stdout.write('done\n')
