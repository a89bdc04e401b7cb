import type { Form } from './language.ts'

// What is done to a repository. Beside "must not be" or "can we not" these tell a rule for the agent from a remark about the product.
const WORK =
  'commit|push|merge|rebase|edit|modify|change|touch|delete|remove|rename|write|rewrite|create|add|install|upgrade|deploy|publish|release|run|use|implement|refactor|format|mock|generate|overwrite|break|skip|disable'
const DONE =
  'committed|pushed|merged|edited|modified|changed|touched|deleted|removed|renamed|rewritten|installed|upgraded|deployed|published|released|altered|overwritten|broken|skipped|disabled'
const REPOSITORY = 'commits?|committed|repos?|repository|branch|main|master|git|prs?|pull requests?|codebase'

/** Parts of a screen. To forbid something about them, other than a change of them, is a wish for the product. */
const SCREEN =
  'rows?|columns?|buttons?|pages?|screens?|widgets?|icons?|headers?|footers?|colou?rs?|fonts?|images?|modals?|dialogs?|popups?|popovers?|tooltips?|menus?|tabs?|labels?|hover|margins?|padding|height|width|users?|guests?|cursor|calendar|events?'

const form = (source: string): RegExp => new RegExp(source)

export const ENGLISH_SCREEN = form(
  `^ (?:do not|let us not|stop|quit|avoid|never) (?!(?:${WORK}) |make me )(?:\\S+ ){1,20}(?:${SCREEN}) `,
)

