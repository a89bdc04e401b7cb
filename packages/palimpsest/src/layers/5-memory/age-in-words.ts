const DAY_MS = 86_400_000
const WEEK_DAYS = 7
const MONTH_DAYS = 30.44
const YEAR_DAYS = 365.25

/** How long ago something was: "3 weeks ago". */
export function ageInWords(at: string, now: number): string {
  const days = Math.floor((now - Date.parse(at)) / DAY_MS)
  if (Number.isNaN(days)) return 'at an unknown time'
  if (days < 1) return 'today'
  if (days === 1) return 'yesterday'
  if (days < 2 * WEEK_DAYS) return `${days} days ago`
  if (days < 2 * MONTH_DAYS) return `${Math.floor(days / WEEK_DAYS)} weeks ago`
  if (days < 2 * YEAR_DAYS) return `${Math.floor(days / MONTH_DAYS)} months ago`
  return `${Math.floor(days / YEAR_DAYS)} years ago`
}
