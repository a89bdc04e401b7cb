import { UsageError } from '../errors.ts'

/** Checks the model that a program names, before anything starts with it. */
export function requireModel(model: unknown): void {
  if (typeof model === 'string' && model !== '') return
  throw new UsageError(
    `\`model\` is ${model === '' ? 'empty' : String(model)}: name the model as its provider does, for example "claude-sonnet-5-5".`,
  )
}
