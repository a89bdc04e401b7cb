// What `--help` says about each flag, and example calls.

/** What the flag does; if it takes a value, the name of the value comes first. */
export type FlagText = string | readonly [value: string, does: string]

export interface CommandText {
  readonly flags: { readonly [flag: string]: FlagText }
  /** What the first word after the command may be. */
  readonly actions?: readonly (readonly [call: string, does: string])[]
  /** Complete calls, with what they do. */
  readonly examples: readonly (readonly [call: string, does: string])[]
}

const JSON_FLAG = 'print one JSON document'
const SESSION = [
  'ID',
  'the session, by the first 8 characters of its id; default: the one used last in this folder',
] as const
const MODEL = ['NAME', 'use this model, such as claude-opus-5-5, openai/NAME or ollama/NAME'] as const
const BASE_URL = ['URL', 'the address of the model'] as const
const WINDOW = ['N', 'use at most N tokens of the context window'] as const
const SETTINGS = ['FILE', 'use these settings too; they override all others'] as const
const CWD = ['DIR', 'work in this folder'] as const
const TRUST = 'trust this folder, and use the settings it brings'
const DEBUG = 'print every decision to stderr as lines of JSON'
const MODES = 'default: ask; accept-edits: change files without asking; plan: only read; bypass: ask nothing'
const FORMATS = 'text: the answer; json: one object at the end; stream-json: one object per line'
const PLAIN = 'print plain lines, for screen readers and simple terminals'
const VERBOSE = 'print to stderr which model is used, and why'
const SKIP = 'the same as --permission-mode bypass'

