/** The first bytes of a text, cut at a line end if there is one, never inside a character. */
export function previewOf(text: string, bytesMax: number): string {
  const head = headOf(text, bytesMax)
  if (head.length === text.length) return head
  const lineEnd = head.lastIndexOf('\n')
  return lineEnd > 0 ? head.slice(0, lineEnd) : head
}

function headOf(text: string, bytesMax: number): string {
  let bytes = 0
  let end = 0
  for (const character of text.slice(0, bytesMax)) {
    bytes += bytesOf(character.codePointAt(0) ?? 0)
    if (bytes > bytesMax) break
    end += character.length
  }
  return text.slice(0, end)
}

function bytesOf(code: number): number {
  if (code < 0x80) return 1
  if (code < 0x800) return 2
  return code < 0x10000 ? 3 : 4
}
