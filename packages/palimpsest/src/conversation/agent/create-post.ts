import { UsageError } from '../../errors.ts'
import { isAgentName, type Letter } from '../../layers/7-agents/mail/letter.ts'
import { createMemoryMail } from '../../layers/7-agents/mail/memory-mailbox.ts'
import type { Mailbox } from '../../ports.ts'

/** Returns the mailbox of the agent with this name: letters, digits, `-` and `_`. */
export type Post = (name: string) => Mailbox<Letter>

/** Most messages that wait for one agent. More wait only for an agent that makes no requests. */
const WAITING_MAX = 1_000

/** Creates mailboxes in memory, for agents of one process that write to each other by name. */
export function createPost(): Post {
  const mailFor = createMemoryMail(WAITING_MAX)
  const names = new Set<string>()
  return (name) => {
    if (!isAgentName(name))
      throw new UsageError(
        `nobody can be called ${JSON.stringify(name)}: use at most 64 letters, digits, - and _`,
      )
    names.add(name)
    const mailbox = mailFor(name)
    const send = async (letter: Letter): Promise<void> => {
      const { to } = letter
      const others = [...names].filter((one) => one !== name)
      if (!others.includes(to))
        throw new UsageError(
          `${to === name ? 'that is the agent itself' : `there is nobody called ${JSON.stringify(to)}`}. Write to one of these: ${others.join(', ') || 'nobody else has a mailbox yet'}`,
        )
      await mailbox.send(letter)
    }
    return { ...mailbox, send }
  }
}
