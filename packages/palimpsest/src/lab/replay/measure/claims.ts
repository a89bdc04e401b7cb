import { extractTokens } from './extract.ts'
import { isInBareList, makePage, wholePage, type MadePage, type MadeText } from './sight.ts'
import type { OperationKind } from './tool-call.ts'

/** A statement in a made text that a file was changed. */
export interface Claim {
  readonly path: string
  readonly kind: OperationKind
}

const VERBS: readonly { readonly kind: OperationKind; readonly pattern: RegExp }[] = [
  { kind: 'delete', pattern: /\b(?:deleted|removed)\b/i },
  { kind: 'move', pattern: /\b(?:moved|renamed)\b/i },
  { kind: 'write', pattern: /\b(?:created|wrote|written|added|new files?)\b/i },
  { kind: 'edit', pattern: /\b(?:modified|edited|updated|changed)\b/i },
]

const HEADING = /^\s*(?:#+\s|\*\*)|:\s*$/

interface PlacedClaim extends Claim {
  readonly at: number
}

/** Pages are immutable, so each is read once. */
const claimsByPage = new WeakMap<MadePage, readonly PlacedClaim[]>()

/**
 * A path counts as a claim in a line that says what was done to it, or under such a heading. A stand-in speaks for one tool result and
 * makes no claim about the project; a word list claims nothing either. Honest lists often have one file per line, so those count:
 * precision shows what is wrong in them.
 */
export function claimsOf({ page, start, end }: MadeText): readonly Claim[] {
  if (page.isStandIn) return []
  const claims = claimsByPage.get(page) ?? readClaims(page)
  claimsByPage.set(page, claims)
  return claims.filter(({ at, path }) => at >= start && at + path.length <= end)
}

function readClaims(page: MadePage): PlacedClaim[] {
  const claims: PlacedClaim[] = []
  let heading: OperationKind | undefined
  let start = 0
  for (const line of page.text.split('\n')) {
    const lineStart = start
    start += line.length + 1
    const kind = VERBS.find(({ pattern }) => pattern.test(line))?.kind
    if (HEADING.test(line)) heading = kind
    const said = kind ?? heading
    if (said === undefined) continue
    const alone = wholePage(makePage(line, false))
    for (const token of extractTokens(line))
      if ((token.class === 'path' || token.class === 'file') && !isInBareList(alone, token.at))
        claims.push({ path: token.text, kind: said, at: lineStart + token.at })
  }
  return claims
}
