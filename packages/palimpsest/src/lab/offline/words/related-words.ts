import { stem } from './stem.ts'

// Words that stand for one another between a question and code: long and short forms, everyday and technical words.

/** Groups of words that mean the same in code. */
const SAME_MEANING = `
error err exception failure fault fail | max maximum most upper ceiling cap largest biggest greatest longest limit highest bound
min minimum least lower floor smallest shortest lowest | config configuration configure setting option preference settings opts
argument arg param parameter | string str text | number num numeric figure count | array list arr sequence
object obj record dictionary | function func fn callback handler procedure method routine | message msg text wording | value val
index idx position pos | length len size long | character char letter | directory dir folder | temporary temp tmp
previous prev earlier former last prior | current cur present | initialize init initial initialise start begin
constructor ctor construct new | delete remove del drop erase discard strip unset clear take | environment env | request req
response res reply answer resp | context ctx | source src origin | destination dst dest target | reference ref link pointer
attribute attr property prop field | element elem el item entry member | document doc | expression expr | database db
address addr | connection conn socket line link | authentication auth credential authorization login secret password token
synchronous sync | asynchronous async | information info | buffer buf chunk bytes | issue problem error | utility util
calculate compute calc derive determine | milliseconds ms | seconds secs sec | timestamp time date clock moment
regex regexp pattern | iterator iter iteration loop | repository repo | package pkg | process proc pid | statistics stats
specification spec | generate gen generator produce create build make | escape esc | accumulate acc sum total aggregate
implementation impl | definition def define | guess heuristic | coarse granularity resolution precision | callback cb
original orig | version ver | maximum ceiling | column col | command cmd | control ctrl | duration elapsed interval period
memory mem | operation op | picture image img | priority prio | quantity qty | receive recv | separator sep delimiter
sequence seq | signature sig | standard std | system sys | table tbl | transaction tx | window win | optional opt`

