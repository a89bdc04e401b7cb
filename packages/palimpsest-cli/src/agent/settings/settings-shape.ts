import { isAbsolute, resolve } from 'node:path'

import { DREAM_COST_USD_MAX, DREAM_HOURS, DREAM_REQUESTS_MAX, DREAM_SESSIONS } from 'palimpsest/dreaming'
import { MEMORY_MODE_DEFAULT, MEMORY_MODES } from 'palimpsest/memory'
import {
  AGENT_DEPTH_MAX,
  AGENT_ROUNDS_MAX,
  AGENT_TOKENS_MAX,
  AGENT_USD_MAX,
  AGENTS_AT_ONCE_MAX,
  TASK_LEASE_MINUTES,
} from 'palimpsest/agents'
import { parseModelName } from 'palimpsest/wire'

import { PERMISSION_MODES, findPermissionMode, type PermissionMode } from '../permissions/permission-mode.ts'
import { parseRule, type Rule, type RuleEffect } from '../permissions/rule.ts'
import { isRequired, SANDBOX_POLICIES, type SandboxPolicy, type WritingPolicy } from '../sandbox/sandbox.ts'
import { hostProblem } from '../sandbox/writing/allowed-host.ts'
import {
  boundForProjects,
  byDefault,
  choice,
  either,
  flag,
  mapped,
  number,
  planned,
  shown,
  single,
  text,
  type SettingsSource,
  type Shape,
} from './shape.ts'
import { anything, list, object, record } from './shape-groups.ts'
import { urlProblem } from './url-problem.ts'

// Every setting, each described once. Reading a file, adding it to another, the schema, the table in docs/settings.md and what doctor shows
// all follow from here.

const rules = (effect: RuleEffect, description: string) => list(description, rule(effect))

function rule(effect: RuleEffect): Shape<Rule> {
  return single({ type: 'string' }, (node, name, { complain }) => {
    const parsed =
      node.kind === 'string'
        ? parseRule(node.value, effect)
        : { ok: false as const, message: 'must be a string' }
    if (parsed.ok) return parsed.rule
    complain({ at: node.at, severity: 'error', message: `"${name}": ${parsed.message}` })
    return undefined
  })
}

const MODE_SCHEMA = {
  type: 'string',
  enum: [...PERMISSION_MODES, 'acceptEdits', 'bypassPermissions'],
  description: 'What may happen unasked',
}

const MODE: Shape<PermissionMode> = single(MODE_SCHEMA, (node, name, { complain }) => {
  const mode = node.kind === 'string' ? findPermissionMode(node.value) : undefined
  const message = `"${name}" must be one of ${PERMISSION_MODES.join(', ')}`
  if (mode === undefined) complain({ at: node.at, severity: 'error', message })
  return mode
})

/** A model's id without the suffix that asks for the extended window. */
const summaryModel = (description: string): Shape<string> =>
  mapped(shown(text(description)), (value) => parseModelName(value).id)

const folder = (description: string): Shape<string> =>
  mapped(text(description), (value, { base }) => (isAbsolute(value) ? value : resolve(base, value)))

export interface SetUrl {
  readonly url: string
  readonly from: SettingsSource
}

const TOKENS_MIN = 1000
/** 0.6 seconds: a shorter lease ends before it can be renewed. */
const LEASE_MINUTES_MIN = 0.01

const SANDBOX_WORD = choice(
  'Where commands run that nobody is asked about: "auto", in a sandbox where it works, else only what is proven to read; "required", no command without it; "off", never in it. A project cannot weaken it. Default: auto',
  SANDBOX_POLICIES,
)
const SANDBOX_SWITCH: Shape<SandboxPolicy> = mapped(
  flag(
    'true: commands that write run unasked too, in a sandbox that writes in the working folders only and reaches nobody; false is "off"',
  ),
  (isOn) => (isOn ? { writes: true, network: [], required: false } : 'off'),
)
const SANDBOX_MEMBERS = object(
  'an object: as true; `network` is a list of hosts that it reaches ("packages.example.com", "*.github.com"), `required: true` lets no command run without it',
  {
    network: list('Hosts that are reached from the sandbox', text('A host', hostProblem)),
    required: flag('No command runs without it'),
  },
)
const SANDBOX_GROUP: Shape<SandboxPolicy> = single(SANDBOX_MEMBERS.schema, (node, name, reading) => {
  const found = SANDBOX_MEMBERS.read(node, name, reading)
  if (found === undefined) return undefined
  const policy: WritingPolicy = {
    writes: true,
    network: found.network ?? [],
    required: found.required ?? false,
  }
  return policy
})

