import { join } from 'node:path'

import { listSessions, readPlainText } from 'palimpsest/node'
import { isJsonObject, type Json, type JsonObject } from 'palimpsest/wire'

import { parseJsonText } from '../agent/settings/json-text.ts'
import { SETTINGS_SHAPE } from '../agent/settings/settings-shape.ts'
import { toJson } from '../agent/settings/shape.ts'
import type { World } from '../world.ts'
import type { Finding } from './finding.ts'

// A file to send with a report: what is configured, and how large things are. No content of conversations, no keys.

/** Variables whose values may be shown; all others only show that they are set. */
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
    settings: settings.outline,
    findings: findings.map((finding) => ({
      ...finding,
      text: withoutPlaces(finding.text, { home: about.home, settings: settings.values }, world),
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

interface OwnSettings {
  readonly values: JsonObject
  /** What may be shown of them. */
  readonly outline: Json
}

async function readOwnSettings(home: string): Promise<OwnSettings> {
  try {
    const node = parseJsonText(await readPlainText(join(home, 'settings.json')))
    const values = toJson(node)
    return isJsonObject(values) ? { values, outline: SETTINGS_SHAPE.outline(node) } : NO_SETTINGS
  } catch {
    // The findings say what is wrong with the file; the outline is then empty.
    return NO_SETTINGS
  }
}

const NO_SETTINGS: OwnSettings = { values: {}, outline: {} }

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
