import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

import { takeConsolidation } from '../../packages/palimpsest/src/layers/6-dreaming/consolidation-lock.ts'
import { createConsolidationRecord } from '../../packages/palimpsest/src/node/dreaming/consolidation-record.ts'
import { createStateArbiter } from '../../packages/palimpsest/src/node/dreaming/state-arbiter.ts'
import { ownIdentity, stateOf } from '../../packages/palimpsest/src/node/files/process-identity.ts'
import type { Arbiter, ConsolidationRecord } from '../../packages/palimpsest/src/ports.ts'

// A living process that races for consolidations: each line it reads names an arbiter and a folder, each line it prints says whether it has it.

const [, , home = ''] = process.argv

/** What is not enough: write your name, and see whether it stays. */
function readBack(folder: string): Arbiter {
  const path = join(folder, 'written-back')
  const read = async (): Promise<string> => await readFile(path, 'utf8').catch(() => '')
  return {
    find: async () => undefined,
    take: async (_, { token }) => {
      if ((await read()) !== '') return false
      await writeFile(path, token)
      return (await read()) === token
    },
    release: async () => undefined,
  }
}

/** The race is about who gets it; what everybody can see of it comes after. */
const UNSEEN: ConsolidationRecord = {
  look: async () => ({ lastMs: null, isHeld: false }),
  holder: async () => undefined,
  begin: async () => undefined,
  end: async () => undefined,
}

process.stdout.write('ready\n')
for await (const line of createInterface({ input: process.stdin })) {
  const [kind, folder = ''] = line.split(' ')
  const outcome = await takeConsolidation({
    arbiter: kind === 'read-back' ? readBack(folder) : createStateArbiter(home),
    record: kind === 'read-back' ? UNSEEN : createConsolidationRecord(home, folder),
    clock: { now: () => Date.now() },
    newId: () => crypto.randomUUID(),
    self: ownIdentity,
    stateOf: async ({ pid, host, startTicks, boot }) =>
      await stateOf({
        pid,
        host,
        ...(startTicks !== undefined && { startTicks }),
        ...(boot !== undefined && { boot }),
      }),
    name: folder,
  })
  process.stdout.write(outcome.kind === 'taken' ? 'won\n' : `lost: ${outcome.reason}\n`)
}