/** Each group: a word that people say, then what code may call it. */
const OFTEN_MEANT = `
throw raise reject refuse abort fail error | reject refuse deny disallow forbid invalid illegal prohibit ban block bad unsupported
refuse reject deny disallow forbid invalid throw error bad | forbid disallow ban deny reject block | allow permit accept valid legal enable
ignore skip omit suppress leave exclude | skip omit pass ignore continue | wait delay sleep pause idle defer backoff debounce hold
timeout deadline expire expiry late limit | retry again repeat attempt redo | repeat duplicate twice same again | attempt try times
close end shut terminate finish stop destroy dispose teardown | end finish complete done final stop last close
cancel abort interrupt stop unsubscribe kill | cleanup teardown finalize dispose release free unsubscribe finalizer
open start begin connect establish create | start begin first initial | store save keep persist cache remember write put retain hold
cache memo memoize remember store | load read fetch get retrieve obtain import | fetch download get retrieve | download fetch response body
read parse load | write save output emit print store flush | send emit transmit write dispatch post push deliver | upload body send
receive accept get incoming | parse read decode interpret analyse | decode decompress unpack inflate
encode serialize stringify escape compress | serialize stringify marshal dump encode | compress deflate gzip zip shrink
convert transform translate map cast coerce change | change modify update mutate alter edit replace transform | update refresh renew
replace substitute swap overwrite exchange | merge combine join concat union | combine merge join concat | split divide separate partition
copy clone duplicate | compare equal equality same match differ comparator | equal same identical match | differ different mismatch
check validate verify test assert ensure guard | validate check verify valid | fit match satisfy valid | search find lookup query locate
find locate lookup search detect | choose select pick decide | decide choose determine | sort order compare rank | order sequence sort
filter select exclude | count number size total tally | measure size length count estimate | estimate guess approximate heuristic
limit max bound cap threshold quota restrict | threshold limit | restrict limit constrain allow
exceed over above larger greater beyond overflow | overflow exceed long large | surplus excess extra remaining beyond past
extra additional surplus unknown unrecognized | truncate cut shorten slice trim | trim strip cut | pad padding fill
blank space whitespace empty | empty blank none nothing null void undefined | nothing empty null undefined none nil void
missing absent undefined null lost | unknown unrecognized undefined other | default fallback initial otherwise
fallback default alternative | alternative option variant union choice | optional maybe nullable undefined
required mandatory need must | hide mask redact conceal | mask hide redact | secret credential token key password authorization cookie
credential authorization cookie password token | user caller client consumer | consumer subscriber observer listener client reader
listener handler observer subscriber callback | notify emit signal inform | subscribe listen observe
server host remote peer upstream origin | peer remote server other | client agent caller | host origin domain site hostname
site origin host domain | redirect location forward follow | proxy tunnel | tunnel connect proxy | header field
field property key attribute header | key name property field | name identifier label title | identifier id name
unique distinct duplicate | body content payload data entity | content body payload | payload body data | size length bytes
byte buffer octet | stream flow pipe | queue pending backlog buffer | pending queue waiting outstanding
concurrent parallel simultaneous active | parallel concurrent side together | thread worker | lock mutex exclusive
share common global | global shared | settings config | version revision | resume continue restart | continue proceed resume
interrupt break abort | break interrupt cut | broken invalid corrupt | corrupt damaged broken torn | damage corrupt broken torn
repair fix mend restore recover | restore recover undo | undo revert rollback | reset clear restart initial | forget reset clear
fresh new recent stale | freshness stale age lifetime | stale expired old outdated | old stale previous earlier expired
lifetime ttl expiry age | age old lifetime | recent latest last newest | newest latest last recent | latest last newest
early premature soon | late delayed after | print log output display show | show display render print | log print trace record
report log show describe | describe explain format | format shape pattern layout | human readable pretty | pretty format readable
translation locale language | language locale | nested deep depth recursive inner | deep depth nested recursive
recursion recursive cycle depth | cycle circular loop recursive | loop cycle circular repeat | inherit prototype extend parent
prototype proto inherit | parent ancestor super | child nested inner | inner nested child inside | outer parent enclosing
outside outer beyond external | external outside remote foreign | symlink symbolic link | hash digest checksum | checksum hash digest mod
sign signature | random nonce seed | image picture media | picture image | price cost charge tariff fee expensive tier
cost price charge | dear expensive price | step tier boundary threshold | tier step level | unused idle free inactive
idle unused inactive | reuse keepalive | ping heartbeat | pong reply ping | frame packet | newline linebreak lf crlf
status code | exit code | signal abort | warning notice warn | decimal float fraction | fraction decimal float
rounding epsilon tolerance precision | remainder modulo rest multiple | boolean bool flag | flag switch toggle boolean
enum constant literal | plane unicode surrogate codepoint | unicode codepoint utf | eval dynamic | dynamic runtime
virtual simulated fake mock | simulate virtual fake mock | schedule plan queue timer delay | planned scheduled
infinite endless infinity forever never | endless infinity infinite | never infinite | hostile malicious untrusted attack
attack hostile unsafe | flood overwhelm pressure drain | backpressure drain pause | abandon cancel unsubscribe drop
emit next push output | unhandled uncaught | uncaught unhandled | several multiple many | multiple several many
together combine aggregate all | program process command tool | tool command function | run execute call invoke perform
call invoke run execute | execute run perform | ask request query prompt | question ask query | tell inform report message
told message | see shown visible | model assistant | conversation session transcript chat | session conversation
transcript log conversation | disk file storage | storage disk store | room space | weight factor | ratio factor share percent
percent percentage ratio | add append push insert | append push add | insert add put | register add subscribe | hang stall stuck
stall hang idle | bank iban | credit card | day date | year date | month date | country locale region | phone tel number
mail email | email mail | network net connection | resolve lookup dns | encrypt cipher tls | secure tls https ssl
certificate cert tls | upgrade switch | handshake connect upgrade | crash panic overflow | guard protect prevent check
prevent guard protect avoid stop | avoid prevent skip | protect guard safe | safe guard secure | cookie header | escape quote encode
quote escape | uppercase capital | lowercase lower | letter character | digit number | word token | sentence text | line row
column row | page offset limit | table row column | tree node branch | leaf node | root top base | path file folder
extension suffix | prefix start head | suffix end tail | begin head start | head first front | tail last rest | middle center
average mean | distance gap length | speed rate | rate limit frequency | often frequency interval times | clock time now
wake notify resume | sleep wait delay | owner holder pid | hold own lock | belong owner parent | permission access allow
access permission read | trust verify allow | deadline timeout expire | budget limit quota cost | spend cost budget | free release
leak release dispose | test assert expect check | fake mock stub | example sample | sample example | measure benchmark
fold reduce collapse | summary digest compact | shorten truncate compact | recover resume restore | lose drop missing
explain describe reason | reason cause why | cause reason | purpose reason | rule policy | policy rule strategy | strategy policy
choose pick select | vote choose | win first priority | tie equal | prefer priority first | priority order rank
unknown undefined | null undefined | exist has | inside within contains | contain include has | include contain has
between range | range min max between | above over greater | below under less | increase grow increment add | decrease shrink decrement
double multiply twice | half divide | zero empty none | first head initial | second next | final last end | once single
again retry repeat | always every | sometimes maybe | twice duplicate double | side edge | edge boundary | corner edge`

/** How near two words are. */
export type Nearness = 'same' | 'meant'

const RELATED = readGroups()

/** Stems that may stand for a stem, with how near they are. */
export function relatedStems(key: string): ReadonlyMap<string, Nearness> {
  return RELATED.get(key) ?? NONE
}

const NONE: ReadonlyMap<string, Nearness> = new Map()

function readGroups(): ReadonlyMap<string, ReadonlyMap<string, Nearness>> {
  const related = new Map<string, Map<string, Nearness>>()
  const link = (from: string, to: string, nearness: Nearness): void => {
    if (from === to) return
    const near = related.get(from) ?? new Map<string, Nearness>()
    if (!near.has(to)) near.set(to, nearness)
    related.set(from, near)
  }
  for (const group of groups(SAME_MEANING))
    for (const from of group) for (const to of group) link(from, to, 'same')
  for (const [head = '', ...rest] of groups(OFTEN_MEANT)) for (const to of rest) link(head, to, 'meant')
  return related
}

function groups(text: string): readonly (readonly string[])[] {
  return text.split(/[|\n]/).map((group) => [...new Set(group.trim().split(/\s+/).map(stem))])
}
