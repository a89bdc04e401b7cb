import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import {
  OVERFLOW_FORMATS,
  PLAIN_OVERFLOW,
} from '../../packages/palimpsest/src/lab/simulator/overflow-formats.ts'
import { RULES } from '../../packages/palimpsest/src/lab/simulator/refusal.ts'
import type { Rule } from '../../packages/palimpsest/src/lab/simulator/rules/rule.ts'
import {
  BETA_GATES,
  DEFAULT_SWITCHES,
  type BetaGate,
} from '../../packages/palimpsest/src/lab/simulator/switches.ts'
import { ROOT } from './source-tree.ts'

// The tables of docs/simulator.md, as the code has them. A test compares; to write them anew:
//   node --conditions=x-source test/kit/simulator-tables.ts

export const TABLES: { readonly [name: string]: () => string } = {
  rules: () =>
    table(
      ['rule', 'status', 'error type', 'message', 'source', 'certainty', 'switch'],
      Object.entries<Rule>(RULES).map(([id, rule]) => [
        `\`${id}\``,
        String(rule.status),
        rule.type,
        code(rule.message) + (rule.code === undefined ? '' : `<br>code \`${rule.code}\``),
        rule.source,
        rule.certainty,
        rule.switch === undefined ? '' : `\`${rule.switch}\``,
      ]),
    ),
  gates: () =>
    table(
      ['gate', 'beta begins with', 'without it'],
      Object.entries(BETA_GATES).map(([gate, betas]) => [
        `\`${gate}\``,
        betas.map((beta) => `\`${beta}\``).join(', '),
        DEFAULT_SWITCHES.betaGates[gate as BetaGate],
      ]),
    ),
  overflow: () =>
    table(
      ['number', 'name', 'message'],
      [
        ['', `\`${PLAIN_OVERFLOW.name}\``, code(PLAIN_OVERFLOW.message)],
        ...OVERFLOW_FORMATS.map(({ name, message }, i) => [String(i), `\`${name}\``, code(message)]),
      ],
    ),
}

/** The page with every table between its two marks as the code has it. */
export function withTables(page: string): string {
  return Object.entries(TABLES).reduce(
    (text, [name, render]) =>
      text.replace(
        new RegExp(`(<!-- ${name} -->\\n)[^]*?(<!-- /${name} -->)`),
        (_, open: string, close: string) => `${open}${render()}${close}`,
      ),
    page,
  )
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => '---'), ...rows]
  return lines
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`)
    .join('')
}

/** A message has backticks of its own, so two stand around it. */
function code(text: string): string {
  return text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``
}

if (import.meta.main) {
  const path = join(ROOT, 'docs/simulator.md')
  writeFileSync(path, withTables(readFileSync(path, 'utf8')))
}
