import type { LetterKeeper } from '../../../background/keepers.ts'
import type { History, Mailbox } from '../../../ports.ts'
import type { Entry } from '../../../transcript/entry.ts'
import type { View } from '../../../transcript/view.ts'
import type { Letter, MailRequest } from './letter.ts'
import type { Requests } from './requests.ts'
import { knownLetters, takeMail, type TakenMail } from './take-mail.ts'

// The mail of one conversation, from all its mailboxes. A letter that the transcript has is never taken in again, whichever part of it is
// loaded.

export interface LettersSetup {
  readonly mailboxes: () => readonly Mailbox<Letter>[]
  /** Of the conversation: what is older than its newest boundary is not loaded. */
  readonly history: Pick<History, 'entries'>
  /** Questions and answers among the letters. */
  readonly requests?: Pick<Requests, 'remarkOn' | 'taken'> | undefined
  /** Receives each letter that has joined and, if it answers something that was asked, that answer. */
  readonly onTaken?: ((letter: Letter, answer: MailRequest | undefined) => void) | undefined
  /** What to say about an error. */
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
      const failed: { error: unknown } = { error: undefined }
      const unread: string[] = []
      const tellUnread = (error: unknown): void =>
        void unread.push(`the mailbox cannot be read: ${sentenceOf(error)}`)
      const isKnownHere = async (id: string): Promise<boolean> => await isKnown(view, id)
      try {
        const taken = await takeMail(
          joinMailboxes(mailboxes(), isKnownHere, tellUnread),
          isKnownHere,
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
        return { letters: taken.letters, notices: [...unread, ...noticesOf(taken, sentenceOf)] }
      } catch (error) {
        // The transcript could not be written: that is not the mailbox's problem.
        if (failed.error !== undefined) throw error
        tellUnread(error)
        return { letters: [], notices: unread }
      }
    },
  }
}

/**
 * All mailboxes as one. `atMost` counts only letters that the conversation does not have yet, so one that cannot be removed from its
 * mailbox keeps no other waiting.
 */
function joinMailboxes(
  boxes: readonly Mailbox<Letter>[],
  isKnown: (id: string) => Promise<boolean>,
  onUnread: (error: unknown) => void,
): Pick<Mailbox<Letter>, 'waiting' | 'settle'> {
  let from = new Map<string, Mailbox<Letter>[]>()
  return {
    waiting: async (atMost) => {
      from = new Map()
      const looks: { readonly isNew: readonly Letter[]; readonly isOld: readonly Letter[] }[] = []
      const refused: TakenMail['refused'][number][] = []
      let waiting = 0
      for (const box of boxes)
        try {
          const look = await box.waiting(atMost)
          refused.push(...look.refused)
          const [isNew, isOld]: [Letter[], Letter[]] = [[], []]
          for (const letter of look.letters) {
            const known = await isKnown(letter.id)
            ;(known ? isOld : isNew).push(letter)
            from.set(letter.id, [...new Set([...(from.get(letter.id) ?? []), box])])
          }
          looks.push({ isNew, isOld })
          waiting += isNew.length + look.more
        } catch (error) {
          onUnread(error)
        }
      const joining = chooseOldest(
        looks.map(({ isNew }) => isNew),
        atMost,
      )
      const letters = [...looks.flatMap(({ isOld }) => isOld), ...joining]
      return { letters, more: waiting - joining.length, refused }
    },
    settle: async (id) => {
      for (const box of from.get(id) ?? []) await box.settle(id)
    },
  }
}

/** Includes the first letter of each: a sender that sets its clock back cannot block another mailbox. */
function chooseOldest(boxes: readonly (readonly Letter[])[], atMost: number): readonly Letter[] {
  const firsts = new Set(boxes.flatMap(([first]) => first ?? []))
  let room = atMost - firsts.size
  return oldestFirst(boxes).filter((letter) => firsts.has(letter) || room-- > 0)
}

/** Each mailbox keeps its own order, which is that of its senders. */
function oldestFirst(boxes: readonly (readonly Letter[])[]): readonly Letter[] {
  const ordered: Letter[] = []
  const next = boxes.map(() => 0)
  for (;;) {
    const heads = boxes.flatMap((letters, i) => {
      const letter = letters[next[i] ?? 0]
      return letter ? [{ letter, i }] : []
    })
    const [oldest] = heads.toSorted((a, b) => a.letter.at - b.letter.at)
    if (!oldest) return ordered
    ordered.push(oldest.letter)
    next[oldest.i] = (next[oldest.i] ?? 0) + 1
  }
}

/** From the part that is not loaded, reads only lines that may matter. */
async function knownIn(view: View, history: LettersSetup['history']): Promise<ReadonlySet<string>> {
  if (view.from === null) return knownLetters(view.log)
  const told: Entry[] = []
  for await (const entry of history.entries((line) => MAIL_LINE.test(line))) told.push(entry)
  return new Set([...knownLetters(told), ...knownLetters(view.log)])
}

/** The id of a letter, or the words of a peer, which come after it. */
const MAIL_LINE = /"(?:mail|peer)"/

/** A thousand files in a mailbox must not fill the screen. */
const REFUSED_SHOWN_MAX = 3

/** For the user: what did not prove who sent it. */
export function refusedNotices(refused: TakenMail['refused']): readonly string[] {
  const more = refused.length - REFUSED_SHOWN_MAX
  return [
    ...refused
      .slice(0, REFUSED_SHOWN_MAX)
      .map(({ name, why }) => `a message was refused and put aside (${name}): ${why}`),
    ...(more > 0 ? [`${more} more were refused and put aside with them`] : []),
  ]
}

function noticesOf(
  { more, refused, stayed }: TakenMail,
  sentenceOf: (error: unknown) => string,
): readonly string[] {
  const [first] = stayed
  return [
    ...refusedNotices(refused),
    ...(first
      ? [`${stayed.length} messages that were read stay in the mailbox: ${sentenceOf(first.error)}`]
      : []),
    ...(more > 0 ? [`${more} more messages wait: they join with the next requests`] : []),
  ]
}
