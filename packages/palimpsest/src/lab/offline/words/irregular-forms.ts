// Forms that the rules of `stem` get wrong.

/** Groups of a word and its forms. */
const FORMS = `
write wrote written | throw threw thrown | freeze froze frozen | send sent | keep kept | hold held | break broke broken
choose chose chosen choice | take took taken | give gave given | build built | lose lost loss | make made | run ran | begin began begun
tell told | see saw seen | know knew known | grow grew grown growth | lead led | mean meant | spend spent | pay paid payment | say said
get got gotten | fall fell fallen | hide hid hidden | steal stole stolen | think thought | understand understood
wake woke woken | forbid forbade forbidden | forget forgot forgotten | go went gone | come came | draw drew drawn | drive drove driven
feed fed | hear heard | hang hung | meet met | rise rose risen | sell sold | shrink shrank shrunk | speak spoke spoken | stand stood
stick stuck | tear tore torn | catch caught | buy bought | bring brought | seek sought | teach taught
index indices | child children | alias aliases | subscribe subscription | describe description | resolve resolution
permit permission | decide decision | divide division | convert conversion | extend extension | exceed excess
compare comparison comparator | receive reception receipt | omit omission | emit emission | expand expansion | include inclusion
exclude exclusion | collide collision | submit submission | repeat repetition | acquire acquisition | apply application
identify identification | specify specification | verify verification | modify modification | notify notification
classify classification | simplify simplification | multiply multiplication | respond response | register registration
recover recovery | deliver delivery | operate operation operator | iterate iterator | generate generator | separate separator
translate translator | consume consumption | produce production | use used using usage | close closure | deny denial | expire expiry
store storage | concurrent concurrency concurrently | consistent consistency | frequent frequency | depend dependency
persist persistence persistent | add addition additional | serial serialize serializer serialization serialized | percent percentage
long length longer longest | deep depth deeper | wide width | high height | strong strength | old older oldest | new newer newest
large larger largest | big bigger biggest | small smaller smallest | short shorter shortest | early earlier earliest | late later
least less fewer | true truthy | false falsy | analyse analyze analysis | valid validator validity | sign signature
number numeric numerical | sequence sequential | identical identity | min minimum minimal | max maximum maximal | error erroneous`

export const IRREGULAR_FORMS: ReadonlyMap<string, string> = new Map(
  FORMS.split(/[|\n]/).flatMap((group) => {
    const [word = '', ...forms] = group.trim().split(' ')
    return forms.map((form): [string, string] => [form, word])
  }),
)

/** Words that look like a form of another word but are not. */
export const WHOLE_WORDS: ReadonlySet<string> = new Set(
  (
    'header timer number buffer filter letter character parameter integer server layer answer order user folder trigger register ' +
    'pointer counter error never over under other whether former inner outer upper lower render consider remember recover deliver ' +
    'discover cover monitor vector factor author color mirror center enter refer prefer defer transfer super proper paper offer ' +
    'matter master cluster adapter chapter'
  ).split(' '),
)
