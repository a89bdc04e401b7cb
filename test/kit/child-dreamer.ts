import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

import { takeConsolidation } from '../../packages/palimpsest/src/layers/6-dreaming/consolidation-lock.ts'
import type { Arbiter, ConsolidationRecord } from '../../packages/palimpsest/src/ports.ts'
import { lockPortsOf } from './dream-lock.ts'

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
  const ports = lockPortsOf(home, folder, Date.now)
  const outcome = await takeConsolidation(
    kind === 'read-back' ? { ...ports, arbiter: readBack(folder), record: UNSEEN } : ports,
  )
  process.stdout.write(outcome.kind === 'taken' ? 'won\n' : `lost: ${outcome.reason}\n`)
}
