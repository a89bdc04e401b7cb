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
  description: 'What the agent may do without asking',
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
  'How commands run without asking: "auto", in the sandbox if it works here, otherwise only commands that are proven to only read; "required", no command runs without the sandbox; "off", never use the sandbox. A project cannot weaken it. Default: auto',
  SANDBOX_POLICIES,
)
const SANDBOX_SWITCH: Shape<SandboxPolicy> = mapped(
  flag(
    'true: commands that write also run without asking, in a sandbox that can write only in the working folders and has no network; false is "off"',
  ),
  (isOn) => (isOn ? { writes: true, network: [], required: false } : 'off'),
)
const SANDBOX_MEMBERS = object(
  'an object: the same as true; `network` lists the hosts that it may reach ("packages.example.com", "*.github.com"), `required: true` lets no command run without it',
  {
    network: list('Hosts that commands in the sandbox may reach', text('A host', hostProblem)),
    required: flag('Run no command without the sandbox'),
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
    text('Address of the Messages API. Keys are never sent to an address that a project chose', urlProblem),
    (url, { source }): SetUrl => ({ url, from: source }),
  ),
  permissions: object('What the agent may do', {
    allow: rules('allow', 'Calls to allow without asking: Tool or Tool(pattern)'),
    ask: rules('ask', 'Calls to always ask about'),
    deny: rules('deny', 'Calls to always refuse'),
    additionalDirectories: list('More folders to treat as part of the working folder', folder('A folder')),
    defaultMode: boundForProjects(MODE, {
      isAllowed: (mode) => mode !== 'bypass',
      allowed: 'all except `bypass`',
      told: 'cannot be "bypass" in a project. Use --permission-mode bypass, or your own settings',
    }),
  }),
  sandbox: boundForProjects(SANDBOX, {
    isAllowed: (policy) => typeof policy === 'string' && isRequired(policy),
    allowed: '`required`',
    told: 'can only be "required" in a project. Set it in your own settings',
  }),
  env: record('Environment variables for commands that the agent runs', text('The value')),
  hooks: record('Programs to run on certain events', anything('Groups of hooks for one event')),
  disableAllHooks: byDefault(flag('Run none of the hooks, wherever they are set'), false),
  mcpServers: planned('MCP servers by name'),
  memory: object('Long-term memory', {
    mode: boundForProjects(
      byDefault(
        choice(
          'What memory does: "read-write" loads and writes memories; "ask" writes nothing before you approve it; "read-only" lets only your own commands write; "off" loads nothing either. A project can only restrict it',
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
      'After each turn, the model saves in the background what will still matter later. Default: true',
    ),
    claudeCode: boundForProjects(
      byDefault(
        flag(
          'Conversations also start with the memories that Claude Code keeps of the same project. Palimpsest reads them in place and never writes them',
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
    enabled: boundForProjects(byDefault(flag('Consolidate memories automatically'), true), {
      isAllowed: (isOn) => !isOn,
      allowed: '`false`',
      told: 'can only be false in a project. Set it in your own settings',
    }),
    hours: byDefault(number('Hours to wait after a consolidation before the next', 1), DREAM_HOURS),
    sessions: byDefault(
      number('How many other sessions of the project must be used after a consolidation before the next', 1),
      DREAM_SESSIONS,
    ),
    detached: boundForProjects(
      byDefault(
        flag('Consolidate in a separate process, which continues when the agent exits; `-p` starts one too'),
        false,
      ),
      {
        isAllowed: (isOn) => !isOn,
        allowed: '`false`',
        told: 'can only be false in a project. Set it in your own settings',
      },
    ),
    maxRequests: boundForProjects(
      byDefault(number('Requests that one consolidation may make', 1), DREAM_REQUESTS_MAX),
      {
        isAllowed: (count) => count <= DREAM_REQUESTS_MAX,
        allowed: `at most ${DREAM_REQUESTS_MAX}`,
        told: `can be at most ${DREAM_REQUESTS_MAX} in a project. Set it in your own settings`,
      },
    ),
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
    maxAtOnce: atMost('Agents of one session that may work at the same time', AGENTS_AT_ONCE_MAX, 1),
    maxDepth: atMost('How deep agents may be nested', AGENT_DEPTH_MAX, 1),
    maxTurns: atMost('Requests that one agent may make', AGENT_ROUNDS_MAX, 1),
    maxTokens: atMost(
      'Tokens that one agent may use: those that the cache did not serve, and those of its answers',
      AGENT_TOKENS_MAX,
      TOKENS_MIN,
    ),
    maxCostUsd: atMost('Dollars that one agent may cost', AGENT_USD_MAX, 0),
    summary: boundForProjects(
      byDefault(
        choice(
          'How to say in a few words what an agent is doing: "computed", from its last calls; "model", by asking a model every 30 seconds while something changes, as cheaply as possible',
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
        'Minutes until the task of a teammate that has gone silent is free again, at most 1440',
        LEASE_MINUTES_MIN,
      ),
      TASK_LEASE_MINUTES,
    ),
  }),
  limits: object('Spending limits', {
    dailyCostUsd: boundForProjects(
      number(
        'Dollars that all sessions of all projects may cost together in a day; 0 allows no spending. Cannot be set in a project',
        0,
      ),
      {
        isAllowed: () => false,
        allowed: 'no',
        told: 'cannot be set in a project, because it applies to all projects. Set it in your own settings',
      },
    ),
  }),
  autoCompactEnabled: flag('Compact the conversation automatically. Default: true'),
  compaction: object('How the conversation is compacted', {
    model: summaryModel(
      'The model that writes summaries. Default: the one that answers; another one reads nothing from the cache',
    ),
    keep: byDefault(
      choice('How much stays as it was: lean is cheaper, rich forgets less', ['lean', 'rich']),
      'lean',
    ),
    confirm: flag(
      'Ask before an automatic compaction. If you decline, it waits until there is no room left. Default: false; without a terminal it does not ask',
    ),
  }),
  cache: object('How long the provider keeps what was sent', {
    lifetime: byDefault(
      choice(
        'Five minutes, or an hour at a higher price; auto buys the hour if the pauses in the conversation make it worth the price',
        ['auto', '5m', '1h'],
      ),
      'auto',
    ),
  }),
  clearing: object('Clearing old tool results after a pause in which the cache expired', {
    gapMinutes: number(
      'Minutes; a shorter pause clears nothing. Default: the lifetime that was bought, 5 or 60 minutes',
      1,
    ),
    keepResults: mapped(
      number(
        'How many of the newest results stay. Default: 15 after a pause of less than an hour, 5 after a longer one',
        1,
      ),
      Math.floor,
    ),
  }),
  workingWindow: either(
    number('How many tokens of the window to use. Default: 200000', TOKENS_MIN),
    choice('"full": the whole window of the model', ['full']),
  ),
  sessionMemory: choice(
    'How to keep notes of the conversation: "computed", without a model, and sparingly with one; "eager", often with a model; "off", no notes. Default: computed',
    ['computed', 'eager', 'off'],
  ),
  flagsUrl: boundForProjects(
    text(
      'Address that serves feature flags in the GrowthBook format. Cannot be set in a project',
      urlProblem,
    ),
    {
      isAllowed: () => false,
      allowed: 'no',
      told: 'cannot be set in a project. Use PALIMPSEST_FLAGS_URL, or your own settings',
    },
  ),
  maxCostUsd: number('Dollars that one session may cost', 0),
  answers: object('How long to wait for an answer of the model', {
    silentSeconds: number('Seconds to wait while nothing arrives. Default and maximum: 300', 1),
    stuckSeconds: number(
      'Seconds to wait while the provider only keeps the connection alive. Default: 600',
      1,
    ),
    wholeSeconds: number('Seconds to wait for a whole answer. Default: 3600', 1),
  }),
})

/** What one file sets. */
export type SettingsFile = NonNullable<ReturnType<typeof SETTINGS_SHAPE.read>>

/** What applies once all files are read. */
export type Settings = typeof SETTINGS_SHAPE.none

export function rulesOf({ permissions }: Pick<Settings, 'permissions'>): readonly Rule[] {
  return [...permissions.allow, ...permissions.ask, ...permissions.deny]
}
