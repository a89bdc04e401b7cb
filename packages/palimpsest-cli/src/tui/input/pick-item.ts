import type { Key } from './decode-keys.ts'

// A list to choose from, as a value.

export interface PickItem {
  readonly label: string
  /** Text below the label, fainter. An item with a detail is shown whole, over as many lines as it takes. */
  readonly detail?: string
  /** This letter chooses the item, unless the list is searched. */
  readonly letter?: string
  readonly value: string
}

export interface Picker {
  readonly title: string
  readonly items: readonly PickItem[]
  /** Letters narrow the list; otherwise they choose. */
  readonly isSearched: boolean
  readonly query: string
  readonly chosen: number
}

export type PickStep =
  | { readonly kind: 'going'; readonly picker: Picker }
  | { readonly kind: 'picked'; readonly value: string }
  | { readonly kind: 'left' }

export function createPicker(title: string, items: readonly PickItem[], isSearched: boolean): Picker {
  return { title, items, isSearched, query: '', chosen: 0 }
}

export function foundItems({ items, query }: Picker): readonly PickItem[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  return items.filter(({ label }) => words.every((word) => label.toLowerCase().includes(word)))
}

export function pickItem(picker: Picker, key: Key): PickStep {
  if (key.kind !== 'key') return typed(picker, key.text)
  if (key.name === 'escape' || (key.ctrl && (key.name === 'c' || key.name === 'd'))) return { kind: 'left' }
  if (key.ctrl && key.name === 'u') return { kind: 'going', picker: { ...picker, query: '', chosen: 0 } }
  const found = foundItems(picker)
  const last = Math.max(0, found.length - 1)
  switch (key.name) {
    case 'enter': {
      const item = found[picker.chosen]
      return item ? { kind: 'picked', value: item.value } : { kind: 'going', picker }
    }
    case 'up':
      return moved(picker, Math.max(0, picker.chosen - 1))
    case 'down':
    case 'tab':
      return moved(
        picker,
        picker.chosen >= last && key.name === 'tab' ? 0 : Math.min(last, picker.chosen + 1),
      )
    case 'backspace':
      return { kind: 'going', picker: { ...picker, query: picker.query.slice(0, -1), chosen: 0 } }
    default:
      return { kind: 'going', picker }
  }
}

function typed(picker: Picker, text: string): PickStep {
  if (picker.isSearched)
    return {
      kind: 'going',
      picker: { ...picker, query: picker.query + text.replaceAll('\n', ' '), chosen: 0 },
    }
  const letter = text.toLowerCase()
  const item = picker.items.find((item, place) => item.letter === letter || String(place + 1) === letter)
  if (item) return { kind: 'picked', value: item.value }
  return letter === 'q' ? { kind: 'left' } : { kind: 'going', picker }
}

function moved(picker: Picker, chosen: number): PickStep {
  return { kind: 'going', picker: { ...picker, chosen } }
}
