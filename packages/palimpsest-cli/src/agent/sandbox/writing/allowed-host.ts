import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'

import { isPublicAddress } from '../../web/public-address.ts'

// Which hosts the sandbox can reach: those in the setting `sandbox.network`, and only at a public address. An address of this machine or
// its network can be reached only if the list contains that exact name or address.

export interface HostPort {
  readonly host: string
  readonly port: number
}

export type HostAnswer =
  | { readonly ok: true; readonly address: string }
  | { readonly ok: false; readonly why: string }

/** Ports of an entry that names none: those of the web. */
const USUAL_PORTS = [80, 443]

type LookUp = (host: string) => Promise<readonly { readonly address: string }[]>
const lookUpHere: LookUp = async (host) => await lookup(host, { all: true })

export async function allowedAddress(
  { host, port }: HostPort,
  hosts: readonly string[],
  lookUp: LookUp = lookUpHere,
): Promise<HostAnswer> {
  const name = plainHost(host)
  const fitting = hosts.map(parseHost).filter((listed) => fits(listed, { host: name, port }))
  if (fitting.length === 0) return { ok: false, why: 'it is not in the setting "sandbox.network"' }
  const isNamed = fitting.some((listed) => listed.host === name)
  const addresses = isIP(name) === 0 ? await lookUp(name).catch(() => []) : [{ address: name }]
  const [first] = addresses
  if (first === undefined) return { ok: false, why: 'its name leads nowhere' }
  const bad = addresses.find(
    ({ address }) => !isPublicAddress(address) && !(isNamed && !isLinkLocal(address, name)),
  )
  if (bad !== undefined)
    return { ok: false, why: `${bad.address} is an address of this machine or its network` }
  return { ok: true, address: first.address }
}

/** Clouds keep their machines' secrets at these addresses, so no name may lead there. */
function isLinkLocal(address: string, name: string): boolean {
  return name !== address && /^(169\.254\.|fe[89ab]|fd00:ec2:)/i.test(address)
}

/** Lower case, without a final dot or brackets. */
function plainHost(host: string): string {
  return host
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/(?<!\.)\.+$/, '')
}

/** Parses one entry of the list; a port follows the last colon, unless the entry is an address with colons. */
function parseHost(entry: string): { readonly host: string; readonly ports: readonly number[] } {
  const match = isIP(entry) === 6 ? null : /^(.+):(\d{1,5})$/.exec(entry)
  const host = plainHost(match?.[1] ?? entry)
  return { host, ports: match === null ? USUAL_PORTS : [Number(match[2])] }
}

function fits(listed: ReturnType<typeof parseHost>, { host, port }: HostPort): boolean {
  if (!listed.ports.includes(port)) return false
  // A pattern is for names and never matches an address.
  const isBelow = listed.host.startsWith('*.') && isIP(host) === 0 && host.endsWith(listed.host.slice(1))
  return listed.host === host || isBelow
}

/** What is wrong with an entry of the setting. */
export function hostProblem(entry: string): string | undefined {
  const { host } = parseHost(entry)
  const isName = /^(\*\.)?[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$/.test(host)
  if (isName || isIP(host) !== 0) return undefined
  return 'must be a host such as "packages.example.com" or "*.github.com", with a port if it is not the usual one'
}
