// Places names beside their dots so that none covers another. A name that does not fit is left out: pointing at the dot shows it, and so
// does the caption.

export interface Point {
  readonly name: string
  readonly x: number
  readonly y: number
  readonly radius: number
}

export interface Label {
  readonly name: string
  readonly x: number
  readonly y: number
  readonly anchor: 'start' | 'middle' | 'end'
}

export interface Frame {
  readonly left: number
  readonly right: number
  readonly top: number
  readonly bottom: number
}

/** Width in the 11.5 pixel font, on the wide side because bold text is wider. */
const CHARACTER_WIDTH = 8
const LABEL_HEIGHT = 12
const GAP = 4

/** The most important name is placed first, wherever its dot is. */
export function placeLabels(points: readonly Point[], frame: Frame, first: string): readonly Label[] {
  const taken: Frame[] = points.map(({ x, y, radius }) => ({
    left: x - radius,
    right: x + radius,
    top: y - radius,
    bottom: y + radius,
  }))
  const labels: Label[] = []
  const inTurn = points.toSorted((a, b) => Number(b.name === first) - Number(a.name === first))
  for (const point of inTurn) {
    const within = candidates(point).filter((label) => isWithin(boxOf(label), frame))
    const free = within.find((label) => taken.every((other) => !overlap(boxOf(label), other)))
    const found = free ?? (point.name === first ? within[0] : undefined)
    if (!found) continue
    labels.push(found)
    taken.push(boxOf(found))
  }
  return labels
}

function candidates({ name, x, y, radius }: Point): readonly Label[] {
  const side = radius + GAP
  const middle = LABEL_HEIGHT / 3
  return [
    { name, x: x + side, y: y + middle, anchor: 'start' },
    { name, x: x - side, y: y + middle, anchor: 'end' },
    { name, x, y: y - side, anchor: 'middle' },
    { name, x, y: y + side + LABEL_HEIGHT - GAP, anchor: 'middle' },
    { name, x: x + side, y: y - side, anchor: 'start' },
    { name, x: x + side, y: y + side + LABEL_HEIGHT - GAP, anchor: 'start' },
    { name, x: x - side, y: y - side, anchor: 'end' },
    { name, x: x - side, y: y + side + LABEL_HEIGHT - GAP, anchor: 'end' },
    { name, x, y: y - side - LABEL_HEIGHT, anchor: 'middle' },
    { name, x, y: y + side + 2 * LABEL_HEIGHT - GAP, anchor: 'middle' },
  ]
}

function boxOf({ name, x, y, anchor }: Label): Frame {
  const width = name.length * CHARACTER_WIDTH
  const left = anchor === 'start' ? x : anchor === 'end' ? x - width : x - width / 2
  return { left, right: left + width, top: y - LABEL_HEIGHT + GAP / 2, bottom: y + GAP / 2 }
}

function isWithin(box: Frame, frame: Frame): boolean {
  return (
    box.left >= frame.left && box.right <= frame.right && box.top >= frame.top && box.bottom <= frame.bottom
  )
}

function overlap(a: Frame, b: Frame): boolean {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom
}
