import { createMemoryFolder } from '../../packages/palimpsest/src/node/memory/memory-folder.ts'

// A process of its own that writes one memory again and again, and prints what is on the disk for good.

const [home = '', path = '', mark = ''] = process.argv.slice(2)
const folder = createMemoryFolder({ home, path, now: Date.now })
for (let i = 0; ; i++) {
  const line = `${mark}-${i}`
  await folder.change(({ texts, index }) => ({
    by: 'agent',
    reason: `wrote ${line}`,
    texts: new Map([['shared', `${texts.get('shared') ?? ''}${line}\n`]]),
    index: index === '' ? '- [shared](shared.md): lines\n' : index,
  }))
  process.stdout.write(`${line}\n`)
}
