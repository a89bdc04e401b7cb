import { randomUUID } from 'node:crypto'
import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'

import { StorageError, UsageError, type Mailbox } from 'palimpsest'
import { isAgentName, type Letter } from 'palimpsest/agents'
import { openFileMailbox, takeLock } from 'palimpsest/node'

import type { World } from '../world.ts'
import { TEAM_SENDER, type Seat } from './seat.ts'

// A seat that is taken: its mailbox, the other members, and a signal for new mail. Only one run has it at a time.

export interface Seated {
  readonly seat: Seat
  readonly mailbox: Mailbox<Letter>
  /** Everyone with a mailbox in the team, including itself. */
  readonly members: () => Promise<readonly string[]>
  /** Resolves when the letter is stored until the receiver reads it. */
  readonly send: (to: string, message: Letter['message'], summary: string) => Promise<Letter>
  readonly hasMail: () => Promise<boolean>
  readonly close: () => Promise<void>
}

export async function openSeat(seat: Seat, home: string, world: World): Promise<Seated> {
  const { team, self } = seat
  const folder = join(home, 'teams', team)
  const mailbox = await openFileMailbox({ home, team, self })
  const lock = await lockSeat(seat, home, join(folder, 'seats'))
  return {
    seat,
    mailbox,
    members: async () =>
      (await readdir(join(folder, 'mail')))
        .filter((name) => isAgentName(name) && name !== TEAM_SENDER)
        .toSorted(),
    send: async (to, message, summary) => {
      const letter = { id: randomUUID(), from: self, to, at: world.now(), summary, message }
      await mailbox.send(letter)
      return letter
    },
    hasMail: mailbox.hasLetters,
    close: async () => await lock.release(),
  }
}

async function lockSeat(
  { team, self }: Seat,
  home: string,
  folder: string,
): Promise<Awaited<ReturnType<typeof takeLock>>> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  try {
    return await takeLock(home, join(folder, `${self}.lock`))
  } catch (error) {
    if (!(error instanceof StorageError) || error.failure !== 'locked') throw error
    const why = `the name ${self} is taken in the team ${team}: another run has that seat. Stop that run, or choose another name`
    throw new UsageError(why, { cause: error })
  }
}
