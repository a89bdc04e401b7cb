import { isJsonObject, type JsonObject } from '../../../wire/json.ts'
import { STOP_REASONS, type StopReason } from '../../../wire/response.ts'
import { isIntegerFrom, matchesBody, type BodyText } from '../match-body.ts'

// Scripted answers, taken in order. Ids, usage and signatures are the simulator's own.

/** A block as a script gives it: without id and signature. */
export interface ScriptBlock extends JsonObject {
  readonly type: string
}

export interface ScriptStep {
  readonly content: readonly ScriptBlock[]
  readonly stop_reason?: StopReason
  readonly when?: { readonly bodyContains?: string; readonly source?: string }
  readonly times?: number
  readonly delay_ms?: number
}

export interface Script {
  steps: { readonly step: ScriptStep; left: number }[]
}

export function createScript(steps: readonly ScriptStep[] = []): Script {
  return { steps: steps.map((step) => ({ step, left: step.times ?? 1 })) }
}

export function addSteps(script: Script, steps: readonly ScriptStep[]): void {
  script.steps.push(...createScript(steps).steps)
}

/** The next step for this request. A step with `when` waits for a matching request, without blocking later steps. */
export function takeStep(
  script: Script,
  asked: { readonly body: BodyText; readonly source: string },
): ScriptStep | undefined {
  const index = script.steps.findIndex(({ step }) => matches(step, asked))
  const found = script.steps[index]
  if (!found) return undefined
  found.left--
  if (found.left <= 0) script.steps.splice(index, 1)
  return found.step
}

function matches(step: ScriptStep, asked: { readonly body: BodyText; readonly source: string }): boolean {
  const { bodyContains, source } = step.when ?? {}
  if (source !== undefined && asked.source !== source && !asked.source.startsWith(`${source}:`)) return false
  return bodyContains === undefined || matchesBody(asked.body, bodyContains)
}

/** Steps from outside, as a list or as `{"steps": […]}`; a string says what is wrong with them. */
export function parseSteps(value: unknown): readonly ScriptStep[] | string {
  const steps: unknown = isJsonObject(value) ? value['steps'] : value
  if (!Array.isArray(steps)) return 'steps: expected a list'
  for (const [i, step] of steps.entries()) {
    const wrong = wrongStep(step)
    if (wrong !== undefined) return `steps.${i}.${wrong}`
  }
  return steps.filter(isStep)
}

function isStep(step: unknown): step is ScriptStep {
  return wrongStep(step) === undefined
}

function wrongStep(step: unknown): string | undefined {
  if (!isJsonObject(step)) return ' expected an object'
  const content: unknown = step['content']
  if (!Array.isArray(content)) return 'content: expected a list of blocks'
  for (const [j, block] of content.entries()) {
    const wrong = wrongBlock(block)
    if (wrong !== undefined) return `content.${j}: ${wrong}`
  }
  const reason = step['stop_reason']
  if (reason !== undefined && !STOP_REASONS.some((known) => known === reason))
    return `stop_reason: expected one of ${STOP_REASONS.join(', ')}`
  if (step['when'] !== undefined && !isJsonObject(step['when'])) return 'when: expected an object'
  if (step['times'] !== undefined && !isIntegerFrom(step['times'], 1))
    return 'times: expected an integer from 1'
  return step['delay_ms'] === undefined || isIntegerFrom(step['delay_ms'], 0)
    ? undefined
    : 'delay_ms: expected an integer from 0'
}

function wrongBlock(block: unknown): string | undefined {
  if (!isJsonObject(block) || typeof block['type'] !== 'string') return 'expected a block with a type'
  switch (block['type']) {
    case 'text':
      return typeof block['text'] === 'string' ? undefined : 'a text block needs text'
    case 'thinking':
      return typeof block['thinking'] === 'string' ? undefined : 'a thinking block needs thinking'
    case 'tool_use':
      return typeof block['name'] === 'string' && isJsonObject(block['input'])
        ? undefined
        : 'a tool_use block needs name and input'
    default:
      return undefined
  }
}

export function isScriptBlock(block: unknown): block is ScriptBlock {
  return wrongBlock(block) === undefined
}
