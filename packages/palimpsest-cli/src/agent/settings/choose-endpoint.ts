import type { Settings } from './settings-shape.ts'

// Where requests go, and whether keys may go there. An address that only a project names gets no key of the user's.

export interface Endpoint {
  readonly url: string
  readonly mayCarryKeys: boolean
}

export interface EndpointChoices {
  /** --base-url. */
  readonly flag?: string | undefined
  /** PALIMPSEST_BASE_URL, else ANTHROPIC_BASE_URL. */
  readonly environment?: string | undefined
  readonly settings: Pick<Settings, 'baseUrl'>
  /** The user's own settings alone: an address that stands there is the user's choice, whoever repeats it. */
  readonly userSettings: Pick<Settings, 'baseUrl'>
  /** The provider's own address. */
  readonly standard: string
}

/** Undefined: nobody named an address; the standard one is meant. */
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
