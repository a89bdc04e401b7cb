import { ACT, DOING, DONE, REPOSITORY, WORK } from './english-work.ts'
import { ENGLISH_UNWANTED } from './english-unwanted.ts'
import type { Form } from './language.ts'

const form = (source: string): RegExp => new RegExp(source)

/** "…, right?" asks whether a statement is true. */
const NO_TAG = /^(?!.*\| (?:(?:right|correct|yeah|no) $|that is (?:the|a) |fix ))/

export const ENGLISH_PROHIBITIONS: readonly Form[] = [
  ...ENGLISH_UNWANTED,
  // A negated command: "do not commit", "never open editors". Verbs of state have no command form: "don't know why" lacks its "I". With
  // verbs for what a screen does, a negated command is a wish about the product.
  {
    kind: 'prohibition',
    work: true,
    is: /^ do not [a-z`]/,
    isNot:
      /^ do not (?:i|you|we|they|he|she|it|the|those|these|that|this|my|your|our|any|know|think|see|understand|like|want|need|mind|care|believe|recall|seem|feel|agree|love|hesitate|worry|forget|have|get|appear|exist|matter|work(?! (?:on|in|around) )|show(?! me )|display|render|redirect|wrap|scroll|trigger|prompt|allow|let) /,
  },
  { kind: 'prohibition', is: /^ do not you (?:dare|ever) / },
  // Without a comma: "fix the login do not touch the parser". After a plural it may be a report.
  {
    kind: 'prohibition',
    is: form(`^ (?:\\S+ ){1,20}do not (?:${ACT}) `),
    isNot:
      / (?:i|you|we|they|he|she|it|who|which|that|people|data|(?!this )[^\s./]+s) (?:\S+ly |also |still |just |often )?do not |^ (?:why|how|what|so that|in case|because) /,
    work: true,
  },
  { kind: 'prohibition', is: /^ (?:do not|never) $/, needs: [/ under any circumstances? | in any case /] },
  { kind: 'prohibition', is: /^ do not $/, alone: true },
  // "Never was", "never appears", "never came" are reports, not commands.
  {
    kind: 'prohibition',
    work: true,
    notAfterStatement: true,
    is: /^ never (?:ever )?[a-z]/,
    isNot:
      /^ never (?:ever )?(?:mind|again|before|was|were|is|are|be|been|had|has|have|got|gets|saw|seen|came|went|did|does|became|ran|made|found|took|gave|knew|thought|heard|will|would|could|should|can|might|seem|happen|in|on|at|to|a|an|the|any|no|so|more|less|quite|\S+(?:ed|ing|[^s]s)) /,
  },
  // "Change the code and never the test."
  { kind: 'prohibition', is: /^ never (?:the|any|a|an|to|on|in) /, afterCommand: true },
  { kind: 'prohibition', is: form(`^ not (?:${WORK}) `), afterCommand: true },
  {
    kind: 'prohibition',
    is: form(`^ not (?:to )?(?:${WORK}) (?:the|any|anything|my|our|this|existing|code) `),
    verbless: true,
  },
  {
    kind: 'prohibition',
    is: /^ must (?:not|never|avoid) [a-z]/,
    isNot: /^ must (?:not|never) (?:be|have|exceed|contain|show|render|display|appear|exist|return|overlap) /,
    verbless: true,
  },
  // "Not in that folder."
  {
    kind: 'prohibition',
    is: /^ not (?:in|into|on|onto|under|to|with|there|here) (?:\S+ ){1,6}$/,
    alone: true,
  },

  // A duty of "you" to refrain from something.
  {
    kind: 'prohibition',
    is: /^ you (?:must|should|may|shall) (?:not|never) /,
    isNot:
      /^ you (?:must|should|may) (?:not|never) (?:see|need|have|get|notice|find|worry|want|feel|be (?:able|getting|seeing)) /,
  },
  {
    kind: 'prohibition',
    is: /^ (?:claude|cursor|codex|copilot)(?: ai| code)? (?:must|should|may|shall) (?:not|never) /,
  },
  {
    kind: 'prohibition',
    is: /^ you (?:are|were) not (?:allowed|permitted|supposed|authori[sz]ed|meant|to) /,
  },
  {
    kind: 'prohibition',
    is: /^ you do not (?:have|get) (?:the |my |any )?(?:permission|right) to (?:commit|push|merge|edit|change|create|delete|run|install|deploy|touch) /,
  },
  {
    kind: 'prohibition',
    is: /^ (?:you|we) (?:should|must|need to|have to|want to) (?:stop|avoid|quit|refrain from) /,
  },
  {
    kind: 'prohibition',
    is: /^ it is (?:\S+ )?(?:important|critical|crucial|essential) (?:(?:that (?:you|we) |to )(?:do not|never|not)|not to) /,
  },
  {
    kind: 'prohibition',
    is: form(`^ you can not (?:just |simply )?(?:${WORK}) `),
    isNot: / (?:users?|who|customers?|because|when|items?|more than|on mobile) /,
  },
  {
    kind: 'prohibition',
    is: /^ (?:under no (?:circumstances?|conditions?)|in no case|on no account|at no point|by no means) |^ (?:should|may|must|can|are) you ever /,
  },

  // "We" and "let's".
  {
    kind: 'prohibition',
    work: true,
    is: form(
      `^ let us not (?:(?:${ACT}|do|go|get into|rush|jump) |(?:\\S+ ){1,12}(?:yet|for now|right now|at this (?:point|stage)) )`,
    ),
    isNot: / (?:any ?more|forget|worry) /,
  },
  {
    kind: 'prohibition',
    is: /^ we (?:must not|(?:must|should|shall|will|can) never|are not (?:allowed|to)) /,
  },
  { kind: 'prohibition', is: form(`^ we (?:should|shall) not (?:(?:${WORK})|be (?:${DOING})) `) },
  // "We're not installing anything in this phase.", "we won't touch the parser". With a condition, it reports what goes wrong.
  {
    kind: 'prohibition',
    is: form(`^ we (?:are not|will not be) (?:${DOING}) `),
    isNot: / (?:when|if|because|properly|correctly|for some reason) /,
    needs: [NO_TAG],
  },
  {
    kind: 'prohibition',
    is: form(`^ we (?:are not (?:going|gonna) (?:to )?|will not )(?:${ACT}|do) `),
    isNot: / (?:when|if|because|then) /,
    needs: [NO_TAG],
  },
  {
    kind: 'prohibition',
    is: /^ we can not (?:break|change|modify|touch|alter|delete|remove|use|rename|drop) /,
    isNot: / (?:because|when|if|locally|items?|more than|until|users?) /,
    needs: [NO_TAG],
  },
  {
    kind: 'prohibition',
    is: /^ we are not using (?:\S+ ){1,6}(?:here|in this (?:repo|project|codebase)|for this) $/,
  },
  { kind: 'prohibition', is: form(`^ you never (?:${WORK}) (?:\\S+ ){0,8}(?:without|unless) `) },
  { kind: 'prohibition', is: form(`^ we never (?:${WORK}) `) },
  {
    kind: 'prohibition',
    is: form(
      `^ we do not (?:${WORK}|do) (?:\\S+ ){0,10}(?:here|in this (?:repo|repository|project|codebase|phase|step|task)|in our (?:repo|code|codebase|project)|yet|ever) $`,
    ),
    isNot: / (?:have|got) /,
  },

  // What "I" do not want the agent to do or add. "I don't want that" is about something that exists already.
  {
    kind: 'prohibition',
    is: /^ (?:i|we) (?:basically |also |do )?(?:do not|not|never) (?:ever )?(?:want|wish) (?:(?:to|ot) \S|you |us |(?:any |a |an )?(?:new|more|another|other|additional|extra) )/,
    isNot:
      /(?:want|wish) to (?:see|have|hit|deal|lose|wait|scroll|be|get|know|pay|accidentally|click|worry|show|display|render|hide|allow|send) /,
  },
  {
    kind: 'prohibition',
    is: form(
      `^ (?:i|we) (?:do not|\\S+ never|never) (?:ever )?want (?:\\S+ ){1,6}(?:to (?:be )?)?(?:change|${DONE}) `,
    ),
    isNot: / from (?:that|the|this) (?:table|list|database|db|view|screen|page) /,
  },
  {
    kind: 'prohibition',
    is: /^ i (?:would|had) (?:rather|prefer) (?:you |we |it )?(?:to )?(?:not|did not) /,
  },
  { kind: 'prohibition', is: /^ i (?:would not|do not) (?:like|wish) you to / },
  {
    kind: 'prohibition',
    is: /^ (?:i|we) (?:really )?(?:need|want|expect|would like) you to (?:stop|avoid|not|never|quit|refrain from) /,
  },
  {
    kind: 'prohibition',
    is: form(
      `^ (?:it (?:is|would be) )?(?:better|best) (?:to )?not (?:to )?(?:${WORK}) |^ (?:i (?:would )?)?prefer (?:to )?not (?:to )?(?:${WORK}) `,
    ),
  },
  { kind: 'prohibition', is: /^ i (?:already |just )?(?:told|asked) you (?:not|never) to / },
  {
    kind: 'prohibition',
    is: /^ i (?:already |just |clearly |explicitly )?(?:said|told you) (?:to )?(?:do not|never|no|not to) \S/,
  },

  {
    kind: 'prohibition',
    verbless: true,
    is: /^ please no (?:\S+ ){1,5}$|^ (?:no|nothing) (?:\S+ ){0,5}without /,
  },
  {
    kind: 'prohibition',
    is: /^ (?:take|make|do|write|run|add|change|touch|commit|push|use|edit|delete|create) (?:no|nothing) /,
    isNot: /^ make no (?:sense|difference) /,
  },

  // Out of bounds: "production is off limits", "hands off vendor/", "leave the lock file alone".
  {
    kind: 'prohibition',
    is: / (?:is|are|stays?|remains?) (?:strictly |completely |totally |absolutely |all )?(?:off[- ]limits|forbidden|prohibited|taboo|banned|out of bounds|a no-?go|not to be (?:\S+(?:ed|n)|run)) | (?:is|are) (?:strictly |absolutely )?not (?:allowed|permitted) (?:here |in this (?:repo|project) )?$/,
    isNot:
      / (?:access|requests?|responses?|users?|guests?|admins?|clients?|customers?|visitors?|no longer|when|because|failed|errors?) /,
  },
  {
    kind: 'prohibition',
    is: form(`^ (?:\\S+ ){0,8}(?:must|should|may) (?:not|never) (?:ever )?be (?:${DONE}) `),
    isNot:
      / (?:users?|guests?|customers?|visitors?|items?|orders?|records?|from the (?:list|table|view|cart)) /,
  },
  {
    kind: 'prohibition',
    is: /^ (?:\S+ ){0,8}(?:must (?:not|never)|should never) be (?:used|created|added|written) /,
    isNot: / (?:users?|guests?|customers?|visitors?) /,
  },
  {
    kind: 'prohibition',
    is: /^ (?:\S+ ){1,6}(?:is|are) (?:not (?:an option|acceptable|tolerated)|unacceptable) $/,
    isNot: /^ (?:this|that|it|these|those|which) (?:is|are) /,
  },
  {
    kind: 'prohibition',
    is: /^ (?:nobody|no one) (?:else )?(?:pushes|touches|edits|commits|merges|deploys|changes) /,
  },
  {
    kind: 'prohibition',
    is: form(`^ nothing (?:\\S+ ){0,6}(?:gets|is|may be|must be|should be) (?:${DONE}) `),
    isNot: / (?:when|after|if|even) (?:i|you|we|the) /,
  },
  {
    kind: 'prohibition',
    is: /^ (?:keep (?:your )?)?hands off |^ (?:stay|keep) (?:off|away from|out of|clear of) |^ steer clear of /,
  },
  {
    kind: 'prohibition',
    is: /^ (?:\S+ ){0,3}(?:leave|keep) (?:\S+ ){1,8}(?:alone|untouched|unchanged|intact|as-is|as is|as it is|as they are|to me|out of (?:it|this|the (?:commits?|prs?|repo))) /,
  },

  // "Stop doing", "avoid", "hold off". A wish that stops a way of talking is about manner.
  {
    kind: 'preference',
    is: /^ (?:stop|quit) (?:apologi|saying|calling|explaining|repeating|summari|thank)/,
  },
  {
    kind: 'prohibition',
    work: true,
    is: /^ (?:stop|quit) (?:\S+ing) /,
    isNot: /^ stop (?:showing|displaying|rendering|loading|blinking|flickering|during|using up) /,
  },
  { kind: 'prohibition', is: /^ (?:stop|enough|quit) with (?:the|this|that|these|those|your|all) / },
  { kind: 'prohibition', is: /^ try to (?:avoid|not) / },
  { kind: 'prohibition', is: /^ keep (?:your |all )?(?:changes|edits) out of / },
  { kind: 'prohibition', work: true, is: /^ (?:avoid|refrain from|hold off|abstain from) / },

  // "Make sure not to …"; about a third thing only if it concerns the repository.
  {
    kind: 'prohibition',
    is: /^ (?:make sure|be sure|ensure|take care|be careful|careful|remember|try) (?:that )?(?:you |we )?(?:to )?(?:not|never|do not|are not) /,
  },
  {
    kind: 'prohibition',
    is: form(`^ (?:make sure|ensure) (?:\\S+ ){1,10}(?:not|never|no) (?:\\S+ ){0,8}(?:${REPOSITORY}) `),
  },
  { kind: 'prohibition', is: /^ be (?:\S+ )?careful (?:about |to |with )?(?:not|never) / },
  {
    kind: 'prohibition',
    is: form(`^ (?:make sure|ensure) (?:\\S+ ){1,10}not (?:be|get) (?:${DONE}) `),
  },
  {
    kind: 'prohibition',
    is: /^ (?:make sure|ensure) (?:that )?(?:nothing (?:\S+ ){0,3}(?:breaks?|broken|lost|deleted|removed)|(?:\S+ ){0,5}(?:existing|current|other|old|working) (?:\S+ ){1,6}(?:not|never) (?:\S+ )?(?:break|breaks|broken|lost|deleted|removed|affected|changed)) /,
  },
  // A question that is meant as a command.
  {
    kind: 'prohibition',
    is: form(`^ (?:can|could|would) (?:we|you) (?:please )?not (?:${WORK}) `),
    asked: true,
  },
  {
    kind: 'prohibition',
    is: /^ (?:can|could|would|will) (?:you|we) (?:please )?(?:stop|avoid|refrain from|quit) (?!showing|displaying|rendering|loading)\S+ing /,
    asked: true,
  },
  // To wait means to do nothing in the meantime.
  { kind: 'prohibition', is: /^ let (?:the|this|that|it|them|my|our) (?:\S+ ){0,5}(?:finish|complete|end) / },
]
