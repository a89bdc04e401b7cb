import type { Settings } from './settings-shape.ts'

// Where requests go, and whether keys may go there. An address that only a project names gets none of the user's keys.

export interface Endpoint {
  readonly url: string
  readonly mayCarryKeys: boolean
}

export interface EndpointChoices {
  /** --base-url. */
  readonly flag?: string | undefined
  /** PALIMPSEST_BASE_URL, otherwise ANTHROPIC_BASE_URL. */
  readonly environment?: string | undefined
  readonly settings: Pick<Settings, 'baseUrl'>
  /** Only the user's own settings: an address in them is the user's choice, even if a project repeats it. */
  readonly userSettings: Pick<Settings, 'baseUrl'>
  /** The provider's own address. */
  readonly standard: string
}

/** Undefined: no address was chosen, so the standard one applies. */
export function chooseEndpoint(choices: EndpointChoices): Endpoint | undefined {
  const { flag, environment, settings, userSettings, standard } = choices
  const chosen = flag ?? environment
  if (chosen !== undefined) return { url: chosen, mayCarryKeys: true }
  if (settings.baseUrl === undefined) return undefined
  const { url, from } = settings.baseUrl
  const known = [standard, ...(userSettings.baseUrl === undefined ? [] : [userSettings.baseUrl.url])]
  return { url, mayCarryKeys: from !== 'project' || known.some((one) => isSameOrigin(one, url)) }
}

function isSameOrigin(a: string, b: string): boolean {
  const [first, second] = [URL.parse(a), URL.parse(b)]
  return first !== null && second !== null && first.origin === second.origin
}