/** What a project asks for is added to what the user set. */
const SANDBOX: Shape<SandboxPolicy, SandboxPolicy> = {
  ...single<SandboxPolicy>(
    { anyOf: [SANDBOX_WORD.schema, SANDBOX_SWITCH.schema, SANDBOX_GROUP.schema] },
    (node, name, reading) => {
      const shape =
        node.kind === 'boolean' ? SANDBOX_SWITCH : node.kind === 'object' ? SANDBOX_GROUP : SANDBOX_WORD
      return shape.read(node, name, reading)
    },
  ),
  outline: (node) => (node.kind === 'object' ? SANDBOX_MEMBERS : SANDBOX_WORD).outline(node),
  none: 'auto',
  add: (before, more) =>
    typeof before === 'object' && more === 'required' ? { ...before, required: true } : more,
}

/** A number that a project can only lower. */
const atMost = (description: string, usual: number, min: number) =>
  boundForProjects(byDefault(number(description, min), usual), {
    isAllowed: (value) => value <= usual,
    allowed: `at most ${usual}`,
    told: `can be at most ${usual} in a project. Set it in your own settings`,
  })

export const SETTINGS_SHAPE = object('Settings of Palimpsest', {
  $schema: text('Address of this schema, for editors'),
  model: shown(text('The model to use')),
  baseUrl: mapped(
    text('Where the Messages API is. Keys are never sent to an address that a project chose', urlProblem),
    (url, { source }): SetUrl => ({ url, from: source }),
  ),
  permissions: object('What the agent may do', {
    allow: rules('allow', 'Calls that need no question: Tool or Tool(pattern)'),
    ask: rules('ask', 'Calls that are always asked about'),
    deny: rules('deny', 'Calls that are always refused'),
    additionalDirectories: list(
      'Folders beside the working folder that count as part of it',
      folder('A folder'),
    ),
    defaultMode: boundForProjects(MODE, {
      isAllowed: (mode) => mode !== 'bypass',
      allowed: 'all but `bypass`',
      told: 'cannot be "bypass" in a project. Use --permission-mode bypass, or your own settings',
    }),
  }),
  sandbox: boundForProjects(SANDBOX, {
    isAllowed: (policy) => typeof policy === 'string' && isRequired(policy),
    allowed: '`required`',
    told: 'can only be "required" in a project. Set it in your own settings',
  }),
  env: record('Environment variables for commands that the agent runs', text('The value')),
  hooks: record('Programs that run at certain moments', anything('Groups of hooks for one event')),
  disableAllHooks: byDefault(flag('Run none of the hooks, wherever they are set'), false),
  mcpServers: planned('MCP servers by name'),
  memory: object('Long-term memory', {
    mode: boundForProjects(
      byDefault(
        choice(
          'What may happen unasked: "read-write", memories are loaded and written; "ask", nothing is written before you approve it; "read-only", only your own commands write; "off", nothing is loaded either. A project can only take away',
          MEMORY_MODES,
        ),
        MEMORY_MODE_DEFAULT,
      ),
      {
        isAllowed: (mode) => mode === 'read-only' || mode === 'off',
        allowed: '`read-only` and `off`',
        told: 'can only be "read-only" or "off" in a project. Set it in your own settings',
      },
    ),
    extract: flag(
      'When a turn has ended, the model saves what will still matter later, beside the conversation. Default: true',
    ),
    claudeCode: boundForProjects(
      byDefault(
        flag(
          'Conversations also begin with the memories that Claude Code keeps of the same project. They are read where they are, and never written',
        ),
        false,
      ),
      {
        isAllowed: (isOn) => !isOn,
        allowed: '`false`',
        told: 'can only be false in a project. Set it in your own settings',
      },
    ),
  }),
  dream: object('Consolidation of memories between sessions', {
    enabled: boundForProjects(byDefault(flag('Consolidate memories by itself'), true), {
      isAllowed: (isOn) => !isOn,
      allowed: '`false`',
      told: 'can only be false in a project. Set it in your own settings',
    }),
    hours: byDefault(number('Hours since the last consolidation before the next', 1), DREAM_HOURS),
    sessions: byDefault(
      number('Other sessions of the project that were used since, before the next', 1),
      DREAM_SESSIONS,
    ),
    detached: boundForProjects(
      byDefault(
        flag('Consolidate in a process of its own, which continues when the agent ends; `-p` starts one too'),
        false,
      ),
      {
        isAllowed: (isOn) => !isOn,
        allowed: '`false`',
        told: 'can only be false in a project. Set it in your own settings',
      },
    ),
    maxRequests: boundForProjects(byDefault(number('Requests of one consolidation', 1), DREAM_REQUESTS_MAX), {
      isAllowed: (count) => count <= DREAM_REQUESTS_MAX,
      allowed: `at most ${DREAM_REQUESTS_MAX}`,
      told: `can be at most ${DREAM_REQUESTS_MAX} in a project. Set it in your own settings`,
    }),
    maxCostUsd: boundForProjects(
      byDefault(number('Dollars that one consolidation may cost', 0), DREAM_COST_USD_MAX),
      {
        isAllowed: (usd) => usd <= DREAM_COST_USD_MAX,
        allowed: `at most ${DREAM_COST_USD_MAX}`,
        told: `can be at most ${DREAM_COST_USD_MAX} in a project. Set it in your own settings`,
      },
    ),
  }),
  agents: object('Agents that the model starts', {
    maxAtOnce: atMost('Agents of one session that work at once', AGENTS_AT_ONCE_MAX, 1),
    maxDepth: atMost('Agents of agents: how deep', AGENT_DEPTH_MAX, 1),
    maxTurns: atMost('Requests of one agent', AGENT_ROUNDS_MAX, 1),
    maxTokens: atMost(
      'Tokens of one agent that the cache did not serve, with those of its answers',
      AGENT_TOKENS_MAX,
      TOKENS_MIN,
    ),
    maxCostUsd: atMost('Dollars that one agent may cost', AGENT_USD_MAX, 0),
    summary: boundForProjects(
      byDefault(
        choice(
          'Who says in a few words what an agent is at: "computed", from its last calls; "model", a model every 30 seconds while something changed, as cheaply as it can be had',
          ['computed', 'model'],
        ),
        'computed',
      ),
      {
        isAllowed: (who) => who === 'computed',
        allowed: '`computed`',
        told: 'can only be "computed" in a project. Set it in your own settings',
      },
    ),
  }),
  team: object('Teams', {
    taskLeaseMinutes: byDefault(
      number(
        'Minutes after which the task of a teammate that is not heard of is free again, 1440 at most',
        LEASE_MINUTES_MIN,
      ),
      TASK_LEASE_MINUTES,
    ),
  }),
  limits: object('What may be spent', {
    dailyCostUsd: boundForProjects(
      number(
        'Dollars that all sessions of a day may cost together, of every project of this home; 0 lets nothing be spent. Not from a project',
        0,
      ),
      {
        isAllowed: () => false,
        allowed: 'no',
        told: 'cannot be set in a project: the day belongs to all of them. Set it in your own settings',
      },
    ),
  }),
  autoCompactEnabled: flag('Compact the conversation by itself. Default: true'),
  compaction: object('How the conversation is compacted', {
    model: summaryModel(
      'The model that writes summaries. Default: the one that answers; another one reads nothing from the cache',
    ),
    keep: byDefault(
      choice('How much stays as it was: lean is cheaper, rich forgets less', ['lean', 'rich']),
      'lean',
    ),
    confirm: flag(
      'Ask before a compaction that nobody asked for. Declined, it waits until there is no room left. Default: false; without a terminal nobody is asked',
    ),
  }),
  cache: object('How long the provider keeps what was sent', {
    lifetime: byDefault(
      choice(
        'Five minutes, or an hour at a higher price; auto buys the hour where the pauses of the conversation make it worth it',
        ['auto', '5m', '1h'],
      ),
      'auto',
    ),
  }),
  clearing: object('Old tool results after a pause in which the cache expired', {
    gapMinutes: number('A shorter pause clears nothing. Default: what was bought, 5 or 60 minutes', 1),
    keepResults: mapped(
      number(
        'How many of the newest results stay. Default: 15 after a pause of less than an hour, 5 after a longer one',
        1,
      ),
      Math.floor,
    ),
  }),
  workingWindow: either(
    number('Tokens of the window that are used. Default: 200000', TOKENS_MIN),
    choice('The whole window of the model', ['full']),
  ),
  sessionMemory: choice(
    'How notes of the conversation are kept: computed, and sparingly by a model; eagerly by a model; not. Default: computed',
    ['computed', 'eager', 'off'],
  ),
  flagsUrl: boundForProjects(
    text('Where feature flags are served, in the format of GrowthBook. Not from a project', urlProblem),
    {
      isAllowed: () => false,
      allowed: 'no',
      told: 'cannot be set in a project. Use PALIMPSEST_FLAGS_URL, or your own settings',
    },
  ),
  maxCostUsd: number('Dollars that one session may cost', 0),
  answers: object('How long an answer of the model is waited for', {
    silentSeconds: number('Seconds without a byte. Default, and at most: 300', 1),
    stuckSeconds: number('Seconds in which the provider only keeps the connection alive. Default: 600', 1),
    wholeSeconds: number('Seconds for a whole answer. Default: 3600', 1),
  }),
})

/** What one file sets. */
export type SettingsFile = NonNullable<ReturnType<typeof SETTINGS_SHAPE.read>>

/** What applies once all files are read. */
export type Settings = typeof SETTINGS_SHAPE.none

export function rulesOf({ permissions }: Pick<Settings, 'permissions'>): readonly Rule[] {
  return [...permissions.allow, ...permissions.ask, ...permissions.deny]
}
