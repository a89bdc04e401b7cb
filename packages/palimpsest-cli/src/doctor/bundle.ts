import { join } from 'node:path'

import { listSessions, readPlainText } from 'palimpsest/node'
import { isJsonObject, type JsonObject } from 'palimpsest/wire'

import type { World } from '../world.ts'
import type { Finding } from './finding.ts'

// A file to send along with a report: what is configured and how large things are. No content of conversations, no keys.

/** Values of these may be shown; of all other variables only that they are set. */
const PLAIN_VARIABLES = new Set([
  'DISABLE_COMPACT',
  'DISABLE_AUTO_COMPACT',
  'PALIMPSEST_WINDOW',
  'PALIMPSEST_CONTEXT_TOKENS',
  'PALIMPSEST_COLLAPSE',
  'PALIMPSEST_AUTOCOMPACT_PCT',
  'PALIMPSEST_BLOCKING_LIMIT',
  'PALIMPSEST_CONTEXT_MAX_INPUT',
  'PALIMPSEST_CONTEXT_TARGET_INPUT',
  'PALIMPSEST_MODEL',
  'NO_COLOR',
  'TERM',
])
const OUR_VARIABLES = /^(?:PALIMPSEST_|ANTHROPIC_|DISABLE_|NO_COLOR$|TERM$|HTTPS?_PROXY$)/i
/** Keys of settings whose values say nothing about the user. */
const PLAIN_SETTINGS = new Set([
  'model',
  'autoCompactEnabled',
  'disableAllHooks',
  'workingWindow',
  'sessionMemory',
  'maxCostUsd',
])

export async function bundleOf(
  findings: readonly Finding[],
  about: { readonly home: string; readonly nodeVersion: string },
  world: World,
): Promise<string> {
  const { sessions } = await listSessions(about.home)
  const settings = await readOwnSettings(about.home)
  const document = {
    version: world.version,
    node: about.nodeVersion,
    platform: world.platform,
    environment: Object.fromEntries(
      Object.entries(world.env)
        .filter(([name]) => OUR_VARIABLES.test(name))
        .map(([name, value]) => [name, PLAIN_VARIABLES.has(name) ? value : '(set)']),
    ),
    settings: Object.fromEntries(
      Object.entries(settings).map(([key, entry]) => [key, PLAIN_SETTINGS.has(key) ? entry : '(set)']),
    ),
    findings: findings.map((finding) => ({
      ...finding,
      text: withoutPlaces(finding.text, { home: about.home, settings }, world),
    })),
    sessions: sessions.map(({ started, updated, messages, tokens, cost_usd }) => ({
      started,
      updated,
      messages,
      tokens,
      cost_usd,
    })),
  }
  return `${JSON.stringify(document, null, 2)}\n`
}

async function readOwnSettings(home: string): Promise<JsonObject> {
  try {
    const value: unknown = JSON.parse(await readPlainText(join(home, 'settings.json')))
    return isJsonObject(value) ? value : {}
  } catch {
    // The findings say what is wrong with the file; its outline is then empty.
    return {}
  }
}

function withoutPlaces(
  text: string,
  { home, settings }: { readonly home: string; readonly settings: JsonObject },
  { userHome, cwd, env }: World,
): string {
  const values = [...Object.values(env), ...Object.values(settings)]
  const hosts = values.flatMap((value) => (typeof value === 'string' && URL.parse(value)?.host) || [])
  const plain = text.replaceAll(home, '<home>').replaceAll(cwd, '<folder>').replaceAll(userHome, '~')
  return hosts.reduce((redacted, host) => redacted.replaceAll(host, '<host>'), plain)
}