export const ENGLISH_PROHIBITIONS: readonly Form[] = [
  // A negated command: "do not commit", "never open editors". Verbs of state have no command form: "don't know why" lacks its "I". With
  // verbs of what a screen does, a negated command is a wish for the product.
  {
    kind: 'prohibition',
    work: true,
    is: /^ do not [a-z`]/,
    isNot:
      /^ do not (?:i|you|we|they|he|she|it|the|those|these|that|this|my|your|our|any|know|think|see|understand|like|want|need|mind|care|believe|recall|seem|feel|agree|love|hesitate|worry|forget|have|get|appear|exist|matter|work(?! (?:on|in|around) )|show(?! me )|display|render|redirect|wrap|scroll|trigger|prompt|allow|let) /,
  },
  { kind: 'prohibition', is: /^ do not (?:you dare )/ },
  { kind: 'prohibition', is: /^ (?:do not|never) $/, needs: [/ under any circumstances? | in any case /] },
  { kind: 'prohibition', is: /^ do not $/, alone: true },
  // "Never was", "never appears", "never came": no command, a report.
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
  // "Not in that folder."
  {
    kind: 'prohibition',
    is: /^ not (?:in|into|on|onto|under|to|with|there|here) (?:\S+ ){1,6}$/,
    alone: true,
  },

  // A duty of "you" not to do something.
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
    is: /^ it is (?:\S+ )?(?:important|critical|crucial|essential) (?:that (?:you|we) |to )(?:do not|never|not) /,
  },
  { kind: 'prohibition', is: form(`^ you can not (?:just |simply )?(?:${WORK}) `) },
  {
    kind: 'prohibition',
    is: /^ (?:under no circumstances|in no case|on no account|at no point|by no means) |^ (?:should|may|must|can|are) you ever /,
  },

  // "We" and "let's".
  {
    kind: 'prohibition',
    work: true,
    is: /^ let us not /,
    isNot: /^ let us not (?:forget|worry|pretend) /,
  },
  {
    kind: 'prohibition',
    is: /^ we (?:must not|(?:must|should|shall|will|can) never|are not (?:allowed|to)) /,
  },
  { kind: 'prohibition', is: form(`^ we (?:should|shall) not (?:${WORK}) `) },
  {
    kind: 'prohibition',
    is: /^ we are not (?:installing|changing|adding|touching|building|implementing|deploying|committing|pushing|editing|writing|refactoring|rewriting|merging) /,
  },
  { kind: 'prohibition', is: form(`^ we never (?:${WORK}) `) },

  // What "I" do not want the agent to do, or to add. "I don't want that" is about what is there already.
  {
    kind: 'prohibition',
    is: /^ (?:i|we) (?:basically |also |do )?(?:do not|not|never) (?:ever )?(?:want|wish) (?:(?:to|ot) \S|you |us |(?:any |a |an )?(?:new|more|another|other|additional|extra) )/,
    isNot: /(?:want|wish) to (?:see|have|hit|deal|lose|wait|scroll|be|get|know|accidentally|click|worry) /,
  },
  {
    kind: 'prohibition',
    is: form(
      `^ (?:i|we) (?:do not|\\S+ never|never) (?:ever )?want (?:\\S+ ){1,6}(?:to (?:be )?)?(?:change|${DONE}) `,
    ),
  },
  {
    kind: 'prohibition',
    is: /^ i (?:would|had) (?:rather|prefer) (?:you |we |it )?(?:to )?(?:not|did not) /,
  },
  { kind: 'prohibition', is: /^ i (?:would not|do not) (?:like|wish) you to / },
  { kind: 'prohibition', is: /^ i (?:already |just )?(?:told|asked) you (?:not|never) to / },

  // A thing that there must not be: "no new dependencies", "no code yet". What is missing or wrong is a report: "no response yet".
  {
    kind: 'prohibition',
    verbless: true,
    is: /^ no (?:(?:new|other|extra|additional|further|external|more|un\S+(?:ed|ary)) (?:\S+ ){1,5}|(?:\S+ ){1,4}(?:yet|please|allowed|whatsoever|for now|ever) |(?:code|coding|commits?|pushes|pushing|emojis?|comments|mocks?|mocking|stubs?|hacks?|workarounds?|shortcuts?|placeholders?|guessing|dependencies|breaking changes|force pushes) (?:\S+ )?)$/,
    isNot:
      /^ no (?:more |new |other |further )?(?:errors?|issues?|problems?|failures?|warnings?|questions?|luck|results?|response|answer|reply|output|idea|way|one|need|changes|longer|matter|wonder|thanks) | (?:is|are|was|were|has|have|had|found|left|exists?|shows?|appears?|came|comes|shown|needed|required|necessary) /,
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
    isNot: / (?:users?|guests?|customers?|visitors?) /,
  },
  {
    kind: 'prohibition',
    is: form(`^ nothing (?:\\S+ ){0,6}(?:gets|is|may be|must be|should be) (?:${DONE}) `),
  },
  {
    kind: 'prohibition',
    is: /^ (?:keep (?:your )?)?hands off |^ (?:stay|keep) (?:off|away from|out of|clear of) |^ steer clear of /,
  },
  {
    kind: 'prohibition',
    is: /^ (?:\S+ ){0,3}(?:leave|keep) (?:\S+ ){1,8}(?:alone|untouched|unchanged|intact|as-is|as is|as it is|as they are|to me|out of (?:it|this|the (?:commits?|prs?|repo))) /,
  },

  // "Stop doing", "avoid", "hold off". What is said to stop the agent's talk is a wish about manner.
  {
    kind: 'preference',
    is: /^ (?:stop|quit) (?:apologi|saying|telling|calling|asking|explaining|repeating|summari|thank)/,
  },
  {
    kind: 'prohibition',
    work: true,
    is: /^ (?:stop|quit) (?:\S+ing) /,
    isNot: /^ stop (?:showing|displaying|rendering|loading|blinking|flickering|during|using up) /,
  },
  { kind: 'prohibition', work: true, is: /^ (?:avoid|refrain from|hold off|abstain from) / },

  // "Make sure not to …"; of a third thing only where it is about the repository.
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
  // Asked, and meant as a command.
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
  // To wait is to do nothing meanwhile.
  { kind: 'prohibition', is: /^ let (?:the|this|that|it|them|my|our) (?:\S+ ){0,5}(?:finish|complete|end) / },
]
