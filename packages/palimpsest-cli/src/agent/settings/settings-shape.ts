import { PERMISSION_MODES, findPermissionMode, type PermissionMode } from '../permissions/permission-mode.ts'
import { parseRule, type Rule, type RuleEffect } from '../permissions/rule.ts'
import { SANDBOX_POLICIES } from '../sandbox/sandbox.ts'
import {
  anything,
  choice,
  either,
  flag,
  list,
  number,
  object,
  planned,
  record,
  text,
  type Shape,
} from './shape.ts'
import { urlProblem } from './url-problem.ts'

// Every setting there is. `settings.schema.json` is printed from this; a test compares the two.

const rules = (effect: RuleEffect, description: string): Shape<readonly Rule[]> =>
  list(description, rule(effect))

function rule(effect: RuleEffect): Shape<Rule> {
  return {
    schema: { type: 'string' },
    read: (node, name, complain) => {
      const parsed =
        node.kind === 'string'
          ? parseRule(node.value, effect)
          : { ok: false as const, message: 'must be a string' }
      if (parsed.ok) return parsed.rule
      complain({ at: node.at, severity: 'error', message: `"${name}": ${parsed.message}` })
      return undefined
    },
  }
}

const MODE: Shape<PermissionMode> = {
  schema: {
    type: 'string',
    enum: [...PERMISSION_MODES, 'acceptEdits', 'bypassPermissions'],
    description: 'What may happen unasked',
  },
  read: (node, name, complain) => {
    const mode = node.kind === 'string' ? findPermissionMode(node.value) : undefined
    if (mode === undefined)
      complain({
        at: node.at,
        severity: 'error',
        message: `"${name}" must be one of ${PERMISSION_MODES.join(', ')}`,
      })
    return mode
  },
}

const TOKENS_MIN = 1000

export const SETTINGS_SHAPE = object('Settings of Palimpsest', {
  $schema: text('Address of this schema, for editors'),
  model: text('The model to use'),
  baseUrl: text(
    'Where the Messages API is. Keys are never sent to an address that a project chose',
    urlProblem,
  ),
  permissions: object('What the agent may do', {
    allow: rules('allow', 'Calls that need no question: Tool or Tool(pattern)'),
    ask: rules('ask', 'Calls that are always asked about'),
    deny: rules('deny', 'Calls that are always refused'),
    additionalDirectories: list(
      'Folders beside the working folder that count as part of it',
      text('A folder'),
    ),
    defaultMode: MODE,
  }),
  sandbox: choice(
    'Where commands run that nobody is asked about: "auto", in a sandbox where it works, else only what is proven to read; "required", no command without it; "off", never in it. Default: auto. A project cannot weaken it',
    SANDBOX_POLICIES,
  ),
  env: record('Environment variables for commands that the agent runs', text('The value')),
  hooks: record('Programs that run at certain moments', anything('Groups of hooks for one event')),
  disableAllHooks: flag('Run none of the hooks, wherever they are set. Default: false'),
  mcpServers: planned('MCP servers by name'),
  memory: planned('Long-term memory'),
  dream: planned('Consolidation of memories'),
  limits: planned('What may be spent in a day'),
  autoCompactEnabled: flag('Compact the conversation by itself. Default: true'),
  compaction: object('How the conversation is compacted', {
    model: text(
      'The model that writes summaries. Default: the one that answers; another one reads nothing from the cache',
    ),
    keep: choice('How much stays as it was: lean is cheaper, rich forgets less. Default: lean', [
      'lean',
      'rich',
    ]),
    confirm: flag(
      'Ask before a compaction that nobody asked for. Declined, it waits until there is no room left. Default: false; without a terminal nobody is asked',
    ),
  }),
  cache: object('How long the provider keeps what was sent', {
    lifetime: choice(
      'Five minutes, or an hour at a higher price; auto buys the hour where the pauses of the conversation make it worth it. Default: auto',
      ['auto', '5m', '1h'],
    ),
  }),
  clearing: object('Old tool results after a pause in which the cache expired', {
    gapMinutes: number('A shorter pause clears nothing. Default: what was bought, 5 or 60 minutes', 1),
    keepResults: number(
      'How many of the newest results stay. Default: 15 after a pause of less than an hour, 5 after a longer one',
      1,
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
  flagsUrl: text(
    'Where feature flags are served, in the format of GrowthBook. Not from a project',
    urlProblem,
  ),
  maxCostUsd: number('Dollars that one session may cost', 0),
  answers: object('How long an answer of the model is waited for', {
    silentSeconds: number('Seconds without a byte. Default, and at most: 300', 1),
    stuckSeconds: number('Seconds in which the provider only keeps the connection alive. Default: 600', 1),
    wholeSeconds: number('Seconds for a whole answer. Default: 3600', 1),
  }),
})

export type SettingsFile = NonNullable<ReturnType<typeof SETTINGS_SHAPE.read>>
