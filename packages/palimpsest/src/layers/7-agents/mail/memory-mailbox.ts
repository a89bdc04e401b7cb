import { UsageError } from '../../../errors.ts'
import type { Mailbox } from '../../../ports.ts'
import { parseLetter, type Letter } from './letter.ts'

/** All mailboxes of agents in one process: what waits in them is lost when it ends. */
export function createMemoryMail(waitingMax: number): (self: string) => Mailbox<Letter> {
  const boxes = new Map<string, Letter[]>()
  return (self) => ({
    send: async (letter) => {
      const read = parseLetter({ ...letter, from: self })
      if (typeof read === 'string') throw new UsageError(`a message cannot be sent: ${read}`)
      const box = boxes.get(read.to) ?? []
      if (box.length >= waitingMax) throw new UsageError(fullMailbox(read.to, box.length))
      boxes.set(read.to, [...box, read])
    },
    waiting: async (atMost) => {
      const box = boxes.get(self) ?? []
      return { letters: box.slice(0, atMost), more: Math.max(0, box.length - atMost), refused: [] }
    },
    hasLetters: async () => (boxes.get(self) ?? []).length > 0,
    settle: async (id) => {
      boxes.set(
        self,
        (boxes.get(self) ?? []).filter((letter) => letter.id !== id),
      )
    },
  })
}

export function fullMailbox(to: string, waiting: number): string {
  return `the mailbox of ${to} is full: ${waiting} messages wait in it. Wait until ${to} has read some, or tell somebody else`
}
