import { isJsonObject } from '../../../wire/json.ts'
import type { MessagesRequest, Tool } from '../../../wire/request.ts'

// Which of the tools in a request can be used for searching, and under what name. A tool is used only if its schema accepts what we
// would send and requires nothing else.

export interface OfferedTools {
  readonly grep?: string | undefined
  readonly glob?: string | undefined
  readonly read?: string | undefined
}

interface Use {
  /** Members that are always sent. */
  readonly always: readonly string[]
  /** Members that may be sent. */
  readonly sometimes: readonly string[]
}

const USES: { readonly [Kind in keyof OfferedTools]-?: Use } = {
  grep: { always: ['pattern'], sometimes: ['path', 'output_mode', 'head_limit', '-i', '-n'] },
  glob: { always: ['pattern'], sometimes: [] },
  read: { always: ['file_path'], sometimes: ['offset', 'limit'] },
}

export function offeredTools({ tools, tool_choice }: MessagesRequest): OfferedTools {
  if (tool_choice?.type === 'none') return {}
  const only = tool_choice?.type === 'tool' ? tool_choice.name : undefined
  const find = (kind: keyof OfferedTools): string | undefined =>
    tools?.find(
      (tool) =>
        tool.name?.toLowerCase() === kind && (only ?? tool.name) === tool.name && takes(tool, USES[kind]),
    )?.name
  const [grep, glob, read] = [find('grep'), find('glob'), find('read')]
  return {
    grep,
    glob,
    read,
  }
}

function takes({ input_schema: schema }: Tool, { always, sometimes }: Use): boolean {
  if (!schema) return false
  const properties = isJsonObject(schema['properties']) ? schema['properties'] : {}
  const required: unknown = schema['required'] ?? []
  if (!Array.isArray(required) || !required.every((name) => always.includes(String(name)))) return false
  return [...always, ...sometimes].every((name) => name in properties)
}
