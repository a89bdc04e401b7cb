// "Next Tuesday" means nothing a week later. The day it was said shows which one it was.

const DAY_MS = 24 * 60 * 60_000
const DAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday']

const RELATIVE =
  /(?<![\w./-])(?:(the )?day (after tomorrow|before yesterday)|(today|tonight|yesterday|tomorrow)|(next|last|this) (sunday|monday|tuesday|wednesday|thursday|friday|saturday|week|month|year)|in (\d{1,3}) (day|week|month|year)s?|(\d{1,3}) (day|week|month|year)s? ago)(?![\w/-]|\.\w| of\b)/gi

/** The same text, with the dates that were meant at that time. */
export function withAbsoluteDates(text: string, atMs: number): string {
  if (!Number.isFinite(atMs) || atMs <= 0) return text
  return text.replaceAll(RELATIVE, (found, ...groups: unknown[]) => {
    const [, twoDays, day, which, unit, ahead, aheadUnit, back, backUnit] = groups.map((group) =>
      typeof group === 'string' ? group.toLowerCase() : undefined,
    )
    if (twoDays !== undefined) return dateAt(atMs + (twoDays.startsWith('after') ? 2 : -2) * DAY_MS)
    if (day !== undefined) return dateAt(atMs + (DAY_OFFSETS[day] ?? 0) * DAY_MS)
    if (which !== undefined && unit !== undefined) return named(which, unit, atMs)
    if (ahead !== undefined && aheadUnit !== undefined) return counted(Number(ahead), aheadUnit, atMs)
    if (back !== undefined && backUnit !== undefined) return counted(-Number(back), backUnit, atMs)
    return found
  })
}

const DAY_OFFSETS: { readonly [word: string]: number } = { today: 0, tonight: 0, yesterday: -1, tomorrow: 1 }

function named(which: string, unit: string, atMs: number): string {
  const step = { next: 1, last: -1, this: 0 }[which] ?? 0
  const weekday = DAYS.indexOf(unit)
  if (weekday >= 0) return weekdayFrom(weekday, step, atMs)
  if (unit === 'week') return `the week of ${dateAt(mondayOf(atMs) + step * 7 * DAY_MS)}`
  if (unit === 'month') return monthAt(atMs, step)
  return String(new Date(atMs).getUTCFullYear() + step)
}

/** The nearest such day before or after; for "this", today counts. */
function weekdayFrom(weekday: number, step: number, atMs: number): string {
  const today = new Date(atMs).getUTCDay()
  const ahead = (weekday - today + 7) % 7
  if (step < 0) return dateAt(atMs - ((7 - ahead) % 7 || 7) * DAY_MS)
  return dateAt(atMs + (step > 0 && ahead === 0 ? 7 : ahead) * DAY_MS)
}

function counted(count: number, unit: string, atMs: number): string {
  if (unit === 'month') return monthAt(atMs, count)
  if (unit === 'year') return String(new Date(atMs).getUTCFullYear() + count)
  return dateAt(atMs + count * (unit === 'week' ? 7 : 1) * DAY_MS)
}

function mondayOf(atMs: number): number {
  return atMs - ((new Date(atMs).getUTCDay() + 6) % 7) * DAY_MS
}

function monthAt(atMs: number, step: number): string {
  const at = new Date(atMs)
  return new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + step, 1)).toISOString().slice(0, 7)
}

function dateAt(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}
