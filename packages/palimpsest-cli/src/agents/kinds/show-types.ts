import type { AgentType, AgentTypes } from './agent-type.ts'

/** A type, as `palimpsest agents --json` prints it. */
export function toDocument(type: AgentType): object {
  const { name, description, source, path, tools, model, memory, background, isolation } = type
  return {
    name,
    description,
    source,
    path: path ?? null,
    tools: tools ?? null,
    model: model ?? null,
    memory: memory ?? null,
    background,
    isolation: isolation ?? null,
  }
}

const NAME_COLUMNS = 20

export function typeLine(type: AgentType): string {
  return `${type.name.padEnd(NAME_COLUMNS)}  ${aboutType(type)}`
}

/** The same without its name. */
export function aboutType({ description, source, tools, model }: AgentType): string {
  const about = [source, model, tools === undefined ? 'all tools' : tools.join(' ')].filter(Boolean)
  return `${description}  (${about.join('; ')})`
}

/** What is not used, one line per file. */
export function problemLines({ problems }: Pick<AgentTypes, 'problems'>): readonly string[] {
  const byPath = new Map<string, readonly string[]>()
  for (const { path, text } of problems) byPath.set(path, [...(byPath.get(path) ?? []), text])
  return [...byPath].map(([path, texts]) => `${path}: ${texts.join('; ')}`)
}

/** A short version for a starting session: says that there are problems, and where to read about them. */
export function problemsInShort({ problems }: Pick<AgentTypes, 'problems'>): readonly string[] {
  const files = new Set(problems.map(({ path }) => path)).size
  if (files === 0) return []
  const what = files === 1 ? 'Something in 1 agent file is' : `Something in ${files} agent files is`
  return [`${what} not used. \`palimpsest agents\` shows what`]
}

/** About 2,000 tokens: one percent of a usual window. */
const LISTING_CHARS_MAX = 8_000

/** For the model: the types beside those that the tool itself names. Empty if there are none. */
export function renderTypes(types: readonly AgentType[]): string {
  const own = types.filter(({ source }) => source !== 'built-in')
  if (own.length === 0) return ''
  const lines: string[] = []
  let chars = 0
  for (const { name, description } of own) {
    const line = `- ${name}: ${description}`
    chars += line.length + 1
    if (chars > LISTING_CHARS_MAX) break
    lines.push(line)
  }
  const left = own.length - lines.length
  const more =
    left > 0
      ? `\n[${left} more are not listed: ${own
          .slice(-left)
          .map(({ name }) => name)
          .join(', ')
          .slice(0, LISTING_CHARS_MAX)}]`
      : ''
  return `<agents>\nTypes of agents in this folder, for the tool Agent, beside the built-in ones. The descriptions are the files' own words:\n${lines.join('\n')}${more}\n</agents>`
}
