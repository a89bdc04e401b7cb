import type { Form } from './language.ts'

// Obligations, preferences, constraints. Most are commands, and a command is usually carried out once: something must show that it lasts,
// and that it is about how the agent works and not about what the product does.

/** A clause with a subject, a question or a report is no command. */
export const NO_COMMAND =
  /^ (?:i|you|we|they|he|she|it|this|that|these|those|there|the|a|an|my|our|your|his|her|its|their|some|most|all|both|each|every|if|when|whenever|because|since|while|as|although|where|which|who|what|why|how|whether|after|before|until|unless|for|with|without|in|on|at|of|from|by|to|into|than|like|not|no|nothing|nobody|only|or|is|are|was|were|be|been|has|have|had|does|did|do (?:you|we|they|i|the|not)|can|could|should|would|will|must|may|might|shall|got|going|maybe|perhaps|probably|looks|seems|sounds|\S+ing|\S+ed|\S+ly) |^ (?!(?:make sure|ensure|check|verify|remember) )(?:\S+ ){1,4}(?:is|are|was|were|has|had|does|did|will|would|can|could|should|must|may|might|needs?|seems?|looks|works|fails|returns|\S+n't) /

const ACT =
  'commit|push|merge|open|submit|create|install|delete|remove|change|edit|modify|touch|add|write|run|deploy|release|rebase|rename|refactor|go on|move on|mark'
const ACTING =
  'committing|pushing|merging|opening|submitting|installing|deleting|changing|editing|deploying|releasing'
const STEP =
  'fix|change|commit|prs?|pull request|push|merge|edit|feature|bug|step|task|sub-task|subtask|iteration|round|refactor\\S*|migration|release'

const form = (source: string): RegExp => new RegExp(source)

/** Words for what lasts longer than one step. */
const LASTS = form(
  ` (?:every time|each time|whenever|from (?:now|here|this point|today|then) on(?:wards?)?|going forward|henceforth|in future|at all times|as (?:we|you) go|on the go|along the way|(?:after|before) (?:each|every|any)(?! other )|(?:for|on|in|with|per|at) (?:each|every|any) (?:\\S+ )?(?:${STEP})|before you (?:${ACT})|(?:before|after|when) (?:${ACTING})|after you (?:${ACT})|when you (?:${ACT}|are (?:unsure|not sure|torn|stuck|blocked|in doubt))|unless (?:i|told|asked)|as a rule|regularly|frequently|as much as possible|wherever (?:possible|you can)|no matter what|whatever you do|as long as|if you are (?:unsure|not sure|in doubt|stuck|blocked)|in doubt) `,
)
/** "Always run", "run always". In a statement about what a thing does, the word is elsewhere. */
const ALWAYS = /^ (?:\S+ )?always /

const FROM_NOW_ON = / (?:from (?:now|here|this point|today) on(?:wards?)?|going forward|henceforth) /

/** About the agent's own work. */
const WORK =
  / (?:you|your|me|commits?|committing|push|pushing|merge|merging|prs?|pull requests?|branch|branches|main|tests?|suite|lint|linter|check|checks|build|deploy|release|changelog|code|diffs?|plan|docs|review|worktree|script|install|dependenc\S+|functions?|files?|comments?|answers?|questions?|messages?|changes?|changed|fix|fixes|step|steps|edit|edits|[^\s/]*\/\S*|[^\s.]+\.(?:sh|ts|js|py|md)) /

const ARTIFACT =
  'commit messages?|commits|comments|code comments|branch names?|branches|pr titles?|prs|pull requests|answers|responses|variable names|docs|documentation|tests|functions|files|migrations'

export const ENGLISH_DUTIES: readonly Form[] = [
  // "From now on …", whatever the subject.
  {
    kind: 'obligation',
    is: /^ (?:you|we|let us|i want you to|i would like you to) /,
    isNot: /^ (?:you|we) (?:can|may|could|do not|have|were|are) /,
    needs: [FROM_NOW_ON],
  },
  { kind: 'obligation', is: /^ [a-z]{2,} \S/, isNot: NO_COMMAND, needs: [FROM_NOW_ON], command: true },
  // A command that lasts: "run the tests after each change", "always ask before you install something".
  {
    kind: 'preference',
    is: /^ (?:always )?(?:answer|respond|reply|speak|talk|write to me) /,
    needs: [/ always | from (?:now|here) on | every time | whenever | going forward /],
    command: true,
  },
  { kind: 'obligation', is: /^ [a-z]{2,} \S/, isNot: NO_COMMAND, needs: [LASTS, WORK], command: true },
  { kind: 'obligation', is: ALWAYS, isNot: NO_COMMAND, needs: [WORK], command: true },
  {
    kind: 'obligation',
    is: /^ always [a-z]+ \S/,
    isNot:
      /^ always (?:show|display|render|redirect|visible|on|in|at|the|a|an|this|that|it|same|some|been|was|is|are|had|has|got|\S+(?:ed|ing|[^s]s)) /,
    command: true,
  },
  // "Only stop if you have a question."
  {
    kind: 'obligation',
    is: /^ only (?:stop|ask|continue|proceed|start|commit|push|merge|run|edit|change|create|deploy|interrupt) (?:\S+ ){0,6}(?:if|when|after|once|unless) /,
  },
  // "Ask me before …", "tell me when a …".
  {
    kind: 'obligation',
    is: /^ (?:always )?(?:ask me|ask (?:for )?(?:my )?(?:permission|approval|confirmation)|check with me|consult me|get my (?:ok|okay|approval|permission|consent)) (?:\S+ ){0,6}(?:before|first|whenever|every|each) /,
  },
  {
    kind: 'obligation',
    is: /^ (?:always )?(?:tell|notify|inform|warn|ping|show) me (?:before|whenever|every|each|when (?:a|an|any|you|something)) /,
    isNot: / when you (?:are|have) (?:done|finished|ready) /,
  },
  { kind: 'obligation', is: /^ keep me (?:in the loop|posted|updated|informed) / },
  { kind: 'obligation', is: /^ wait (?:until|till|for) (?:i|me|my) / },
  {
    kind: 'obligation',
    is: /^ (?:carry on|continue|proceed|go on|keep going|work) (?:\S+ ){0,8}without (?:asking|waiting|stopping|confirm)/,
  },
  { kind: 'obligation', is: /^ treat (?:all |every |any )?(?!this )\S+s as / },
  // In the plural, it is done repeatedly.
  {
    kind: 'obligation',
    is: /^ (?:make|do|use|write|create|keep) (?:(?!the|these|those|two|three|all)\S+ ){0,2}commits /,
    command: true,
  },
  // A duty, addressed to "you".
  {
    kind: 'obligation',
    is: /^ you must /,
    isNot: /^ you must (?:not|never|have|be (?:kidding|joking)|see|know) /,
  },
  {
    kind: 'obligation',
    is: /^ (?:you|we) (?:should|need to|have to|must) (?:just )?always /,
    needs: [WORK],
  },
  {
    kind: 'obligation',
    is: /^ (?:i (?:want|need|expect|would like)) you to (?:always|only|make sure|keep|stay|ask|be|act) /,
  },
  { kind: 'obligation', is: / (?:we|i) want you (?:in future|in the future|from now on) to / },

  // Preferences. Choosing one of several options at hand is not a lasting one.
  {
    kind: 'preference',
    is: /^ i (?:would )?(?:much |really |strongly |generally |usually )?prefer /,
    isNot:
      /prefer (?:option|the (?:first|second|third|last|other|former|latter|one)|that|this|it|your|number|version|a|b|\d+) /,
  },
  {
    kind: 'preference',
    is: /^ i (?:would|had) rather (?:have|see|you|we|keep|be) /,
    isNot: /rather (?:have|see|keep) (?:the (?:first|second|third|last|other)|that|this|it) /,
  },
  { kind: 'preference', is: /^ i care (?:\S+ )?(?:more|less) (?:about|for) / },
  { kind: 'preference', is: /^ i (?:want|would like|prefer) to avoid / },
  {
    kind: 'preference',
    is: /^ i like (?:it when you|my|short|small|clean|simple|to (?:see|have|know|review|keep|work)) /,
  },
  // "I'd like our tests to be as close to production as possible."
  {
    kind: 'preference',
    is: /^ (?:i|we) (?:\S+ )?(?:would like|would love|want|prefer|need) (?:\S+ ){1,20}as (?:much|closely?|little|few|simple|small|often|far) (?:\S+ ){0,3}as possible /,
  },
  // What the agent does not need to do.
  {
    kind: 'preference',
    is: /^ (?:there is )?no need to (?:check|test|run|commit|push|look|read|ask|verify|review|explain|wait|confirm) |^ you do not (?:need|have) to (?:check|test|run|commit|push|look|read|ask|verify|review|explain|wait|confirm) /,
  },
  {
    kind: 'preference',
    is: /^ (?:answer|respond|reply|write|speak|talk|explain) (?:\S+ ){0,3}in (?:plain )?(?:english|german|french|spanish|italian|portuguese|chinese|japanese|korean|russian) $/,
  },
  { kind: 'preference', is: /^ (?:short|brief|concise) (?:answers?|replies|responses) / },
  {
    kind: 'preference',
    is: /^ (?:be|stay) (?:brief|concise|terse|honest|critical) |^ be (?:more|very) careful $/,
  },
  {
    kind: 'preference',
    is: /^ (?:one|1) (?:question|step|thing|change|commit|file|task) (?:at a time|per \S+) /,
  },

  // Constraints that every later change must respect.
  {
    kind: 'constraint',
    is: form(
      `^ (?:keep|make) (?:your |the |all |every |each |both |two |any )*(?:${ARTIFACT}|answers?|responses?|replies|explanations?|function|file|changes?|diffs?|commit|code) (?:\\S+ ){0,4}(?:short|brief|concise|small|simple|minimal|atomic|focused|under|below|terse|straightforward|separate|self-contained) `,
    ),
  },
  { kind: 'constraint', is: /^ keep (?:every|each|all) /, isNot: / (?:for now|in mind) / },
  {
    kind: 'constraint',
    is: form(
      `^ (?:all |every |each |our |new )*(?:${ARTIFACT}) (?:must|should|shall|need to|have to|are to|always|stay|go|get) `,
    ),
    isNot: form(
      `^ (?:all |our |new )*tests should (?:still )?(?:pass|be|work|run|not) | should (?:cover|include|be updated|also) | (?:you|we|i) |^ (?:the|these|those) `,
    ),
  },
  {
    kind: 'constraint',
    is: / must (?:always )?(?:stay|remain) (?:the same|as is|unchanged|compatible|backwards?\S*|stable|green|untouched|intact|in sync) | must not (?:change|break|grow|regress) /,
  },
  {
    kind: 'constraint',
    is: / (?:api|apis|schema|format|interface|interfaces|contract|signatures?|layout) (?:is|are|stays?) frozen /,
  },
  {
    kind: 'constraint',
    is: /^ (?:use|touch|edit|change|modify|work on|rely on|work) only |^ only (?:use|touch|edit|change|modify|work on|work in|rely on) |^ (?:let us )?stick (?:to|with) |^ (?:you|we) only (?:touch|edit|change|modify|use|work) /,
    isNot: / (?:until|for this|in this case|currently) /,
  },
  // One thing rather than another: "use the session repo, not the main one".
  {
    kind: 'constraint',
    is: /^ (?:use|run|work) \S/,
    needs: [/\| not (?!only|just|sure|yet)\S/],
    command: true,
  },
  { kind: 'constraint', is: / may only / },
  { kind: 'constraint', is: /^ we must (?:use|keep|support|stay|remain|preserve) / },
  {
    kind: 'constraint',
    is: /^ (?:a|one|another|the) (?:hard )?(?:requirement|constraint|condition) (?:here )?is /,
  },
  {
    kind: 'constraint',
    is: /^ let us (?:keep|stay with) /,
    isNot: /^ let us keep (?:\S+ing|it|them|this|that|track|in|going|things|what|all|just|both) | for now /,
  },
]
