import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { expect } from 'vitest'

import { renderLedger, type PlayedSession } from './play-scripted.ts'
import { scriptSession, type ScriptedSession } from './scripted-session.ts'
import { ROOT } from './source-tree.ts'

// Ledgers as they were when somebody last looked at them: what every request of a session cost, and why. A changed byte in a prefix is a
// changed line here. `npx vitest run test/scenarios -u` writes them anew, and with `SOAK=1` also what the longer ones cost unmanaged; look at
// the difference before it is committed.

export const SESSION_SIZES = { '90k': 90_000, '250k': 250_000, '900k': 900_000 } as const
export type SessionSize = keyof typeof SESSION_SIZES

const SEED = 1
/** System and tools of the test agent, which are part of the whole. */
const PREFIX_TOKENS = 3_600

export function sessionOfSize(size: SessionSize): ScriptedSession {
  return scriptSession(SEED, SESSION_SIZES[size] - PREFIX_TOKENS)
}

/** What a session cost unmanaged. */
export interface Unmanaged {
  readonly costUsd: number
  /** As a golden ledger says it. */
  readonly text: string
}

export function unmanagedOf(played: PlayedSession): Unmanaged {
  return { costUsd: played.costUsd, text: total(played) }
}

/** As the ledger of this name has it, which a soak compares with a session that is played. */
export async function unmanagedIn(name: string): Promise<Unmanaged> {
  const [, text = '', dollars] =
    /^unmanaged: (.*\$(\d{1,9}\.\d{6}).*)$/m.exec(await readFile(goldenFile(name), 'utf8')) ?? []
  if (dollars === undefined) throw new Error(`the ledger ${name} does not say what it costs unmanaged`)
  return { costUsd: Number(dollars), text }
}

function goldenFile(name: string): string {
  return join(ROOT, 'test/scenarios/golden', `${name}.txt`)
}

export async function expectGolden(
  name: string,
  managed: PlayedSession,
  unmanaged: Unmanaged | undefined,
): Promise<void> {
  const ratio = unmanaged ? [`${percent(managed.costUsd / unmanaged.costUsd)} of it`] : []
  const head = [
    ...(unmanaged ? [`unmanaged: ${unmanaged.text}`] : []),
    `managed:   ${[total(managed), ...ratio].join(', ')}`,
  ]
  await expect(renderLedger(head, managed.rows)).toMatchFileSnapshot(goldenFile(name))
}

function total({ rows, costUsd, hitRate }: PlayedSession): string {
  return `${rows.length} requests, $${costUsd.toFixed(6)}, ${percent(hitRate)} read from the cache`
}

function percent(share: number): string {
  return `${(share * 100).toFixed(2)}%`
}
