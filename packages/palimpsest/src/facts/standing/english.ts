import { ENGLISH_DUTIES, NO_COMMAND } from './english-duties.ts'
import { ENGLISH_PERMISSIONS } from './english-permissions.ts'
import { ENGLISH_PROHIBITIONS } from './english-prohibitions.ts'
import { ENGLISH_AT_RUN_TIME, ENGLISH_SCREEN } from './english-work.ts'
import { wordSet, type Language } from './language.ts'

/** "don't" and "dont" become "do not". Small words between "do not" and its verb change nothing, so they are removed. */
const SPELLED: readonly (readonly [RegExp, string])[] = [
  [/(?<= )(do|does|did|should|would|could|must|is|are|was|were|has|have|had|need)n'?t(?= )/g, '$1 not'],
  [/(?<= )(?:can'?t|cannot)(?= )/g, 'can not'],
  [/(?<= )won'?t(?= )/g, 'will not'],
  [/(?<= )let'?s(?= )/g, 'let us'],
  [/(?<= )i'?m(?= )/g, 'i am'],
  [/'d(?= )/g, ' would'],
  [/'re(?= )/g, ' are'],
  [/'ll(?= )/g, ' will'],
  [/'ve(?= )/g, ' have'],
  [/(?<= )(it|that|there|here|what|he|she)'s(?= )/g, '$1 is'],
  [/(?<= (?:do|should|must|may) not) (?:ever|even|just|please|simply|actually)(?= )/g, ''],
  [/(?<= )(?:absolutely|really|strictly|explicitly) (?=(?:do not|never|must|should|no) )/g, ''],
]

export const ENGLISH: Language = {
  common: wordSet(
    'the a an to of in on is are it this that you i we and or for with be my your when if please use any from by as at not have do just me yet without',
  ),
  joints: { spelled: SPELLED, conjunction: / (?:and|but|or) /, breaks: / (?:so|then|because) / },
  opener:
    /^ (?:(?:please|pls|kindly)(?! no )|also|and|but|so|then|ok|okay|yes|yeah|yep|now|right now|for now|at this point|for the moment|just|again|still|actually|otherwise|though|however|well|alright|great|good|perfect|important|note|oh|hey|instead|first|this time|next time|in (?:the )?future|from (?:now|here|this point|today) on(?:wards?)?|going forward|henceforth|no(?= (?:do not|never|not|please|just|let us|you) )|whatever you do|no matter what|remember to|remember that|it is (?:\S+ )?important (?:to|that you)(?! not | do not | never )|let us(?= (?:avoid|hold off|stop|leave|refrain|stay (?:off|away|out)|keep (?:off|away|out)) )|(?:remember|seriously|wait|sorry|listen|dude|bro|claude)(?= (?:do not|never|please|no|stop) )|once again|by the way|btw|note that|as always|in general|i repeat|at this stage|in this (?:step|phase|task)|for this (?:step|phase|task)) /,
  asks: /^ (?:why|how|what|who|whose|(?:when|where|which) (?:is|are|do|does|did|was|were|will|should|can|would)|is|are|was|were|does|did|do (?:you|we|they|i|the|those|these|any|not (?:you(?! dare)|we|they|i|the|those|these))|can|could|should|would|will|has|am|shall|any) /,
  subject:
    /^ (?:we|they|these|those|the|my|our|their|some|most|all|both|users?|people|tests|who|which|nobody|nothing) /,
  statement: /^ (?:\S+ ){0,4}(?:is|are|was|were|has|had|does|did|returns?|gets?|uses|goes|comes) /,
  screen: ENGLISH_SCREEN,
  atRunTime: ENGLISH_AT_RUN_TIME,
  singular: /^ (?:the|my|our|this|that|it) (?:\S+ ){0,6}(?:is|was|has|looks|works|seems|needs) /,
  ownCommand: /^ (?:please|pls) |^ (?:please )?do not (?:\S+ )(?:them|it yet|yet|anything yet) /,
  forms: [...ENGLISH_PROHIBITIONS, ...ENGLISH_DUTIES],
  permits: ENGLISH_PERMISSIONS,
  noCommand: NO_COMMAND,
}
