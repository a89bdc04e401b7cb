// `@path` in an instruction file names another file to read. Ignored in code, where it is only an example. Pure.

/** A path may follow white space or the start of a line; it ends at white space. */
const IMPORT = /(?<=^|\s)@((?:\.{1,2}\/|~\/|\/)?[^\s@`*"'<>|]+)/g
const FENCE = /^ {0,3}(`{3,}|~{3,})/

export function findImports(text: string): readonly string[] {
  const paths: string[] = []
  for (const line of linesOutsideFences(withoutComments(text))) {
    for (const [, path = ''] of withoutCodeSpans(line).matchAll(IMPORT)) {
      const plain = path.replace(/(?<![.,;:!?)\]])[.,;:!?)\]]+$/, '')
      if (plain !== '') paths.push(plain)
    }
  }
  return [...new Set(paths)]
}

/** Comments between blocks are for people. A comment that does not end counts as text. */
export function withoutComments(text: string): string {
  let result = ''
  let at = 0
  for (;;) {
    const open = text.indexOf('<!--', at)
    const close = open === -1 ? -1 : text.indexOf('-->', open + 4)
    if (close === -1) return result + text.slice(at)
    result += text.slice(at, open)
    at = close + 3
  }
}

function linesOutsideFences(text: string): readonly string[] {
  const lines: string[] = []
  let fence: string | undefined
  for (const line of text.split('\n')) {
    const mark = FENCE.exec(line)?.[1]
    if (fence === undefined && mark !== undefined) fence = mark
    else if (fence === undefined) lines.push(line)
    else if (mark !== undefined && mark.startsWith(fence) && line.trim() === mark) fence = undefined
  }
  return lines
}

/** A span ends with as many backticks as it began with; without such an end it is not a span. */
function withoutCodeSpans(line: string): string {
  let result = ''
  let at = 0
  while (at < line.length) {
    const open = line.indexOf('`', at)
    if (open === -1) return result + line.slice(at)
    const ticks = /^`+/.exec(line.slice(open))?.[0] ?? '`'
    const close = closingTicks(line, open + ticks.length, ticks.length)
    result += line.slice(at, open)
    if (close === -1) {
      result += ticks
      at = open + ticks.length
    } else {
      result += ' '
      at = close + ticks.length
    }
  }
  return result
}

function closingTicks(line: string, from: number, length: number): number {
  for (let at = line.indexOf('`', from); at !== -1;) {
    let end = at
    while (line[end] === '`') end++
    if (end - at === length) return at
    at = line.indexOf('`', end)
  }
  return -1
}
