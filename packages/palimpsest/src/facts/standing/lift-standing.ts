import { distinctiveWords, isName } from '../distinctive-words.ts'
import type { StandingWords } from '../facts.ts'
import { TAKES_BACK } from './english-permissions.ts'
import type { StandingKind } from './language.ts'
import { languagesOf } from './languages-of.ts'
import { readSentence, type SentenceReading } from './read-sentence.ts'

// Which instruction a later sentence revokes: the one about the same thing. Forgetting a prohibition is worse than keeping one too long, so
// if it is unclear which is meant, all of them stay.

/** Share of the instruction's words that must be in the revocation, */
const STANDING_COVERED_MIN = 0.6
/** or of the revocation's own words that must be in the instruction. */
const REVOCATION_COVERED_MIN = 0.75
const SHARED_MIN = 2

interface Match {
  readonly one: StandingWords
  readonly shared: number
  readonly score: number
  readonly words: string
}

/** Revoked by permission: "you may now push to main", "forget what I said about commits". */
export function withoutRevoked(
  standing: readonly StandingWords[],
  sentence: string,
  { permissions, kind }: SentenceReading,
): readonly StandingWords[] {
  const left = withoutBestMatch(standing, permissions.map(withoutCondition).join(' '))
  if (left !== standing || kind !== undefined) return left
  if (!permissions.some((clause) => TAKES_BACK.test(clause)))
    return withoutBestMatch(standing, withoutCondition(sentence))
  return withoutInstead(standing, sentence)
}

/** "Scrap that, use spaces": revokes the instruction about what is wanted instead. One that was meant permanently must be named. */
function withoutInstead(standing: readonly StandingWords[], sentence: string): readonly StandingWords[] {
  const wanted = actWords(sentence)
  const meant = standing.filter(
    ({ text }) => !FOR_GOOD.test(text) && [...actWords(text)].some((word) => wanted.has(word)),
  )
  return meant.length === 1 ? standing.filter((one) => !meant.includes(one)) : standing
}

/** Revokes what the text is about: only the best match, and none if two different ones match equally well. */
function withoutBestMatch(standing: readonly StandingWords[], text: string): readonly StandingWords[] {
  const revoked = actWords(text)
  const matches = standing.flatMap((one): Match[] => {
    const { words } = ruleOf(one)
    const shared = [...words].filter((word) => revoked.has(word))
    const score = matchScore(words, revoked, shared)
    return score > 0 ? [{ one, shared: shared.length, score, words: [...words].toSorted().join(' ') }] : []
  })
  const best = Math.max(...matches.map(({ score }) => score))
  const top = matches.filter(({ score }) => score === best)
  const isOneThing = new Set(top.map(({ words }) => words)).size === 1
  // A single common word does not distinguish two rules.
  const isTold = matches.length === top.length || top.every(({ shared }) => shared >= SHARED_MIN)
  return isOneThing && isTold ? standing.filter((one) => !top.some((match) => match.one === one)) : standing
}

/** 0: it is about something else. */
function matchScore(
  words: ReadonlySet<string>,
  revoked: ReadonlySet<string>,
  shared: readonly string[],
): number {
  if (shared.length === 0) return 0
  const names = [...words].filter(isName)
  const namesRevoked = [...revoked].filter(isName)
  // If both name things, they must name the same ones.
  if (names.length > 0 && namesRevoked.length > 0 && !names.some((name) => revoked.has(name))) return 0
  const ofStanding = shared.length / words.size
  const ofRevocation = shared.length / revoked.size
  const speaksOfIt =
    (shared.length >= SHARED_MIN && ofStanding >= STANDING_COVERED_MIN) ||
    ofRevocation >= REVOCATION_COVERED_MIN ||
    (shared.some(isName) && shared.length >= SHARED_MIN)
  return speaksOfIt ? ofStanding + ofRevocation + (shared.some(isName) ? 1 : 0) : 0
}

/** Meant permanently: a command to do it once does not revoke it. */
const FOR_GOOD =
  /\b(?:never|ever|under no circumstances|no matter what|whatever you do|always)\b|(?<!\p{L})(?:nie|niemals|auf keinen fall|jamais|nunca|jamás|mai|никогда)(?!\p{L})/iu

/**
 * Revoked by a command to do what was forbidden for now: "Do not commit." … "OK, commit it now." The command must begin with the forbidden
 * act, include everything that was forbidden and mention nothing else: "push it" does not lift "don't push to main", nor "merge main into
 * this" "don't merge".
 */
