// What `--help` says of each flag, and what a call looks like. Flags of a command that is not here are shown by its usage alone.

export interface CommandText {
  readonly flags: { readonly [flag: string]: string }
  /** Whole calls, with what they do. */
  readonly examples: readonly (readonly [call: string, what: string])[]
}

const JSON_FLAG = 'one JSON document on stdout'
const SESSION = 'ID: the session; its first 8 characters do. Default: the one used last in this folder'
const MODEL = 'ID: the model to ask, such as claude-opus-5-5, openai/NAME, ollama/NAME'
const BASE_URL = 'URL: where the model is asked'
const WINDOW = 'N: use only so many tokens of the window'
const SETTINGS = 'FILE: more settings, which win over the others'
const CWD = 'DIR: work in this folder'
const TRUST = 'use the settings that this folder brings, from now on'
const DEBUG = 'every decision as a line of JSON on stderr'

export const COMMAND_TEXTS: { readonly [command: string]: CommandText } = {
  '-p': {
    flags: {
      print: 'one turn, then print the answer and leave. Without it the interactive agent starts',
      'output-format': 'text (the answer), json (one object at the end), stream-json (one object a line)',
      model: MODEL,
      'base-url': BASE_URL,
      'max-turns': 'N: at most so many answers of the model in this turn',
      'permission-mode':
        'default (asks), accept-edits (changes files unasked), plan (reads only), bypass (asks nothing)',
      'allowed-tools': 'RULES that need no question, parted by commas: "Edit,Bash(npm test:*)"',
      'disallowed-tools': 'RULES that are refused',
      'dangerously-skip-permissions': 'the same as --permission-mode bypass',
      'add-dir': 'DIR: another folder it may read and change',
      continue: 'resume the session used last in this folder',
      resume: 'ID or FILE: resume this session; on a terminal without an id: pick one from a list',
      'session-id': 'UUID: the id of the new session',
      window: WINDOW,
      settings: SETTINGS,
      cwd: CWD,
      'max-cost': 'USD: send nothing once the session has cost so much; setting limits.dailyCostUsd: a day',
      trust: TRUST,
      'system-prompt': 'TEXT instead of our system prompt',
      'append-system-prompt': 'TEXT after our system prompt',
      debug: DEBUG,
      team: 'NAME: be one of this team: the run reads the mailbox of its place, and others can write to it',
      as: 'AGENT: who it is in the team; the one who leads is called leader',
      stay: 'with --team: wait for messages after the answer, until asked to shut down',
      plain: 'lines only, nothing that moves: for screen readers and dumb terminals',
      verbose: 'say on stderr which model is asked, and why',
    },
    examples: [
      ['palimpsest', 'the interactive agent in this folder'],
      ['palimpsest "Why does the test fail?"', 'the same, with a first question'],
      ['palimpsest -p "What does main.ts do?"', 'one answer, then back to the shell'],
      ['git diff | palimpsest -p "Review this"', 'what is piped in comes after the prompt'],
      ['palimpsest -c --max-cost 2', 'resume the last session, for at most 2 dollars in all'],
      [
        'palimpsest -p "Fix the lint errors" --allowed-tools "Edit,Bash(npm run lint)"',
        'may edit and lint unasked',
      ],
      ['palimpsest --model ollama/qwen3:8b', 'a model on this machine'],
    ],
  },
  demo: {
    flags: { fast: 'without pauses' },
    examples: [['palimpsest demo', 'a minute that shows all layers at work; needs no key']],
  },
  replay: {
    flags: {
      strategy: 'a,b or all: which strategies to compare',
      window: 'N,…: windows to replay in',
      model: 'ID: whose prices and window count',
      ablation: 'also without one part of the engine at a time',
      details: 'on a terminal: every column and interval, not the verdict alone',
      json: JSON_FLAG,
      html: 'FILE: the report as one page',
      views: 'FILE: what would be sent at each step (one strategy)',
    },
    examples: [
      ['palimpsest replay', 'your own sessions, from where the tools keep them'],
      [
        'palimpsest replay session.jsonl --strategy palimpsest,none',
        'one session, with and without management',
      ],
    ],
  },
  sim: {
    flags: {
      port: 'N: listen there. Default: any free port',
      script: 'FILE: answers to give, in order',
      clock: 'real, or virtual: time stands still until it is told to move',
    },
    examples: [['palimpsest sim --port 8080', 'then: ANTHROPIC_BASE_URL=http://127.0.0.1:8080 palimpsest']],
  },
  sessions: {
    flags: { json: JSON_FLAG },
    examples: [
      ['palimpsest sessions', 'what is stored'],
      ['palimpsest sessions rm 1a2b3c4d', 'delete one for good'],
    ],
  },
  context: {
    flags: { session: SESSION, json: JSON_FLAG },
    examples: [['palimpsest context', 'what fills the window, and what was removed']],
  },
  compact: {
    flags: {
      session: SESSION,
      from: 'UUID: summarise from this message on',
      'up-to': 'UUID: summarise what comes before this message',
      model: 'ID: the model that writes the summary',
      'base-url': BASE_URL,
      window: WINDOW,
      settings: SETTINGS,
      cwd: CWD,
      trust: TRUST,
      json: JSON_FLAG,
      debug: DEBUG,
    },
    examples: [['palimpsest compact keep the API decisions', 'with instructions for the summary']],
  },
  dream: {
    flags: {
      now: 'without asking whether it is due',
      'dry-run': 'show what would change, and change nothing',
      scope: 'project or user; default project',
      json: JSON_FLAG,
      model: MODEL,
      'base-url': BASE_URL,
      settings: SETTINGS,
      cwd: CWD,
      trust: TRUST,
      debug: DEBUG,
    },
    examples: [
      ['palimpsest dream --now --dry-run', 'what a consolidation would change'],
      ['palimpsest dream', 'consolidates memory where it is due'],
    ],
  },
  undo: {
    flags: { session: SESSION },
    examples: [['palimpsest undo 1a2b3c4d', 'an id from `palimpsest context`']],
  },
  pin: {
    flags: { session: SESSION, off: 'unpin it' },
    examples: [['palimpsest pin 1a2b3c4d', 'this message stays, whatever is compacted']],
  },
  restore: {
    flags: { session: SESSION },
    examples: [['palimpsest restore 1a2b3c4d', 'what was removed, again, at the end of the conversation']],
  },
  recall: {
    flags: {
      session: 'ID or FILE: this session only',
      all: 'every session of the project, which is the default',
      id: 'ID: what this message, result or removal says, whole',
      file: 'PATH: calls that name this file, and their results',
      since: 'DATE: not before',
      until: 'DATE: not after',
      limit: 'N: at most so many results',
      scan: 'read all files instead of the index: finds parts of words too',
      json: JSON_FLAG,
    },
    examples: [
      ['palimpsest recall retry delay', 'where that was said, word for word'],
      ['palimpsest recall --file src/main.ts --since 2026-01-01', 'what was done with a file'],
    ],
  },
  memory: {
    flags: {
      scope: 'project or user; with --agent also local. Default: all of them; add writes to the project',
      agent: 'what agents of this type remember, instead of the memories of conversations',
      type: 'user, feedback, project or reference: of what is added',
      json: JSON_FLAG,
    },
    examples: [
      ['palimpsest memory add "We deploy on Fridays"', 'for later conversations in this project'],
      ['palimpsest memory', 'what is known'],
      ['palimpsest memory undo', 'undo the newest change'],
    ],
  },
  team: {
    flags: {
      agents: 'N: so many teammates, 1 to 16; default 3',
      name: 'NAME of the team. Default: made of the goal',
      'no-worktrees': 'teammates work in this folder, not in git worktrees of their own',
      shutdown: 'NAME: end this team; worktrees that hold work are kept',
      resume: 'NAME: lead this team again, after its leader died',
      print: 'without the screen, to the end of the team; also where there is no terminal',
      'output-format': 'text (the report), json (one object at the end), stream-json (one object a line)',
      model: MODEL,
      'base-url': BASE_URL,
      'max-turns': 'N: at most so many answers of the model in a turn',
      'permission-mode':
        'default (asks), accept-edits (changes files unasked), plan (reads only), bypass (asks nothing): of everybody',
      'allowed-tools': 'RULES that need no question, for everybody: "Edit,Bash(npm test:*)"',
      'disallowed-tools': 'RULES that are refused, for everybody',
      'dangerously-skip-permissions': 'the same as --permission-mode bypass',
      'add-dir': 'DIR: another folder that everybody may read and change',
      window: WINDOW,
      settings: SETTINGS,
      cwd: CWD,
      'max-cost': 'USD: for the whole team; everybody has the same share',
      trust: TRUST,
      'system-prompt': 'TEXT instead of our system prompt',
      'append-system-prompt': 'TEXT after our system prompt',
      debug: DEBUG,
      team: 'NAME, with --as: a teammate of a team that was started; the leader starts them',
      as: 'AGENT: which teammate',
      plain: 'lines only, nothing that moves: for screen readers and dumb terminals',
      verbose: 'say on stderr which model is asked, and why',
    },
    examples: [
      [
        'palimpsest team "Fix the failing tests" --agents 3 --permission-mode accept-edits',
        'the leader here, three teammates in worktrees',
      ],
      ['palimpsest team --resume fix-the-failing-3f2a', 'the leader died: lead its team again'],
      ['palimpsest team --shutdown fix-the-failing-3f2a', 'everybody finishes and leaves'],
    ],
  },
  doctor: {
    flags: {
      json: JSON_FLAG,
      bundle: 'FILE: a report to pass on, without content or keys',
      'forget-limits': 'forget windows that refusals taught',
    },
    examples: [['palimpsest doctor', 'what is set up, what is wrong, how to fix it']],
  },
}
