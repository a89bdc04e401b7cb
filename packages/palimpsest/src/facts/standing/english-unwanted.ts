import { DOING } from './english-work.ts'
import { NO_COMMAND } from './english-duties.ts'
import type { Form } from './language.ts'

// Something that must not exist, and what a task must be done without: "no new dependencies", "I don't want a markdown file", "explain it
// without changing any code".

/** What agents bring in and users do not want. It does not include what a screen may lack ("no border"). */
const THING =
  'code|coding|edits|modifications|commits?|pushes|pushing|emojis?|comments|mocks?|mocking|stubs?|hacks?|work-?arounds?|shortcuts?|placeholders?|guess(?:ing|es|work)|assumptions|speculation|hallucinations?|dependencies|crutch(?:es)?|fallbacks?|band-?aids?|quick fixes|monkey-?patch(?:es|ing)|over-?engineering|scope creep|refactors?|refactoring|rewrites?|sql|scripts?|queries|librar(?:y|ies)|frameworks?|any|fluff|filler|bullshit|excuses|yapping|preamble|md files?|markdown files?|em-?dashes|todos|console\\.logs?|magic numbers|inline styles?|side effects|(?:code|dependency|schema|api|breaking|logic|design|database|config) changes|force pushes'
/** Things of this sort are never wanted. */
const SORT =
  'hard-?coded|hard-?coding|inline|dead|repeated|fake|mock(?:ed)?|dummy|made-up|simulated|temporary|hacky|untyped|partial|duplicated?(?= (?:code|logic|functions?|files?|types?))'

const ARTEFACT =
  'changes|edits|modifications|features|md|markdown|files?|docs?|documentation|documents?|scripts?|code|librar(?:y|ies)|dependenc(?:y|ies)|frameworks?|packages?|tables?|mocks?|stubs?|hacks?|work-?arounds?|fallbacks?|placeholders?|boilerplate|abstractions?|wrappers?|comments|refactoring|refactor|migrations?|branch(?:es)?|commits?|prs?|emojis?|shortcuts?|readmes?'

const form = (source: string): RegExp => new RegExp(source)

export const ENGLISH_UNWANTED: readonly Form[] = [
  // What is missing or wrong is a report: "no response yet".
  {
    kind: 'prohibition',
    verbless: true,
    is: form(
      `^ no (?:(?:new|other|extra|additional|further|external|more|un\\S+(?:ed|ary)|${SORT}) (?:\\S+ ){1,5}|(?:\\S+ ){1,4}(?:yet|please|allowed|whatsoever|for now|ever) |(?:\\S+ ){0,2}(?:${THING}) (?:\\S+ |(?:in|inside|outside|besides|except) (?:\\S+ ){1,6})?)$`,
    ),
    isNot:
      /^ no (?:existing|previous|such) |^ no (?:more |new |other |further )?(?:errors?|issues?|problems?|failures?|warnings?|questions?|luck|results?|response|answer|reply|output|idea|way|one|need|changes|longer|matter|wonder|thanks|selection|special|print|restriction|console errors|type errors) | (?:is|are|was|were|has|have|had|found|left|exists?|shows?|appears?|came|comes|shown|needed|required|necessary|added|configured|detected|available) /,
  },
  {
    kind: 'prohibition',
    is: form(
      `^ (?:i|we) do not want (?:to have )?(?:(?:a|an|any|more|extra|duplicated?|unnecessary) (?:(?!to |the )\\S+ ){0,4})?(?:${ARTEFACT}) (?:$|(?:to|for|in|as|with|that|and|or|here|yet|now|at|right|everywhere|anywhere) )`,
    ),
  },
  {
    kind: 'prohibition',
    verbless: true,
    is: /^ no (?:other )?(?:changes|edits|modifications) (?:to|outside|beyond|besides|except|allowed|whatsoever) /,
    isNot: / (?:is|are|was|were|has|have|visible|detected|made|found) /,
  },
  // What a task must be done without: "without making any changes, tell me why it fails".
  {
    kind: 'prohibition',
    is: form(
      `^ without (?:${DOING}|making|running|doing) (?:any|anything|code|files?|the|my|our|existing|other) `,
    ),
    needs: [
      /\| (?:please|pls|tell|explain|give|show|report|analy[sz]e|describe|review|suggest|propose|list|find|check|look|can you|could you|let me know|walk|summari[sz]e|fix|make|update|add|write|create|implement|refactor) /,
    ],
  },
  {
    kind: 'prohibition',
    is: form(
      ` without (?:${DOING}|making) (?:any |anything |a single |code |files |existing |other |(?:the|my|our) (?:existing|current|rest|code|api|logic|tests|design|functionality) )`,
    ),
    isNot: NO_COMMAND,
    command: true,
  },
]
