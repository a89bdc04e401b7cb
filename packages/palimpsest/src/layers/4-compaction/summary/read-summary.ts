export interface ReadSummary {
  /** Without the scratchpad and the tags. */
  readonly text: string
  /** A tag is opened and not closed: the answer stopped in the middle. */
  readonly cut: boolean
  readonly empty: boolean
}

const SUMMARY_OPEN = /<summary>/i
const SUMMARY_CLOSE = /<\/summary>/gi

/** The summary in a model's answer. Tags may be missing: then the whole text counts, except for the scratchpad. */
export function readSummary(answer: string): ReadSummary {
  const { rest, cut: analysisCut } = withoutAnalysis(answer)
  const open = SUMMARY_OPEN.exec(rest)
  const inside = open ? rest.slice(open.index + open[0].length) : rest
  const close = [...inside.matchAll(SUMMARY_CLOSE)].at(-1)
  const text = (close ? inside.slice(0, close.index) : inside).trim()
  const cut = analysisCut || (open !== null && close === undefined)
  return { text, cut, empty: text === '' }
}

/** Removes the first scratchpad, from its opening (or from the very start, if only its end is marked) to its end. */
function withoutAnalysis(answer: string): { readonly rest: string; readonly cut: boolean } {
  const open = /<analysis>/i.exec(answer)
  const summary = SUMMARY_OPEN.exec(answer)
  // Inside the summary the word is just a word.
  if (open && summary && summary.index < open.index) return { rest: answer, cut: false }
  const close = /<\/analysis>/i.exec(answer)
  if (close && !(summary && summary.index < close.index))
    return {
      rest: answer.slice(0, open?.index ?? 0) + answer.slice(close.index + close[0].length),
      cut: false,
    }
  if (!open) return { rest: answer, cut: false }
  const end = summary ? summary.index : answer.length
  return { rest: answer.slice(0, open.index) + answer.slice(end), cut: !summary }
}
