// Finds what must not be stored. The rules come from secretlint, which others keep up to date; we add a few forms that it lacks.

interface Form {
  readonly name: string
  readonly pattern: RegExp
}

/** Forms as in sentences; a linter for files looks for assignments. */
const FORMS: readonly Form[] = [
  { name: 'a private key', pattern: /-----BEGIN (?:[A-Z0-9]+ )?PRIVATE KEY-----/ },
  { name: 'an API key', pattern: /\b(?:sk|pk|rk)-(?:[a-z]+-)?[A-Za-z0-9_-]{20,}/ },
  { name: 'an API key', pattern: /\b(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,}/ },
  { name: 'a cloud key', pattern: /\bAKIA[A-Z0-9]{16}\b/ },
  { name: 'a Google key', pattern: /\bAIza[\w-]{35}/ },
  { name: 'a web token', pattern: /\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}/ },
  {
    name: 'a password',
    pattern:
      /\b(?:pass(?:word|phrase|code)|passwd|pwd|passwort|kennwort|mot de passe|contraseña|secret|token|api[ _-]?key)\b["']?\s*(?:is|are|=|:|ist|est|es|lautet)\s*["'`]?(?=[^\s"'`]*\d)(?=[^\s"'`]*[A-Za-z])[^\s"'`]{6,}/i,
  },
]

/** The kinds of secrets found, each once; never the text itself. */
export async function findSecrets(text: string): Promise<readonly string[]> {
  const own = FORMS.filter(({ pattern }) => pattern.test(text)).map(({ name }) => name)
  const { lintSource } = await import('@secretlint/core')
  const { creator } = await import('@secretlint/secretlint-rule-preset-recommend')
  const { messages } = await lintSource({
    source: { content: text, filePath: 'memory.md', ext: '.md', contentType: 'text' },
    options: { config: { rules: [{ id: PRESET, rule: creator }] }, noPhysicFilePath: true },
  })
  const found = messages.map(({ ruleId, messageId }) => nameOf(ruleId, messageId))
  return [...new Set([...own, ...found])]
}

const PRESET = '@secretlint/secretlint-rule-preset-recommend'

/** `@secretlint/secretlint-rule-github`, `GITHUB_TOKEN`: "github token". */
function nameOf(rule: string, message: string): string {
  const service = rule.replace(/^.*secretlint-rule-/, '')
  const words = message
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .toLowerCase()
  return words.startsWith(service) ? words : `${service}: ${words}`
}
