import { toPrintable } from '../../agent/printable.ts'

// Markup of a page. Outside text only enters through `${…}`, where it is escaped; existing markup is known by its type.

export interface Html {
  readonly markup: string
}

type Part = string | number | Html | readonly Html[]

/** `html`<td>${name}</td>``: markup with its values escaped. */
export function html(literals: TemplateStringsArray, ...parts: readonly Part[]): Html {
  const markup = literals.reduce((made, literal, index) => {
    const part = parts[index - 1]
    return `${made}${part === undefined ? '' : markupOf(part)}${literal}`
  }, '')
  return { markup }
}

export const NO_MARKUP: Html = { markup: '' }

function markupOf(part: Part): string {
  if (typeof part === 'number') return String(part)
  if (typeof part === 'string') return escapeText(part)
  return 'markup' in part ? part.markup : part.map(({ markup }) => markup).join('')
}

const ENTITIES: { readonly [character: string]: string } = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Safe in text and in quoted attributes. Makes characters visible that hide or reorder text. */
function escapeText(text: string): string {
  return toPrintable(text).replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
}
