const DECLARES =
  /\b(?:function|func|fn|def|class|interface|type|struct|enum|trait|impl|const|let|var|export|public|private|module|package|describe|test|it)\b|^#{1,6} \S/
const SCANNED_CHARS_MAX = 4_000
const LINE_CHARS_MIN = 8
const LINE_CHARS_MAX = 120

/** The line of a piece of code that tells best which one it is: the first that declares something, else the first of some length. */
export function tellingCode(text: string): string | undefined {
  const lines = text
    .slice(0, SCANNED_CHARS_MAX)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.length >= LINE_CHARS_MIN)
  const telling = lines.find((line) => DECLARES.test(line)) ?? lines[0]
  return telling?.slice(0, LINE_CHARS_MAX)
}
