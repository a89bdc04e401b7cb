/** Who asks, as in a header and on the bill: `fork`, or the name of a type. */
export function agentSource(name: string): `subagent:${string}` {
  return `subagent:${name.replaceAll(/[^\w.-]/g, '-')}`
}
