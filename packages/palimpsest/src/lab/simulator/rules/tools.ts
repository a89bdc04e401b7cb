import { invalid, type RuleSet } from './rule.ts'

export const TOOL_RULES = {
  'tools.name-form': invalid(
    "{path}.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
    'tool use reference',
    'observed',
  ),
  'tools.names-unique': invalid('tools: Tool names must be unique.', 'public error reports', 'observed'),
  'tools.schema-type': invalid("{path}.input_schema.type: Input should be 'object'", 'schema', 'observed'),
  'tools.all-deferred': invalid(
    'At least one tool must have defer_loading=false.',
    'tool search reference',
    'documented',
  ),
  'tools.deferred-breakpoint': invalid(
    "Tool '{name}' cannot have both defer_loading=true and cache_control set.",
    'tool search reference',
    'documented',
  ),
  'tool-choice.no-tools': invalid(
    'tool_choice: tool_choice may only be specified while providing tools',
    'public error reports',
    'observed',
  ),
  'tool-choice.not-found': invalid(
    "tool_choice: Tool '{name}' not found in provided tools",
    'public error reports',
    'observed',
  ),
  'tool-choice.thinking': invalid(
    'Thinking may not be enabled when tool_choice forces tool use.',
    'extended thinking reference',
    'observed',
  ),
} as const satisfies RuleSet
