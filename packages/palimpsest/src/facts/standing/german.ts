import { wordSet, type Form, type Language } from './language.ts'

/** "Pushe nicht", "Fass die Datei nicht an": the verb comes first and has no subject. The word after it distinguishes it from a noun. */
const VERB_FIRST =
  /^ (?!der|die|das|den|dem|ein|eine|einen|es|er|sie|ich|du|wir|ihr|man|wer|was|wie|wo|warum|wann|weil|wenn|dass|ob|als|da|dann|hier|dort|so|auch|noch|schon|leider|bisher|jetzt|manchmal|oft|ist|sind|war|hat|haben|kann|muss|soll|darf|wird|geht|gibt|funktioniert|läuft|klappt|stimmt|passt|kommt|scheint|alle|jede|jeder|jedes|kein|keine|nichts|nicht|nie|niemals)\S+ (?:bitte |mir |uns )?(?:der|die|das|den|dem|des|ein|eine|einen|einem|mein|meine|meinen|dein|deine|deinen|unser|unsere|diese|diesen|dieses|nichts|nicht|nie|niemals|kein|keine|keinen|keinerlei|auf|an|in|im|zu|am|ins|mit|von|aus|etwas|alles|alle|jede|jeden|jedes|direkt|sonst|mich|vor|nach|immer|stets|lieber|nur|[^\s/]*\/\S*|[^\s.]+\.\S+) /
const NEGATION = / (?:nicht|nichts|nie|niemals|kein|keine|keinen|keinem|keiner|keinerlei) /

const LASTS =
  / (?:immer|stets|jedes mal|ab (?:jetzt|sofort|nun)|von (?:jetzt|nun) an|künftig|in zukunft|grundsätzlich|nach jeder|nach jedem|vor jeder|vor jedem|bei jeder|bei jedem|für jede|für jeden|für jedes|bevor du|solange|sobald du) /

const FORMS: readonly Form[] = [
  // The verb first, or last and in the infinitive: "nie direkt auf main pushen".
  { kind: 'prohibition', is: VERB_FIRST, isNot: /^ (?:\S+ ){1,3}(?:ist|sind|war|hat) /, needs: [NEGATION] },
  {
    kind: 'prohibition',
    is: /^ (?:auf keinen fall|unter keinen umständen|niemals|nie|nicht|nichts|kein|keine|keinen|keinerlei|(?:erst mal|erstmal|vorerst|zunächst) (?:nichts|nicht|kein|keine|keinen)) (?:\S+ ){0,12}\S+(?:en|ern|eln|machen|tun) $/,
    isNot: /^ (?:nicht|nie) ge\S+en $/,
  },
  {
    kind: 'prohibition',
    is: /^ (?:kein|keine|keinen|keinerlei) (?:neue|neuen|weiteren?|zusätzlichen?) (?:\S+ ){1,4}$/,
  },
  // A duty, addressed to "du".
  {
    kind: 'prohibition',
    is: / (?:du|sie|ihr) (?:darfst|dürfen|dürft|sollst|sollen|sollt|solltest) (?:\S+ ){0,10}(?:nicht|nichts|nie|niemals|kein|keine|keinen) | (?:darfst|sollst|solltest) du (?:\S+ ){0,10}(?:nicht|nichts|nie|niemals|kein|keine|keinen) /,
  },
  {
    kind: 'prohibition',
    is: / (?:ich will|ich möchte|wir wollen|ich mag) (?:auf keinen fall |nicht |nie |keine |keinen |kein )(?:\S+ )/,
    isNot: / (?:ich will|ich möchte) nicht wissen /,
  },
  // Out of bounds.
  {
    kind: 'prohibition',
    is: /^ (?:finger|hände) weg | (?:ist|sind|bleibt|bleiben) (?:tabu|verboten|gesperrt) /,
  },
  { kind: 'prohibition', is: /^ (?:vermeide|vermeiden sie|unterlass|unterlasse|lass die finger von) / },
  // What lasts, as a command: the verb first, or after the adverb ("ab jetzt schreibst du").
  {
    kind: 'obligation',
    is: / \S+st du | (?:musst|sollst) du /,
    isNot: / (?:kannst|darfst|hast|bist|willst) du /,
    needs: [LASTS],
  },
  { kind: 'obligation', is: VERB_FIRST, needs: [LASTS] },
  { kind: 'obligation', is: /^ (?:immer|stets|grundsätzlich) (?:\S+ ){0,12}\S+(?:en|ern|eln) $/ },
  {
    kind: 'obligation',
    is: /^ (?:nach|vor|bei) (?:jeder|jedem) (?:\S+ ){1,3}(?:laufen|kommt|kommen|wird|werden|läuft|muss|müssen) /,
  },
  { kind: 'obligation', is: /^ du (?:musst|sollst) (?!nicht|doch|mal)/ },
  {
    kind: 'preference',
    is: /^ (?:ich (?:bevorzuge|mag lieber|hätte lieber|will lieber|möchte lieber)|mir ist lieber) /,
  },
  {
    kind: 'constraint',
    is: /^ (?:benutze|verwende|nimm|nutze|ändere|bearbeite) (?:\S+ ){0,4}(?:nur|ausschließlich) /,
  },
  // "Comments in English, the screens in German": the language to write in, without a verb.
  {
    kind: 'constraint',
    is: /^ (?:kommentare|commits?|commit-\S+|nachrichten|antworten|code|texte) (?:bitte )?(?:nur |immer )?(?:auf|in) \S+ $/,
  },
]

