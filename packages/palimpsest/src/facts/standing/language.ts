import type { Joints } from './clause.ts'

// How people lay down what holds from then on, and take it back. Each language knows its forms: a command without a subject, a negated
// command, a duty of "you", a thing that is out of bounds. What a sentence says of a third thing is no instruction, whatever its adverb.

/** What the agent must not do; must do each time; how the user likes it; what every result must keep to. */
export type StandingKind = 'prohibition' | 'obligation' | 'preference' | 'constraint'

export interface Language {
  /** Small words by which its sentences are known. Empty where its letters tell. */
  readonly common: ReadonlySet<string>
  readonly joints: Joints
  /** Words before a clause that change nothing about what it is: "please", "and", "for now". Anchored. */
  readonly opener: RegExp
  /** A question that lacks its mark, by how it begins. */
  readonly asks: RegExp
  /** A clause with a subject that the one after "and" may share. */
  readonly subject: RegExp
  /** A clause that states something. */
  readonly statement?: RegExp
  /** A clause that tells what the product should show. */
  readonly screen?: RegExp
  /** A clause before a command that tells when a running program does it. */
  readonly atRunTime?: RegExp
  /** A clause whose subject is one thing. Verbs of the plural after it do not share that subject, */
  readonly singular?: RegExp
  /** nor do these, whatever comes before. */
  readonly ownCommand?: RegExp
  /** The first that fits tells the kind. */
  readonly forms: readonly Form[]
  /** What lifts an instruction: a permission, "forget what I said about". */
  readonly permits: readonly RegExp[]
  /** A clause that commands nothing. Undefined: commands lift nothing in this language. */
  readonly noCommand?: RegExp
}

/** The patterns meet a clause as `clause.ts` writes it, without its openers. */
export interface Form {
  readonly kind: StandingKind
  readonly is: RegExp
  /** What looks like it and is something else. */
  readonly isNot?: RegExp
  /** All of these must be in the clause, or in the one before or after it. */
  readonly needs?: readonly RegExp[]
  /** Also where the sentence is a question: "Can we not commit this?" */
  readonly asked?: true
  /** Only right after a command and "and": "change the code and never the test". */
  readonly afterCommand?: true
  /** It lacks a verb: only at the beginning of a sentence, or after a command. */
  readonly verbless?: true
  /** A command: not where "and" joins it to something that is none. */
  readonly command?: true
  /** Not after a statement and a comma: "it reads the first, never the last". */
  readonly notAfterStatement?: true
  /** Not where it is about what a screen shows. */
  readonly work?: true
  /** Only where the message says nothing else: "No, not in that folder." */
  readonly alone?: true
}

export function wordSet(list: string): ReadonlySet<string> {
  return new Set(list.split(' '))
}

/** A clause without the words that come before what it says. */
export function withoutOpeners(clause: string, { opener }: Language): string {
  let rest = clause
  for (let found = opener.exec(rest); found; found = opener.exec(rest))
    rest = ` ${rest.slice(found[0].length)}`
  return rest
}
