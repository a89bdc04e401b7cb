import type { Joints } from './clause.ts'

// How people set rules for the future, and revoke them. Each language knows its forms: a command without a subject, a negated command, a
// duty of "you", a thing that is out of bounds. A statement about a third thing is no instruction, whatever its adverb.

/** What the agent must not do; what it must do each time; how the user likes it; what every result must respect. */
export type StandingKind = 'prohibition' | 'obligation' | 'preference' | 'constraint'

export interface Language {
  /** Small words that identify its sentences. Empty if its letters identify it. */
  readonly common: ReadonlySet<string>
  readonly joints: Joints
  /** Words before a clause that do not change its kind: "please", "and", "for now". Anchored. */
  readonly opener: RegExp
  /** The beginning of a question that lacks its question mark. */
  readonly asks: RegExp
  /** A clause with a subject that the clause after "and" may share. */
  readonly subject: RegExp
  /** A clause that states something. */
  readonly statement?: RegExp
  /** A clause about what the product should show. */
  readonly screen?: RegExp
  /** A clause before a command that says when a running program does it. */
  readonly atRunTime?: RegExp
  /** A clause whose subject is one thing. Plural verbs after it do not share that subject, */
  readonly singular?: RegExp
  /** nor do these, whatever comes before. */
  readonly ownCommand?: RegExp
  /** The first match determines the kind. */
  readonly forms: readonly Form[]
  /** What lifts an instruction: a permission, "forget what I said about". */
  readonly permits: readonly RegExp[]
  /** A clause that commands nothing. Undefined: commands lift nothing in this language. */
  readonly noCommand?: RegExp
}

/** The patterns are matched against a clause in the form of `clause.ts`, without its openers. */
export interface Form {
  readonly kind: StandingKind
  readonly is: RegExp
  /** Looks similar, but is something else. */
  readonly isNot?: RegExp
  /** Each of these must match in the clause, or in the one before or after it. */
  readonly needs?: readonly RegExp[]
  /** Also matches in a question: "Can we not commit this?" */
  readonly asked?: true
  /** Only directly after a command and "and": "change the code and never the test". */
  readonly afterCommand?: true
  /** It has no verb: only at the beginning of a sentence, or after a command. */
  readonly verbless?: true
  /** A command: not if "and" joins it to something that is none. */
  readonly command?: true
  /** Not after a statement and a comma: "it reads the first, never the last". */
  readonly notAfterStatement?: true
  /** Not if it is about what a screen shows. */
  readonly work?: true
  /** Only if the message says nothing else: "No, not in that folder." */
  readonly alone?: true
}

export function wordSet(list: string): ReadonlySet<string> {
  return new Set(list.split(' '))
}

/** A clause without its introductory words. */
export function withoutOpeners(clause: string, { opener }: Language): string {
  let rest = clause
  for (let found = opener.exec(rest); found; found = opener.exec(rest))
    rest = ` ${rest.slice(found[0].length)}`
  return rest
}
