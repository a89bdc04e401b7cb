// Words that say nothing about what is wanted.

const ENGLISH = `a about above after again all also am an and any are as at be because been before being both but by can could did do does doing
done down each few for from further get gets getting go goes going got had has have having he her here hers him his how i if in into is it its itself
just like me might more most my no nor not now of off on once only or other our out over own same she should so some such than that the their
them then there these they this those through to too under until up us very was we were what when where which while who whom why will with would
you your s t d ll re ve m don didn doesn isn wasn won let`

/** What agents say before every call, whatever it is about. */
const AGENT_TALK = `actually also check checking confirm continue currently ensure exactly exists existing first fix good great instead look looking
looks make makes maybe me need needs next okay ok perfect please quick quickly really right see seems shall show start still sure take think try
understand update use used uses using verify want well work works yes yet`

export const STOP_WORDS: ReadonlySet<string> = new Set(`${ENGLISH} ${AGENT_TALK}`.split(/\s+/))
