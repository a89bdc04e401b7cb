/** The words of an identifier in lower case: `keepAliveTimeout`, `KEEP_ALIVE`, `keep-alive` → keep, alive, … */
export function splitIdentifier(identifier: string): readonly string[] {
  return identifier
    .replace(/IPv([46])/g, 'Ipv$1')
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/(?<=[A-Z])(?=[A-Z][a-z])/g, ' ')
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== '')
    .map((word) => word.toLowerCase())
}
