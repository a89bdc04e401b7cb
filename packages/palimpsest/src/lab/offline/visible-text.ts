/** The first of Unicode's pictures of control characters. */
const PICTURES_START = 0x2400
const PICTURED_MAX = 0x1f

/** Foreign text that is safe to show: nothing in it can move the cursor, color the screen or turn the direction of writing. */
export function visibleText(text: string): string {
  return text.replace(/\r\n?/g, '\n').replace(/\p{Cc}|\p{Bidi_Control}/gu, toVisible)
}

function toVisible(character: string): string {
  if (character === '\t' || character === '\n') return character
  const code = character.charCodeAt(0)
  return code <= PICTURED_MAX ? String.fromCharCode(PICTURES_START + code) : '\ufffd'
}