export function withoutCommanded(
  standing: readonly StandingWords[],
  commands: readonly string[],
): readonly StandingWords[] {
  if (standing.length === 0 || commands.length === 0) return standing
  const said = commands.map((command) => ({
    act: [...actWords(command.trim().split(' ', 1)[0] ?? '')][0] ?? '',
    words: actWords(command),
  }))
  return standing.filter((one) => {
    const { kind, words: forbidden } = ruleOf(one)
    if (kind !== 'prohibition' || FOR_GOOD.test(one.text)) return true
    return !said.some(
      ({ act, words }) =>
        forbidden.has(act) &&
        isWithin(forbidden, words) &&
        isWithin(words, new Set([...forbidden, ...OF_ANY_ACT])),
    )
  })
}

/** Names for the same act: "never touch it" … "you may edit it". The first of each group represents all. */
const SAME_ACTS: readonly (readonly string[])[] = [
  'implement implementation code coding build action work start write proceed',
  'change touch edit modify alter update ändern anfassen toucher modifier tocar modificar mexer alterar altere toccare modificare',
  'delete remove löschen supprimer borrar eliminar apagar cancellare',
].map((acts) => [...distinctiveWords(acts)])
const ACT_NAMES: ReadonlyMap<string, string> = new Map(
  SAME_ACTS.flatMap((acts) => acts.map((act) => [act, acts[0] ?? act] as const)),
)

/** Things that nearly every act is done to. */
const OF_ANY_ACT = distinctiveWords('changes work message files code everything origin remote pr plan step')

function actWords(text: string): ReadonlySet<string> {
  return new Set([...distinctiveWords(text)].map((word) => ACT_NAMES.get(word) ?? word))
}

const CHANGES_COURSE =
  /\b(?:instead|from (?:now|here) on|going forward|actually|no longer|any ?more|change of plan)\b|(?<!\p{L})(?:ab (?:jetzt|sofort)|stattdessen|désormais|dorénavant|à partir de maintenant|de ahora en adelante|a partir de ahora|de agora em diante|d['’]ora in poi|теперь|отныне)(?!\p{L})|以后|今後|앞으로/iu
const ADDS =
  /\b(?:also|too|as well|additionally|besides)\b|(?<!\p{L})(?:auch|außerdem|aussi|también|também|anche|также)(?!\p{L})|也|も/iu

/** Replaced by a new rule: the opposite of the old one, or a different answer to the same question that says so. */
export function withoutReplaced(
  standing: readonly StandingWords[],
  text: string,
  { kind, rules }: SentenceReading,
): readonly StandingWords[] {
  if (standing.length === 0) return standing
  const words = actWords(rules.map(withoutCondition).join(' '))
  const changes = CHANGES_COURSE.test(text) && !ADDS.test(text)
  return standing.filter((one) => {
    const { kind: oldKind, words: old } = ruleOf(one)
    const shared = [...old].filter((word) => words.has(word)).length
    const isOpposite = (oldKind === 'prohibition') !== (kind === 'prohibition')
    if (isOpposite) return old.size === 0 || shared < old.size
    const most = Math.max(old.size, words.size)
    return !changes || shared < SHARED_MIN || shared === most || shared / most < STANDING_COVERED_MIN
  })
}

interface Rule {
  readonly kind?: StandingKind
  /** From the clauses that make it a rule, without its reasons and its duration. */
  readonly words: ReadonlySet<string>
}

/** Each instruction is read once, however many sentences follow. */
const read = new WeakMap<StandingWords, Rule>()

function ruleOf(one: StandingWords): Rule {
  const known = read.get(one)
  if (known) return known
  const readings = languagesOf(one.text).map((language) => readSentence(one.text, language, true))
  const { kind, rules = [] } = readings.find((reading) => reading.kind !== undefined) ?? {}
  const words = actWords(rules.map(withoutCondition).join(' '))
  const rule = { ...(kind && { kind }), words: words.size > 0 ? words : actWords(one.text) }
  read.set(one, rule)
  return rule
}

const CONDITION =
  / (?:until|till|unless|while|before|if|because|since|so that|as long as|bis|solange|bevor|weil|hasta|mientras|porque|jusqu|tant que|até|enquanto|finché|пока|если) .*$/u

function withoutCondition(clause: string): string {
  return ` ${clause.trim()} `.replace(CONDITION, ' ').replace(/^.*まで(?:は|に)?(?=.)/u, '')
}

function isWithin(some: ReadonlySet<string>, all: ReadonlySet<string>): boolean {
  return [...some].every((word) => all.has(word))
}
