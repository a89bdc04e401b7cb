import { JsonTextError, parseJsonText, type JsonNode } from './json-text.ts'

// The content of a settings file, one line per value, for a user who decides whether it may take effect. Commands come first: they run.

const VALUE_CHARS_MAX = 300
/** A longer list ends with the number of values that are left; the question names the file. */
const LINES_MAX = 30

export function describeSettings(text: string): readonly string[] {
  try {
    const lines = leaves(parseJsonText(text), '').filter(({ name }) => !SILENT.test(name))
    const ordered = [...lines.filter(isCommand), ...lines.filter((leaf) => !isCommand(leaf))]
    const shown = ordered.slice(0, LINES_MAX).map(({ name, value }) => sentenceOf(name, cut(value)))
    const hidden = ordered.length - shown.length
    return hidden > 0 ? [...shown, `and ${hidden} more values; read the file to see them`] : shown
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error
    return ['it is not valid JSON, so none of it takes effect']
  }
}

/** These change nothing by themselves. */
const SILENT = /^\$schema$|^hooks\.[^.]+\.hooks\.type$/

interface Leaf {
  readonly name: string
  readonly value: string
}

function leaves(node: JsonNode, name: string): readonly Leaf[] {
  switch (node.kind) {
    case 'object':
      return node.members.flatMap(({ key, value }) => leaves(value, name === '' ? key : `${name}.${key}`))
    case 'array':
      return node.items.flatMap((item) => leaves(item, name))
    case 'null':
      return [{ name, value: 'null' }]
    default:
      return [{ name, value: String(node.value) }]
  }
}

const HOOK = /^hooks\.([^.]+)\.hooks\.(command|args)$/

function isCommand({ name }: Leaf): boolean {
  return HOOK.test(name) || /(^|\.)command$/.test(name)
}

function sentenceOf(name: string, value: string): string {
  const [, event, part] = HOOK.exec(name) ?? []
  if (event !== undefined) return part === 'command' ? `hook ${event} runs: ${value}` : `  with: ${value}`
  return `${name}: ${value}`
}

function cut(value: string): string {
  return value.length > VALUE_CHARS_MAX ? `${value.slice(0, VALUE_CHARS_MAX)}… (cut)` : value
}
