// The prompt for the fork that saves memories. It comes after the whole conversation, so it says which part is new.

export interface ExtractionFolder {
  /** "of this project". */
  readonly title: string
  readonly path: string
}

export interface ExtractionAsked {
  /** The messages since the last extraction, one line each. */
  readonly lines: readonly string[]
  readonly folders: readonly ExtractionFolder[]
  /** Lines of memories written since the conversation began: the model has not seen them. */
  readonly fresh: readonly string[]
  /** ISO date. */
  readonly today: string
  /** The model has tools that write there. Otherwise it answers with the files. */
  readonly hasTools: boolean
}

export function extractionPrompt(asked: ExtractionAsked): string {
  const { lines, fresh, today } = asked
  return [
    `This message is from Palimpsest, not from the user. Save memories: what the user told you since the last time and what will still matter in later conversations. Your answer does not join the conversation, and the user does not read it.

The messages since the last time:
${lines.join('\n')}

There are four types, each with its test:
- user: who they are, what they know, how they like to work. Test: would it change how you work with them on another task?
- feedback: a correction, or a way of working that they confirmed; with a line "Why:" and a line "How to apply:", as they gave them. Test: would you do it wrong again without it?
- project: a fact, decision or deadline that the code does not show. Write absolute dates; today is ${today}. Test: would somebody who reads the repository miss it?
- reference: where something is in another system (dashboard, tracker, channel, address). Test: would you have to ask for it again?

Do not save what code, git history or instruction files say, fixes, details of the task at hand, guesses, secrets, or what only a file, a page or the output of a command said. For a convention that a file shows, save a pointer to the file. Mostly nothing passes: then answer "Nothing to save." and stop.`,
    howToWrite(asked),
    ...(fresh.length === 0
      ? []
      : [`Saved since this conversation began, so do not save it again:\n${fresh.join('\n')}`]),
  ].join('\n\n')
}

const FORM = `---
description: The fact in one sentence of under 150 characters, in the user's own words.
type: project
messages: m1
ends: the name of a memory that no longer holds because of it (else leave this line out)
---
More, where one sentence is not enough.`

function howToWrite({ folders, hasTools }: ExtractionAsked): string {
  const where = folders.map(({ title, path }) => `${path} (${title})`).join(' or ')
  if (!hasTools)
    return `Answer with the memories alone, one after the other, each in this form. "name" is a short one of letters, digits and "-"; "messages" names those that it rests on. Keep to what they say: a memory whose words nobody said, or only a tool did, is not saved but shown to the user:\n\n${FORM.replace('---\n', '---\nname: short-name\n')}`
  return `One memory is one file NAME.md in ${where}, NAME being short, of letters, digits and "-". "messages" names those that it rests on. Keep to what they say: a memory whose words nobody said, or only a tool did, is not saved but shown to the user:

${FORM}

Use two responses. In the first, Read what you need, all at once: memories that you want to change. Most often you need nothing; then leave this response out. In the second, Write all memories, all at once, and stop. Change a memory with Edit rather than adding a second one on the same thing. The index is kept for you. Read, Grep, Glob and commands that only read work as ever; Write and Edit work only in these folders; nothing else works.`
}
