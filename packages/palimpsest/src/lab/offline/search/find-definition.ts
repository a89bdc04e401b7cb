// Finds lines that name something, with patterns for several languages. A miss costs only a little rank.

export type DefinitionKind = 'function' | 'type' | 'constant' | 'variable' | 'heading'

export interface FoundDefinition {
  readonly name: string
  readonly kind: DefinitionKind
}

const MODIFIERS =
  '(?:(?:export|default|declare|public|private|protected|internal|static|final|abstract|override|async|readonly|pub|get|set)\\s+|\\*\\s*)*'

const PATTERNS: readonly (readonly [RegExp, DefinitionKind])[] = [
  [
    new RegExp(
      `^${MODIFIERS}(?:function(?:\\s*\\*)?|def|fn|func|class|struct|impl|trait|module|object)\\s*([\\w$]+)`,
    ),
    'function',
  ],
  [new RegExp(`^${MODIFIERS}(?:interface|type|enum|namespace)\\s+([\\w$]+)`), 'type'],
  [new RegExp(`^${MODIFIERS}(?:const|let|var|val)\\s+([\\w$]+)\\s*[:=]`), 'variable'],
  [
    new RegExp(`^${MODIFIERS}(#?[\\w$]+|\\[[\\w$.]+\\])\\s*(?:<[^>]*>\\s*)?\\([^;]*(?:\\{|,|\\()$`),
    'function',
  ],
  [/^(?:(?:static|private|public|protected|readonly)\s+)+(#?[\w$]+)\s*[=:]/, 'variable'],
  [
    /^(#?[\w$]+|\[[\w$.]+\])\s*[=:]\s*(?:async\s*)?(?:function\b|\([^)]*\)\s*(?::[^=]+)?=>|[\w$]+\s*=>)/,
    'function',
  ],
  [/^(?:module\.)?exports\.([\w$]+)\s*=/, 'variable'],
  [/^(#?[\w$]+)\s*=\s*[^=]/, 'variable'],
  [/^([A-Z][A-Z_\d]{2,})\s*:/, 'variable'],
  [/^(?:this|self)(?:\.#?([\w$]+)|\[([\w$.]+)\])\s*=[^=]/, 'variable'],
]

const HEADING = /^#{1,6}\s+(\S.*)$/
const KEYWORDS: ReadonlySet<string> = new Set(
  'if for while switch catch return function else await new throw typeof constructor super case with elif except'.split(
    ' ',
  ),
)

/** Takes a line without surrounding space. */
export function findDefinition(text: string, isProse: boolean): FoundDefinition | undefined {
  if (isProse) {
    const [, title] = HEADING.exec(text) ?? []
    return title === undefined ? undefined : { name: title, kind: 'heading' }
  }
  for (const [pattern, kind] of PATTERNS) {
    const match = pattern.exec(text)
    const name = (match?.[1] ?? match?.[2])?.replace(/^[#[]+|\]$/g, '')
    if (name !== undefined && !KEYWORDS.has(name)) return { name, kind: settle(kind, name, text) }
  }
  return undefined
}

/** Makes a variable a function, or a constant if its form says that it holds for the whole file. */
function settle(kind: DefinitionKind, name: string, text: string): DefinitionKind {
  if (kind !== 'variable') return kind
  if (/=>\s*\{?$|=\s*(?:async\s*)?function\b/.test(text)) return 'function'
  const isConstant =
    /^[A-Z][A-Z_\d]+$/.test(name) || /^(?:export|static|private|public|protected|readonly|#)/.test(text)
  return isConstant ? 'constant' : 'variable'
}
