/** "1h 30m" in minutes. */
export function minutes(text) {
  const [, hours = '0', rest = '0'] = /^(?:(\d+)h)?\s*(?:(\d+)m)?$/.exec(text) ?? []
  return Number(hours) * 100 + Number(rest)
}