export const GERMAN: Language = {
  common: wordSet(
    'der die das und ist ich du wir ein eine einen den dem zu im auf mit für bitte wenn es nicht nichts keine kein von mehr was oder auch erst mal jetzt wieder darfst danke dann alles',
  ),
  joints: { conjunction: / (?:und|aber|oder|sondern) / },
  opener:
    /^ (?:bitte|also|und|aber|ok|okay|ja|gut|jetzt|nun|dann|so|danke|außerdem|ab (?:jetzt|sofort|nun)(?= (?:bitte |nicht |nie |kein))|von nun an(?= (?:bitte |nicht |nie |kein))|bis auf weiteres|nein(?= \S+ )) /,
  asks: /^ (?:warum|wieso|weshalb|wie|was|wer|wo|wann|kannst|könntest|kann|soll|sollen|ist|sind|hat|haben|gibt) /,
  subject: /^ (?:ich|wir|sie|die|der|das|ein|eine|mein|meine|unser|unsere|alle|tests) /,
  forms: FORMS,
  noCommand:
    /^ (?:ich|du|er|sie|es|wir|ihr|man|der|die|das|den|dem|ein|eine|einen|kein|keine|keinen|nicht|nichts|nie|niemals|ist|sind|war|hat|haben|wenn|weil|dass|ob|was|wie|warum) /,
  permits: [
    // A permission for "du", now or again.
    / (?:du (?:darfst|kannst|musst)|(?:darfst|kannst|musst) du) (?:\S+ ){0,20}(?:jetzt|nun|wieder|doch|ab sofort|nicht mehr) /,
    / (?:jetzt|nun|ab sofort) (?:darfst|kannst) du /,
    /^ (?:es|das) ist (?:jetzt |nun |wieder )?(?:in ordnung|ok|okay|erlaubt) | (?:ist|sind) (?:jetzt |nun )?wieder (?:erlaubt|frei|ok|okay) /,
    /^ (?:vergiss|ignoriere|streiche|lass) (?:was ich|die regel|meine|die anweisung|das verbot|das mit) /,
    /^ (?:vergiss|ignoriere|streiche) $/,
    / (?:regel|verbot|anweisung|einschränkung) (?:\S+ ){0,20}(?:gilt nicht mehr|ist aufgehoben|entfällt) | (?:gilt|gelten) (?:ab jetzt |jetzt )?nicht mehr /,
    / (?:ist|sind) nicht mehr (?:nötig|verboten|tabu|gesperrt) |^ ich nehme (?:\S+ ){1,20}zurück /,
  ],
}
