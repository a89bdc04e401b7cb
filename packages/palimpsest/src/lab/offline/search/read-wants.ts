// What kind of line would answer a question. Questions say this in a few fixed ways.

export interface Wants {
  readonly refusal: boolean
  readonly number: boolean
  readonly definition: boolean
  readonly condition: boolean
  readonly reason: boolean
  readonly fallback: boolean
  readonly computation: boolean
  readonly list: boolean
  readonly tests: boolean
  readonly docs: boolean
}

const SIGNS: { readonly [Want in keyof Wants]: RegExp } = {
  refusal: /\b(?:throws?|thrown|raise[sd]?|errors?|exceptions?|refuse[sd]?|reject(?:s|ed)?|complains?)\b/,
  number:
    /how (?:many|much|long|often|large|big|far|deep|coarse|old|few|high)|at most|at least|maximum|minimum|\blimit|largest|longest|smallest|which (?:status|number|port)|default/,
  definition:
    /which (?:function|class|method|type|file)|\b(?:is|are) [\w\s]* (?:defined|declared|implemented)/,
  condition: /\bwhen\b|\bif\b|condition|under which|which check/,
  reason: /\bwhy\b/,
  fallback: /default|if nothing|not (?:set|given|configured)|unless/,
  computation: /comput|calculat|derived|determined|guess|estimat/,
  list: /\bwhich [\w-]+(?: [\w-]+)?s\b/,
  tests: /\btests?\b|\bspecs?\b/,
  docs: /\bdoc(?:s|umented|umentation)\b|readme/,
}

/** Takes the question in lower case. */
export function readWants(question: string): Wants {
  return {
    refusal: SIGNS.refusal.test(question),
    number: SIGNS.number.test(question),
    definition: SIGNS.definition.test(question),
    condition: SIGNS.condition.test(question),
    reason: SIGNS.reason.test(question),
    fallback: SIGNS.fallback.test(question),
    computation: SIGNS.computation.test(question),
    list: SIGNS.list.test(question),
    tests: SIGNS.tests.test(question),
    docs: SIGNS.docs.test(question),
  }
}
