import { clausesOf, type Clause } from './clause.ts'
import { withoutOpeners, type Form, type Language, type StandingKind } from './language.ts'

// What a sentence of the user is, by the form of its clauses: a lasting instruction, a permission, a command, or none of them.

export interface SentenceReading {
  /** Kind of an instruction. If clauses differ, a prohibition wins. */
  readonly kind?: StandingKind
  /** The clauses that make it an instruction. */
  readonly rules: readonly string[]
  /** Clauses that lift an instruction. */
  readonly permissions: readonly string[]
  /** Clauses that tell the agent to do something now, without their openers. */
  readonly commands: readonly string[]
}

interface Place {
  readonly clause: Clause
  /** The clause without its openers, */
  readonly bare: string
  /** and with its neighbors. */
  readonly around: string
  readonly before?: Clause
  readonly isQuestion: boolean
  /** It is the only sentence of the message. */
  readonly isAlone: boolean
}

const QUESTION = /[?？]!?["'”’)\s]*$/
/** "…, ok?" does not ask for an answer. */
const TAG = /,\s*(?:ok|okay|right|alright|yeah|please|got it|te parece|vale|ja|oder|d['’]accord)\s*\?\s*$/i
/** A question mark in quotes does not belong to the sentence. */
const QUOTED_END = /["“«][^"“”«»]{1,400}\?["”»]\s*$/
/** What follows is someone else's words. */
const REPORTS = / (?:says?|said|states?|reads|warns?|complains?|writes?|wrote|sagt|steht|dit|dice|diz) $/

export function readSentence(sentence: string, language: Language, isAlone: boolean): SentenceReading {
  const clauses = clausesOf(sentence, language.joints)
  const isMarked = QUESTION.test(sentence) && !TAG.test(sentence) && !QUOTED_END.test(sentence)
  const asksFrom = questionStart(clauses, language, isMarked)
  const places = clauses.flatMap((clause, i): Place[] => {
    const before = clauses[i - 1]
    if (before && REPORTS.test(before.text)) return []
    const around = `${before?.text ?? ' '}|${clause.text}|${clauses[i + 1]?.text ?? ' '}`
    const bare = withoutOpeners(clause.text, language)
    return [{ clause, bare, around, ...(before && { before }), isQuestion: i >= asksFrom, isAlone }]
  })
  const permissions = isMarked ? [] : places.filter((place) => permits(place, language))
  const rest = places.filter((place) => !permissions.includes(place))
  const rules = rest.flatMap((place) => {
    const kind = kindOf(place, language)
    return kind ? [{ kind, text: place.clause.text }] : []
  })
  const isRule = ({ clause }: Place): boolean => rules.some(({ text }) => text === clause.text)
  const commands = rest.filter((place) => !place.isQuestion && !isRule(place) && isCommand(place, language))
  const kind = rules.find((rule) => rule.kind === 'prohibition')?.kind ?? rules[0]?.kind
  return {
    ...(kind && { kind }),
    rules: rules.map(({ text }) => text),
    permissions: permissions.map(({ clause }) => clause.text),
    commands: commands.map(({ bare }) => bare),
  }
}

/** The clause where a question begins: "do not commit yet, can you show me the diff?" commands before it asks. */
function questionStart(clauses: readonly Clause[], language: Language, isMarked: boolean): number {
  const asks = ({ text }: Clause): boolean => language.asks.test(withoutOpeners(text, language))
  const [first] = clauses
  if (!isMarked) return first && asks(first) ? 0 : clauses.length
  const from = clauses.findIndex(asks)
  return from < 0 ? clauses.length - 1 : from
}

function permits({ clause, bare }: Place, language: Language): boolean {
  return language.permits.some((form) => form.test(clause.text) || form.test(bare))
}

function kindOf(place: Place, language: Language): StandingKind | undefined {
  const { clause, before } = place
  const head = clause.joined === undefined ? before?.text : clause.joined
  const said = head === undefined ? '' : withoutOpeners(head, language)
  if (clause.joined !== undefined && sharesSubject(clause, said, language)) return undefined
  const follows = said.trim() !== '' && language.noCommand?.test(said) === false
  return language.forms.find((form) => fits(form, place) && stands(form, place, { said, follows, language }))
    ?.kind
}

/** "They crash and never recover" shares the subject of the clause before. "It works but do not touch it" is a command. */
function sharesSubject({ text }: Clause, said: string, language: Language): boolean {
  const { subject, singular, ownCommand } = language
  if (!subject.test(said) || ownCommand?.test(text)) return false
  return !(singular?.test(said) && withoutOpeners(text, language).startsWith(' do not '))
}

interface Head {
  /** The clause before, without its openers; empty at the beginning of the sentence. */
  readonly said: string
  /** That clause is a command. */
  readonly follows: boolean
  readonly language: Language
}

/** Whether a form counts at this place in the sentence. */
function stands(form: Form, { clause, bare }: Place, { said, follows, language }: Head): boolean {
  if (form.work && (language.screen?.test(bare) || language.atRunTime?.test(said))) return false
  // "No, not in that folder" begins with it.
  if (form.alone && (clause.joined !== undefined || said.trim().includes(' '))) return false
  if (form.notAfterStatement && language.statement?.test(said)) return false
  if (form.afterCommand) return clause.joined !== undefined && follows
  if (form.verbless) return !clause.aside && (follows || said.trim() === '')
  return !form.command || clause.joined === undefined || follows
}

function fits(
  { is, isNot, needs, asked, alone }: Form,
  { bare, around, isQuestion, isAlone }: Place,
): boolean {
  if ((isQuestion && !asked) || (alone && !isAlone)) return false
  if (!is.test(bare) || isNot?.test(bare)) return false
  return needs?.every((need) => need.test(around)) ?? true
}

function isCommand({ bare }: Place, { noCommand }: Language): boolean {
  return noCommand !== undefined && bare.trim() !== '' && !noCommand.test(bare)
}
