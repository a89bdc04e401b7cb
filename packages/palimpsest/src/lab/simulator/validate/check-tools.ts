import type { MessagesRequest, Tool } from '../../../wire/request.ts'
import { refuse, type Refusal } from '../refusal.ts'
import { checkOneOf } from './field.ts'

const NAME_FORM = /^[a-zA-Z0-9_-]{1,128}$/

export function checkTools(request: MessagesRequest): Refusal | undefined {
  const tools = request.tools ?? []
  return checkNames(tools) ?? checkDeferred(tools) ?? checkChoice(request, tools)
}

function checkNames(tools: readonly Tool[]): Refusal | undefined {
  const seen = new Set<string>()
  for (const [i, { name, type }] of tools.entries()) {
    if (name === undefined) continue
    const path = `tools.${i}.${type ?? 'custom'}`
    if (!NAME_FORM.test(name)) return refuse('tools.name-form', { path })
    if (seen.has(name)) return refuse('tools.names-unique')
    seen.add(name)
  }
  return undefined
}

function checkDeferred(tools: readonly Tool[]): Refusal | undefined {
  if (tools.length > 0 && tools.every((tool) => tool.defer_loading)) return refuse('tools.all-deferred')
  const marked = tools.find((tool) => tool.defer_loading && tool.cache_control)
  return marked ? refuse('tools.deferred-breakpoint', { name: marked.name ?? '' }) : undefined
}

function checkChoice(request: MessagesRequest, tools: readonly Tool[]): Refusal | undefined {
  const choice = request.tool_choice
  if (!choice) return undefined
  const refusal = checkOneOf(choice.type, ['auto', 'any', 'tool', 'none'], 'tool_choice.type')
  if (refusal) return refusal
  if (tools.length === 0) return refuse('tool-choice.no-tools')
  if (choice.type === 'tool' && !tools.some((tool) => tool.name === choice.name))
    return refuse('tool-choice.not-found', { name: choice.name })
  const thinks = request.thinking !== undefined && request.thinking.type !== 'disabled'
  return forcesTool(request) && thinks ? refuse('tool-choice.thinking') : undefined
}

export function forcesTool({ tool_choice: choice }: MessagesRequest): boolean {
  return choice?.type === 'any' || choice?.type === 'tool'
}
