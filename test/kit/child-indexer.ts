import { openRecall } from '../../packages/palimpsest/src/node/recall-index/open-recall.ts'

// Brings an index up to date in small slices, says when it begins and whether it came to the end.

const [home = '', folder = ''] = process.argv.slice(2)
const recall = openRecall({ home, folder })
process.stdout.write('begun\n')
process.stdout.write(`${String(await recall.update({ sliceBytes: 4_096 }))}\n`)
recall.close()
