import type { Act, Trace } from 'palimpsest/replay'

import { html, NO_MARKUP, type Html } from './html.ts'

// One strategy's requests through one session, as an area that stretches to fit: all labels are outside it.

const HEIGHT = 100
/** Height of an edit's tick, in the units of `HEIGHT`. */
const EDIT_TICK = 12

export interface ContextPanel {
  readonly trace: Trace
  readonly window: number
  /** Drawn large. */
  readonly isMain: boolean
}

export function drawContext({ trace, window, isMain }: ContextPanel): Html {
  const { strategy, requests } = trace
  const count = (act: Act): number => requests.filter((request) => request.act === act).length
  const [edits, compactions] = [count('edit'), count('compaction')]
  const peak = Math.max(...requests.map(({ promptTokens }) => promptTokens))
  const told = [
    `peak ${thousands(peak)}`,
    ...(edits > 0 ? [plural(edits, 'edit')] : []),
    ...(compactions > 0 ? [plural(compactions, 'compaction')] : []),
  ].join(' · ')
  return html`<figure class="panel${isMain ? ' wide' : ''}">
    <header><span class="${isMain ? 'own' : ''}">${strategy}</span><span>${told}</span></header>
    <svg
      viewBox="0 0 ${requests.length} ${HEIGHT}"
      preserveAspectRatio="none"
      role="img"
      aria-label="Size of each request with ${strategy}: ${told}"
    >
      <path class="area" d="${areaOf(trace, window)}" />
      ${marks('cuts', marksAt(trace, 'compaction', `0V${HEIGHT}`))}
      ${marks('edits', marksAt(trace, 'edit', `${HEIGHT}v-${EDIT_TICK}`))}
    </svg>
    ${isMain ? html`<div class="ends"><span>step 1</span><span>${thousands(window)} at the top</span><span>step ${requests.length}</span></div>` : NO_MARKUP}
  </figure>`
}

/** Stairs: each request is one unit wide. A request larger than the window is cut off at the top. */
function areaOf({ requests }: Trace, window: number): string {
  const stairs = requests.map(({ promptTokens }, step) => {
    const height = Math.min(1, promptTokens / window) * HEIGHT
    return `V${Number((HEIGHT - height).toFixed(1))}H${step + 1}`
  })
  return `M0 ${HEIGHT}${stairs.join('')}V${HEIGHT}Z`
}

function marksAt({ requests }: Trace, act: Act, stroke: string): string {
  return requests
    .filter((request) => request.act === act)
    .map(({ step }) => `M${step} ${stroke}`)
    .join('')
}

function marks(kind: string, path: string): Html {
  return path === '' ? NO_MARKUP : html`<path class="${kind}" d="${path}" />`
}

function plural(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}

function thousands(tokens: number): string {
  return `${Math.round(tokens / 1000)}K`
}
