/** A request's body as text, made only when someone reads it. */
export type BodyText = () => string

/** Whether the body contains the text, plain or escaped as in a JSON string. */
export function matchesBody(body: BodyText, wanted: string): boolean {
  const text = body()
  return text.includes(wanted) || text.includes(JSON.stringify(wanted).slice(1, -1))
}

export function isIntegerFrom(value: unknown, least: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= least
}
