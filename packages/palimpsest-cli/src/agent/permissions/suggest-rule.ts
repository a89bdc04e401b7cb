import { dirname } from 'node:path'

import type { CallFacts } from './call-facts.ts'

// The narrowest rule that would allow a call and its like.

/** Programs whose first word says little: the second belongs to the name. */
const HAS_SUBCOMMANDS =
  /^(npm|npx|pnpm|yarn|bun|git|cargo|go|docker|kubectl|make|uv|pip|poetry|gh|deno|dotnet|mvn|gradle)$/

export function suggestRule(tool: string, facts: CallFacts): string {
  switch (facts.kind) {
    case 'file':
      return facts.access === 'write'
        ? `Edit(${facts.isInside && !facts.isProtected ? '/**' : pathPattern(facts.real)})`
        : `Read(${pathPattern(dirname(facts.real))}/**)`
    case 'shell':
      return suggestCommand(facts)
    case 'web':
      return `WebFetch(domain:${facts.host})`
    case 'inner':
    case 'other':
      return tool
    default:
      facts satisfies never
      return tool
  }
}

/** A path whose characters mean themselves. */
function pathPattern(path: string): string {
  return path === '/' ? '/' : `/${path.replaceAll(/[*?[\]\\!#]/g, String.raw`\$&`)}`
}

function suggestCommand({ command, text }: Extract<CallFacts, { kind: 'shell' }>): string {
  const named = text.readable ? text.commands.filter(({ name }) => name !== undefined) : []
  const [only] = named
  if (only?.name !== undefined && named.length === 1 && text.readable && text.redirects.length === 0) {
    const [first] = only.args
    const isWord = first?.kind === 'literal' && /^[a-z][\w-]*$/i.test(first.value)
    return isWord && HAS_SUBCOMMANDS.test(only.name)
      ? `Bash(${only.name} ${first.value}:*)`
      : `Bash(${only.name}:*)`
  }
  const isPlain = !/[\n()]/.test(command)
  return isPlain ? `Bash(${command.trim()})` : 'Bash'
}

/** How to allow it from outside. */
export function toFlag(tool: string, facts: CallFacts, rule: string): string {
  const isPlainEdit =
    facts.kind === 'file' && facts.access === 'write' && facts.isInside && !facts.isProtected
  if (isPlainEdit) return `--permission-mode accept-edits, or --allowed-tools ${tool},`
  return `--allowed-tools '${rule.replaceAll("'", String.raw`'\''`)}'`
}
