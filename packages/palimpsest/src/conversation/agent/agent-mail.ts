import type { LetterKeeper } from '../../background/keepers.ts'
import { UsageError } from '../../errors.ts'
import { createLetters } from '../../layers/7-agents/mail/create-letters.ts'
import { SUMMARY_CHARS_MAX, type Letter } from '../../layers/7-agents/mail/letter.ts'
import type { History, Mailbox, TraceEvent } from '../../ports.ts'
import { RUNTIME_CLOCK } from '../../context/library/runtime-clock.ts'

// The mail of an agent of the library: what it writes to others, and who hears what others wrote to it.

/** What another agent wrote. `message` is a text, or a request from an agent of the command. */
export type AgentMessage = Pick<Letter, 'from' | 'summary' | 'message'>

/** Called once for each message. An error that it throws does not affect the turn. */
export type MessageHandler = (message: AgentMessage) => unknown

export interface AgentMail {
  readonly message: (to: string, text: string) => Promise<void>
  readonly onMessage: (handler: MessageHandler) => () => void
  /** Letters that join the conversation with this history. Undefined if no one can write to it. */
  readonly lettersFor: (history: Pick<History, 'entries'>) => LetterKeeper | undefined
}

export interface AgentMailSetup {
  readonly mailbox: Mailbox<Letter> | undefined
  /** The error message if there is no mailbox. */
  readonly whyNone: string
  readonly trace: ((event: TraceEvent) => void) | undefined
}

export const NO_MAILBOX =
  "This agent has no mailbox: create it with `mail`, for example `mail: post('ann')` where `const post = createPost()`."
export const FORK_HAS_NONE = 'A fork has no mailbox: use the agent that it was forked from.'

export function createAgentMail({ mailbox, whyNone, trace }: AgentMailSetup): AgentMail {
  // One object per handler, so that a handler that was added twice is called twice and removed once.
  const handlers = new Set<{ readonly tell: MessageHandler }>()
  const failed = (error: unknown): void => trace?.({ name: 'message-handler', reason: sentenceOf(error) })
  const onTaken = ({ from, summary, message }: Letter): void => {
    for (const { tell } of [...handlers])
      try {
        const told = tell({ from, summary, message })
        if (told instanceof Promise) told.catch(failed)
      } catch (error) {
        failed(error)
      }
  }
  return {
    message: async (to, text) => {
      if (!mailbox) throw new UsageError(whyNone)
      if (text.trim() === '') throw new UsageError('There is nothing to send: `message` needs a text.')
      // The mailbox fills in the sender.
      const letter = {
        id: crypto.randomUUID(),
        from: '',
        to,
        at: RUNTIME_CLOCK.now(),
        summary: summaryOf(text),
      }
      await mailbox.send({ ...letter, message: text })
    },
    onMessage: (handler) => {
      if (!mailbox) throw new UsageError(whyNone)
      const one = { tell: handler }
      handlers.add(one)
      return () => void handlers.delete(one)
    },
    lettersFor: (history) =>
      mailbox && createLetters({ mailboxes: () => [mailbox], history, onTaken, sentenceOf }),
  }
}

/** The first line that is not blank. */
function summaryOf(text: string): string {
  const [line = ''] = text.trimStart().split(/[\n\r]/, 1)
  return line.trimEnd().slice(0, SUMMARY_CHARS_MAX)
}

function sentenceOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
