// Words that distinguish what the agent does to a repository from what the product does on a screen.

/**
 * What is done to a repository. After "must not be" or "can we not", these words distinguish a rule for the agent from a remark about the
 * product.
 */
export const WORK =
  'commit|push|merge|rebase|edit|modify|change|touch|delete|remove|rename|write|rewrite|create|add|install|upgrade|deploy|publish|release|run|use|implement|refactor|format|mock|generate|overwrite|break|skip|disable'
/** Other verbs that only the agent is told not to do. */
export const ACT = `${WORK}|start|proceed|begin|code|build|fix|guess|assume|mess|fuck|screw|alter|update|move|revert|restart|reinstall|introduce|invent|apply|execute|import|hardcode|hard-code|duplicate|migrate|restructure|reorgani[sz]e|over-?engineer|over-?complicate|over complicate|complicate|hallucinate`
export const DONE =
  'committed|pushed|merged|edited|modified|changed|touched|deleted|removed|renamed|rewritten|installed|upgraded|deployed|published|released|altered|overwritten|broken|skipped|disabled|hard-?coded|mocked|bypassed|refactored|reformatted'
export const DOING =
  'installing|changing|adding|touching|building|implementing|deploying|committing|pushing|editing|writing|rewriting|refactoring|merging|creating|modifying|deleting|removing|migrating|fixing|introducing|altering|renaming|breaking'
export const REPOSITORY =
  'commits?|committed|repos?|repository|branch|main|master|git|prs?|pull requests?|codebase'

/** Parts of a screen. A prohibition about them, other than of changing them, is a wish about the product. */
const SCREEN =
  'rows?|columns?|buttons?|pages?|screens?|widgets?|icons?|headers?|footers?|colou?rs?|fonts?|images?|modals?|dialogs?|popups?|popovers?|tooltips?|menus?|tabs?|labels?|hover|margins?|padding|height|width|users?|guests?|cursor|calendar|events?|logos?|borders?|cards?|backgrounds?|sidebar|navbar|sounds?|videos?|animations?|charts?'
/** Next to these words, a part of a screen is a piece of code. */
const CODE =
  'code|logic|api|components?|hooks?|files?|tests?|modules?|class|classes|imports?|inline|inside|folder|directory'

/** What programs do. "Do not return an error" is a wish about the product, */
const BEHAVES =
  'return|send|throw|convert|hide|redact|reload|refresh|retry|highlight|truncate|autoplay|animate|blink|flicker|count|limit|require|close|collapse|overlap|crop|sort|filter|select|notify|round|trim|strip|fade|zoom|shrink|center|align|disturb|navigate|accept|play|save|store|fetch|load|include that many|log (?:out|them|the users?)'
/** unless it is about the work: "do not return partial code", "do not close the issue yet". */
const ABOUT_WORK =
  'yet|until|unless|me|code|files?|context|tools?|prs?|issues?|tickets?|tasks?|repo|docs?|plan|summary|anything|everything|partial|snippets?|without|tests?|commits?|branch|root|folder|network|secrets?|keys?|git'
const BEHAVING =
  'wrapping|overlapping|truncating|flickering|blinking|showing|displaying|rendering|scrolling|loading|jumping'

/** A condition that only occurs in a running program. */
const AT_RUN_TIME =
  '(?:if|when|while|after|once|unless) (?:(?:i|you|we|they) (?:click|press|tap|type|scroll|drag|hover|select|submit|swipe|log)|(?:the |a |an |any |no )?(?:users?|guests?|customers?|visitors?|someone|items?|rows?|list|value|field) )'

const form = (source: string): RegExp => new RegExp(source)

/** Changing a part of a screen is work. Using or adding one is a wish about it, unless none is wanted at all. */
const CHANGES = WORK.replace('|create|add|', '|').replace('|use|', '|')
const NOT_WORK = `(?!(?:${CHANGES}|duplicate|import|hardcode|place|mix|make me) |(?:use|add|create|make) (?:\\S+ ){0,3}(?:new|any|more|other|existing|additional|extra|unnecessary) )`

/** What a program stores for its users. */
const KEPT =
  'users?|orders?|customers?|bookings?|products?|messages?|posts?|invoices?|payments?|records?|items?|entry|account|profile|subscription|notifications?|emails?'

/** What the product should not do, phrased as a command. */
export const ENGLISH_SCREEN = form(
  [
    `^ (?:do not|let us not|stop|quit|avoid|never) ${NOT_WORK}(?!(?:\\S+ ){0,20}(?:${CODE}) )(?:\\S+ ){1,20}(?:${SCREEN}) `,
    `^ (?:do not|let us not) (?:${BEHAVES}) (?!(?:\\S+ ){0,12}(?:${ABOUT_WORK}) )`,
    `^ (?:avoid|stop) (?:${BEHAVING}) `,
    `^ do not (?:delete|remove|create|change|update|add) (?:the|a|an) (?:${KEPT}) `,
    `^ (?:do not|never|avoid) (?:\\S+ ){1,15}${AT_RUN_TIME}`,
  ].join('|'),
)

/** A clause before a command that makes the command one about the product. */
export const ENGLISH_AT_RUN_TIME = form(`^ ${AT_RUN_TIME}`)