export const COMMAND_TEXTS: { readonly [command: string]: CommandText } = {
  '-p': {
    flags: {
      print: 'print one answer and exit, instead of starting the interactive agent',
      'output-format': ['FORMAT', FORMATS],
      model: MODEL,
      'base-url': BASE_URL,
      'max-turns': ['N', 'let the model answer at most N times in this turn'],
      'permission-mode': ['MODE', MODES],
      'allowed-tools': ['RULES', 'allow these without asking, such as "Edit,Bash(npm test:*)"'],
      'disallowed-tools': ['RULES', 'never allow these'],
      'dangerously-skip-permissions': SKIP,
      'add-dir': ['DIR', 'another folder that the agent may read and change'],
      continue: 'resume the session used last in this folder',
      resume: ['[ID|FILE]', 'resume this session; on a terminal, without an ID: pick one from a list'],
      'session-id': ['ID', 'give the new session this id'],
      window: WINDOW,
      settings: SETTINGS,
      cwd: CWD,
      'max-cost': [
        'USD',
        'stop before the session costs more than this; to limit a whole day, use /cost day 5 or the setting limits.dailyCostUsd',
      ],
      trust: TRUST,
      'system-prompt': ['TEXT', 'use TEXT instead of the built-in system prompt'],
      'append-system-prompt': ['TEXT', 'add TEXT to the built-in system prompt'],
      debug: DEBUG,
      team: ['NAME', 'join this team, with the name from --as'],
      as: ['AGENT', 'with --team: the name to use; the leader is called leader'],
      stay: 'with --team: after the answer, wait for messages until told to shut down',
      plain: PLAIN,
      verbose: VERBOSE,
    },
    examples: [
      ['palimpsest', 'start the interactive agent in this folder'],
      ['palimpsest "Why does the test fail?"', 'start it with a first question'],
      ['palimpsest -p "What does main.ts do?"', 'print one answer and exit'],
      ['git diff | palimpsest -p "Review this"', 'add the piped text after the prompt'],
      ['palimpsest -c --max-cost 2', 'resume the last session, and stop before it costs more than 2 dollars'],
      [
        'palimpsest -p "Fix the lint errors" --allowed-tools "Edit,Bash(npm run lint)"',
        'let it edit files and run the linter without asking',
      ],
      ['palimpsest --model ollama/qwen3:8b', 'use a model on this machine'],
    ],
  },
  demo: {
    flags: { fast: 'do not pause' },
    examples: [['palimpsest demo', 'play it in about a minute, without a key']],
  },
  replay: {
    flags: {
      strategy: ['NAMES', 'compare these strategies, separated by commas; default: all'],
      window: ['N,…', 'replay in windows of these sizes, in tokens; default: 200000'],
      model: ['ID', 'use the prices and the window of this model'],
      ablation: 'also run with each part of the engine switched off in turn',
      details: 'print every column in the terminal, not only the verdict',
      json: JSON_FLAG,
      html: ['FILE', 'write the report to FILE as one web page'],
      views: ['FILE', 'write to FILE what one strategy would send at each step'],
    },
    examples: [
      ['palimpsest replay', 'replay your own sessions from the folders of your tools'],
      [
        'palimpsest replay session.jsonl --strategy palimpsest,none',
        'replay one session, with and without context management',
      ],
    ],
  },
  sim: {
    flags: {
      port: ['N', 'listen on this port; default: any free port'],
      script: ['FILE', 'give the answers in this JSON file, in order'],
      clock: ['real|virtual', 'virtual: time stands still until you advance it'],
    },
    examples: [['palimpsest sim --port 8080', 'then: ANTHROPIC_BASE_URL=http://127.0.0.1:8080 palimpsest']],
  },
  sessions: {
    flags: { json: JSON_FLAG },
    actions: [['rm ID…', 'delete these sessions permanently']],
    examples: [
      ['palimpsest sessions', 'list all sessions'],
      ['palimpsest sessions rm 1a2b3c4d', 'delete one permanently'],
    ],
  },
  context: {
    flags: { session: SESSION, json: JSON_FLAG },
    examples: [['palimpsest context', 'show what fills the window and what was removed']],
  },
  compact: {
    flags: {
      session: SESSION,
      from: ['UUID', 'summarise from this message on'],
      'up-to': ['UUID', 'summarise everything before this message'],
      model: ['NAME', 'let this model write the summary'],
      'base-url': BASE_URL,
      window: WINDOW,
      settings: SETTINGS,
      cwd: CWD,
      trust: TRUST,
      json: JSON_FLAG,
      debug: DEBUG,
    },
    examples: [['palimpsest compact keep the API decisions', 'tell the summary what to keep']],
  },
  dream: {
    flags: {
      now: 'run now, even if it is not due',
      'dry-run': 'show what would change, and change nothing',
      scope: ['SCOPE', 'project or user; default: project'],
      json: JSON_FLAG,
      model: MODEL,
      'base-url': BASE_URL,
      settings: SETTINGS,
      cwd: CWD,
      trust: TRUST,
      debug: DEBUG,
    },
    examples: [
      ['palimpsest dream --now --dry-run', 'show what it would change, and change nothing'],
      ['palimpsest dream', 'consolidate memories if it is due'],
    ],
  },
  undo: {
    flags: { session: SESSION },
    examples: [
      ['palimpsest undo 1a2b3c4d', 'undo the removal with this id; `palimpsest context` lists the ids'],
    ],
  },
  pin: {
    flags: { session: SESSION, off: 'unpin it' },
    examples: [
      ['palimpsest pin 1a2b3c4d', 'keep this message in view'],
      ['palimpsest pin 1a2b3c4d --off', 'unpin it'],
    ],
  },
  restore: {
    flags: { session: SESSION },
    examples: [
      ['palimpsest restore 1a2b3c4d', 'add what was removed to the end of the conversation, word for word'],
    ],
  },
  recall: {
    flags: {
      session: ['ID|FILE', 'search only this session'],
      all: 'search every session of the project; this is the default',
      id: ['ID', 'print this message, result or removal in full'],
      file: ['PATH', 'find calls that name this file, and their results'],
      since: ['DATE', 'find nothing before this date'],
      until: ['DATE', 'find nothing after this date'],
      limit: ['N', 'print at most N results; default: 20'],
      scan: 'read all files instead of the index; this also finds parts of words',
      json: JSON_FLAG,
    },
    examples: [
      ['palimpsest recall retry delay', 'quote the lines about it, word for word'],
      ['palimpsest recall --file src/main.ts --since 2026-01-01', 'find what happened to a file'],
    ],
  },
  memory: {
    flags: {
      scope: ['SCOPE', 'project, user or, with --agent, local; default: all; for add and import: project'],
      agent: ['TYPE', 'use the memories of this agent type'],
      type: ['TYPE', 'with add: user, feedback, project or reference'],
      json: JSON_FLAG,
    },
    actions: [
      ['list', 'list all memories; this is the default'],
      ['show NAME', 'print one memory'],
      ['add TEXT', 'add a memory'],
      ['rm NAME', 'remove a memory; undo restores it'],
      ['log', 'list all changes, newest first'],
      ['diff ID', 'print what a change did'],
      ['undo [ID]', 'undo a change; default: the newest'],
      ['check', 'report duplicates, contradictions and paths that are gone'],
      ['pending', 'list proposals that need your approval'],
      ['approve ID…', 'accept proposals'],
      ['refuse ID…', 'reject proposals'],
      ['import [FOLDER]', 'copy the memories of another agent'],
    ],
    examples: [
      [
        'palimpsest memory add "We deploy on Fridays"',
        'remember this in later conversations of this project',
      ],
      ['palimpsest memory', 'list all memories'],
      ['palimpsest memory undo', 'undo the newest change'],
    ],
  },
  agents: {
    flags: { json: JSON_FLAG },
    examples: [['palimpsest agents', 'list the built-in types and your own']],
  },
  team: {
    flags: {
      agents: ['N', 'start N teammates, 1 to 16; default: 3'],
      name: ['NAME', 'name the team; default: a name made from the goal'],
      'no-worktrees': 'let teammates work in this folder instead of git worktrees',
      shutdown: ['NAME', 'end this team, but keep worktrees that hold work'],
      clean: 'delete what ended teams left, except unread messages and unmerged work',
      resume: ['NAME', 'lead this team again after its leader died'],
      print: 'run without a screen until the team ends, as it does without a terminal',
      'output-format': ['FORMAT', FORMATS],
      model: MODEL,
      'base-url': BASE_URL,
      'max-turns': ['N', 'let the model answer at most N times in a turn'],
      'permission-mode': ['MODE', MODES],
      'allowed-tools': ['RULES', 'let everybody do these without asking, such as "Edit,Bash(npm test:*)"'],
      'disallowed-tools': ['RULES', 'never let anybody do these'],
      'dangerously-skip-permissions': SKIP,
      'add-dir': ['DIR', 'another folder that everybody may read and change'],
      window: WINDOW,
      settings: SETTINGS,
      cwd: CWD,
      'max-cost': ['USD', 'spend at most this on the whole team, split evenly'],
      trust: TRUST,
      'system-prompt': ['TEXT', 'use TEXT instead of the built-in system prompt'],
      'append-system-prompt': ['TEXT', 'add TEXT to the built-in system prompt'],
      debug: DEBUG,
      team: ['NAME', 'with --as: be a teammate of this team; leaders start teammates this way'],
      as: ['AGENT', 'with --team: the name of the teammate to be'],
      plain: PLAIN,
      verbose: VERBOSE,
    },
    examples: [
      [
        'palimpsest team "Fix the failing tests" -n 3 --permission-mode accept-edits',
        'lead three teammates, each in its own git worktree',
      ],
      ['palimpsest team --resume fix-the-failing-3f2a', 'lead a team again after its leader died'],
      ['palimpsest team --shutdown fix-the-failing-3f2a', 'tell everybody to finish and leave'],
    ],
  },
  purge: {
    flags: {},
    examples: [
      ['palimpsest purge -', 'read the secret from stdin, to keep it out of your shell history'],
      ['palimpsest purge "sk-live-1234"', 'remove this text from everything stored'],
    ],
  },
  doctor: {
    flags: {
      json: JSON_FLAG,
      bundle: ['FILE', 'write a report you can share; it holds no content and no keys'],
      'forget-limits': 'forget the window sizes learned from refused requests',
    },
    examples: [['palimpsest doctor', 'check the setup, and show how to fix what is wrong']],
  },
}
