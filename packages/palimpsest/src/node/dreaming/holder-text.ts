import type { Holder } from '../../ports.ts'
import { parseJsonObject } from '../../wire/json.ts'

export function printHolder(holder: Holder): string {
  return `${JSON.stringify(holder)}\n`
}

/** Undefined if it names no holder. */
export function parseHolder(text: string): Holder | undefined {
  const value = parseJsonObject(text)
  if (!value) return undefined
  const { token, pid, host, at, replaced, startTicks, boot } = value
  if (typeof token !== 'string' || typeof host !== 'string' || typeof at !== 'number') return undefined
  if (typeof pid !== 'number' || !Number.isInteger(pid) || pid <= 0) return undefined
  return {
    token,
    pid,
    host,
    at,
    replaced: typeof replaced === 'number' ? replaced : null,
    startTicks: typeof startTicks === 'string' ? startTicks : undefined,
    boot: typeof boot === 'string' ? boot : undefined,
  }
}
