import type { LetterKeeper, TakenLetters } from '../../../background/keepers.ts'
import type { History, Mailbox } from '../../../ports.ts'
import type { Entry } from '../../../transcript/entry.ts'
import type { View } from '../../../transcript/view.ts'
import type { Letter, MailRequest } from './letter.ts'
import type { Requests } from './requests.ts'
import { knownLetters, takeMail } from './take-mail.ts'

// The mail of one conversation, from all its mailboxes. What its transcript has is never taken in again, whatever of it is loaded.

export interface LettersSetup {
  readonly mailboxes: () => readonly Mailbox<Letter>[]
  /** Of the conversation: what is older than its newest boundary is not loaded. */
  readonly history: Pick<History, 'entries'>
  /** Questions and answers among them. */
  readonly requests?: Pick<Requests, 'remarkOn' | 'taken'> | undefined
  /** Told of each that has joined, with the answer that it is to something that was asked. */
  readonly onTaken?: ((letter: Letter, answer: MailRequest | undefined) => void) | undefined
  /** What to say of an error. */
  readonly sentenceOf: (error: unknown) => string
}

export function createLetters({
  mailboxes,
  history,
  requests,
  onTaken,
  sentenceOf,
}: LettersSetup): LetterKeeper {
  let known: Set<string> | undefined
  const isKnown = async (view: View, id: string): Promise<boolean> => {
    known ??= new Set(await knownIn(view, history))
    return known.has(id)
  }
  return {
    take: async (view, append) => {
      const all: TakenLetters[] = []
      for (const mailbox of mailboxes()) {
        const failed: { error: unknown } = { error: undefined }
        try {
          const taken = await takeMail(
            mailbox,
            async (id) => await isKnown(view, id),
            async (bodies) => {
              try {
                await append(bodies)
              } catch (error) {
                failed.error = error
                throw error
              }
            },
            requests?.remarkOn,
          )
          for (const letter of taken.letters) {
            known?.add(letter.id)
            onTaken?.(letter, requests?.taken(letter))
          }
          all.push({ letters: taken.letters, notices: noticesOf(taken, sentenceOf) })
        } catch (error) {
          // The transcript could not be written: that is not the mailbox's matter.
          if (failed.error !== undefined) throw error
          all.push({ letters: [], notices: [`the mailbox cannot be read: ${sentenceOf(error)}`] })
        }
      }
      return {
        letters: all.flatMap(({ letters }) => letters),
        notices: all.flatMap(({ notices }) => notices),
      }
    },
  }
}

/** Of what is not loaded, only the lines that can tell. */
async function knownIn(view: View, history: LettersSetup['history']): Promise<ReadonlySet<string>> {
  if (view.from === null) return knownLetters(view.log)
  const told: Entry[] = []
  for await (const entry of history.entries((line) => MAIL_LINE.test(line))) told.push(entry)
  return new Set([...knownLetters(told), ...knownLetters(view.log)])
}

/** The id of a message, or words of a peer, which stand behind it. */
const MAIL_LINE = /"(?:mail|peer)"/

/** Whoever puts a thousand files there does not fill the screen. */
const REFUSED_SHOWN_MAX = 3

function noticesOf(
  { more, refused, stayed }: Awaited<ReturnType<typeof takeMail>>,
  sentenceOf: (error: unknown) => string,
): readonly string[] {
  const [first] = stayed
  return [
    ...refused
      .slice(0, REFUSED_SHOWN_MAX)
      .map(({ name, why }) => `a message was refused and put aside (${name}): ${why}`),
    ...(refused.length > REFUSED_SHOWN_MAX
      ? [`${refused.length - REFUSED_SHOWN_MAX} more were refused and put aside with them`]
      : []),
    ...(first
      ? [`${stayed.length} messages that were read stay in the mailbox: ${sentenceOf(first.error)}`]
      : []),
    ...(more > 0 ? [`${more} more messages wait: they join with the next requests`] : []),
  ]
}
