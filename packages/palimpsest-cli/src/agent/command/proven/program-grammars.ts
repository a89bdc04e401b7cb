import type { ArgumentGrammar } from './argument-grammar.ts'

// Programs that only read, whatever the files contain, with the options that are known to keep it so. Left out on purpose: every option
// that writes, runs, follows links or reads file names from a file; awk, sed, jq and every interpreter, since nobody can prove their
// programs.

const FILES = { rest: 'file' } as const
const NOTHING: ArgumentGrammar = { operandsMax: 0 }
const COUNT = { n: 'number', c: 'number' } as const

const SUMS: ArgumentGrammar = {
  flags: 'btz',
  long: { tag: 'flag', binary: 'flag', text: 'flag', zero: 'flag' },
  ...FILES,
}

const GREP: ArgumentGrammar = {
  flags: 'abcEFGHhiIlLnoqPrsTUvwxyzZ',
  values: { A: 'number', B: 'number', C: 'number', m: 'number', e: 'text', f: 'regular' },
  numeric: 'C',
  long: {
    'ignore-case': 'flag',
    'no-ignore-case': 'flag',
    'line-number': 'flag',
    'with-filename': 'flag',
    'no-filename': 'flag',
    'files-with-matches': 'flag',
    'files-without-match': 'flag',
    'invert-match': 'flag',
    'word-regexp': 'flag',
    'line-regexp': 'flag',
    'only-matching': 'flag',
    'extended-regexp': 'flag',
    'fixed-strings': 'flag',
    'basic-regexp': 'flag',
    'perl-regexp': 'flag',
    recursive: 'flag',
    count: 'flag',
    quiet: 'flag',
    silent: 'flag',
    text: 'flag',
    null: 'flag',
    'no-messages': 'flag',
    'byte-offset': 'flag',
    'max-count': 'number',
    'after-context': 'number',
    'before-context': 'number',
    context: 'number',
    regexp: 'text',
    file: 'regular',
    include: 'text',
    exclude: 'text',
    'exclude-dir': 'text',
    'exclude-from': 'regular',
    'binary-files': 'word',
    color: 'word?',
    colour: 'word?',
    label: 'text',
  },
  first: ['text'],
  instead: ['e', 'f', 'regexp', 'file'],
  ...FILES,
}

const RIPGREP: ArgumentGrammar = {
  flags: 'nNilcvwsSxoUFPHIahpq0u.',
  values: {
    ...{ A: 'number', B: 'number', C: 'number', m: 'number', M: 'number', d: 'number' },
    ...{ e: 'text', g: 'text', t: 'word', T: 'word', r: 'text', f: 'regular' },
  },
  long: {
    ...flags(`line-number no-line-number ignore-case smart-case case-sensitive files-with-matches files-without-match files count
      count-matches invert-match word-regexp line-regexp only-matching multiline multiline-dotall fixed-strings pcre2 hidden no-ignore
      no-ignore-vcs no-heading heading with-filename no-filename column stats json trim text null vimgrep type-list no-messages passthru
      pretty quiet version`),
    ...all('after-context before-context context max-count max-columns max-depth max-filesize', 'number'),
    ...all('regexp glob iglob replace', 'text'),
    ...all('type type-not sort sortr color', 'word'),
  },
  first: ['text'],
  instead: ['e', 'f', 'regexp', 'files', 'type-list', 'version'],
  always: ['--no-config'],
  ...FILES,
}

const GRAMMARS = new Map<string, ArgumentGrammar>([
  [
    'cat',
    {
      flags: 'AbeEnstTuv',
      long: flags('number number-nonblank show-all show-ends show-tabs squeeze-blank'),
      ...FILES,
    },
  ],
  [
    'head',
    {
      flags: 'qvz',
      values: COUNT,
      numeric: 'n',
      long: { ...all('lines bytes', 'number'), ...flags('quiet verbose') },
      ...FILES,
    },
  ],
  [
    'tail',
    {
      flags: 'qvz',
      values: COUNT,
      numeric: 'n',
      long: { ...all('lines bytes', 'number'), ...flags('quiet verbose') },
      ...FILES,
    },
  ],
  ['wc', { flags: 'clmLw', long: flags('lines words chars bytes max-line-length'), ...FILES }],
  [
    'nl',
    {
      flags: 'p',
      values: { b: 'word', n: 'word', w: 'number', s: 'text', v: 'number', i: 'number' },
      ...FILES,
    },
  ],
  ['tac', { flags: 'b', values: { s: 'text' }, ...FILES }],
  ['rev', FILES],
  [
    'cut',
    {
      flags: 'sz',
      values: { b: 'word', c: 'word', f: 'word', d: 'text' },
      long: {
        complement: 'flag',
        'only-delimited': 'flag',
        'output-delimiter': 'text',
        delimiter: 'text',
        fields: 'word',
        characters: 'word',
        bytes: 'word',
      },
      ...FILES,
    },
  ],
  ['paste', { flags: 'sz', values: { d: 'text' }, long: { serial: 'flag', delimiters: 'text' }, ...FILES }],
  [
    'tr',
    {
      flags: 'cCdst',
      long: flags('complement delete squeeze-repeats truncate-set1'),
      rest: 'text',
      operandsMax: 2,
      operandsMin: 1,
    },
  ],
  ['fold', { flags: 'bs', values: { w: 'number' }, ...FILES }],
  ['fmt', { flags: 'cstu', values: { w: 'number' }, ...FILES }],
  ['expand', { flags: 'i', values: { t: 'word' }, ...FILES }],
  ['unexpand', { flags: 'a', values: { t: 'word' }, ...FILES }],
  ['column', { flags: 't', values: { s: 'text' }, ...FILES }],
  [
    'comm',
    {
      flags: '123z',
      long: { 'output-delimiter': 'text', 'check-order': 'flag', 'nocheck-order': 'flag' },
      rest: 'regular',
      operandsMax: 2,
      operandsMin: 2,
    },
  ],
  ['cmp', { flags: 'bls', values: { n: 'number' }, rest: 'regular', operandsMax: 2, operandsMin: 2 }],
  [
    'diff',
    {
      flags: 'aBbcdeEiNnpqstTuwy',
      values: { U: 'number', C: 'number', W: 'number' },
      long: {
        ...flags(
          'brief report-identical-files ignore-case ignore-all-space ignore-space-change ignore-blank-lines text side-by-side suppress-common-lines minimal',
        ),
        ...all('unified context width', 'number'),
        color: 'word?',
      },
      // In folders, it compares what their links lead to.
      rest: 'regular',
      operandsMax: 2,
      operandsMin: 2,
    },
  ],
  [
    'ls',
    {
      flags: 'aAbBcCdfFgGhiklmnNopqQrRsStuUvxXZ1',
      values: { I: 'text', w: 'number', T: 'number' },
      long: {
        ...flags(
          'all almost-all author escape directory human-readable inode reverse recursive size group-directories-first no-group numeric-uid-gid classify file-type full-time si',
        ),
        color: 'word?',
        ...all('sort time format indicator-style', 'word'),
        ...all('ignore hide time-style', 'text'),
      },
      ...FILES,
    },
  ],
  [
    'du',
    {
      flags: 'abchkmsSx0',
      values: { d: 'number', t: 'number' },
      long: {
        ...flags('all apparent-size bytes total human-readable summarize separate-dirs one-file-system si'),
        'max-depth': 'number',
        exclude: 'text',
        threshold: 'number',
      },
      ...FILES,
    },
  ],
  ['df', { flags: 'ahHikPT', long: flags('all human-readable inodes portability print-type'), ...FILES }],
  [
    'stat',
    {
      flags: 'ft',
      values: { c: 'text' },
      long: { format: 'text', printf: 'text', terse: 'flag', 'file-system': 'flag' },
      ...FILES,
    },
  ],
  [
    'basename',
    {
      flags: 'az',
      values: { s: 'text' },
      long: { multiple: 'flag', suffix: 'text', zero: 'flag' },
      rest: 'text',
      operandsMin: 1,
    },
  ],
  ['dirname', { flags: 'z', rest: 'text', operandsMin: 1 }],
  ['realpath', { flags: 'eEmqsz', ...FILES }],
  ['readlink', { flags: 'efmnqsvz', ...FILES }],
  ...['md5sum', 'sha1sum', 'sha224sum', 'sha256sum', 'sha384sum', 'sha512sum', 'b2sum'].map(
    (name) => [name, SUMS] as const,
  ),
  ['cksum', FILES],
  [
    'od',
    {
      flags: 'abcdfiloxsv',
      values: { A: 'word', t: 'word', j: 'number', N: 'number', w: 'number' },
      ...FILES,
    },
  ],
  ['hexdump', { flags: 'bcCdovx', values: { n: 'number', s: 'number' }, ...FILES }],
  // A second operand would be written.
  [
    'xxd',
    {
      flags: 'abeiup',
      values: { c: 'number', g: 'number', l: 'number', s: 'number' },
      rest: 'file',
      operandsMax: 1,
    },
  ],
  ['strings', { flags: 'afw', values: { n: 'number', t: 'word', e: 'word' }, ...FILES }],
  ['grep', GREP],
  ['egrep', GREP],
  ['fgrep', GREP],
  ['rg', RIPGREP],
  [
    'sort',
    {
      flags: 'bdfghiMnRrVcCmsuz',
      values: { k: 'word', t: 'text' },
      long: {
        ...flags(
          'reverse numeric-sort general-numeric-sort human-numeric-sort version-sort month-sort random-sort unique ignore-case ignore-leading-blanks dictionary-order ignore-nonprinting stable check merge zero-terminated',
        ),
        key: 'word',
        'field-separator': 'text',
        sort: 'word',
      },
      ...FILES,
    },
  ],
  // A second operand would be written.
  [
    'uniq',
    {
      flags: 'cdDiuz',
      values: { f: 'number', s: 'number', w: 'number' },
      long: {
        ...flags('count repeated unique ignore-case zero-terminated'),
        ...all('skip-fields skip-chars check-chars', 'number'),
      },
      rest: 'file',
      operandsMax: 1,
    },
  ],
  [
    'tree',
    {
      flags: 'adfCpsughDFQNtrUcixnA',
      values: { L: 'number', I: 'text', P: 'text' },
      long: {
        ...flags('dirsfirst filesfirst noreport gitignore prune du si inodes matchdirs ignore-case'),
        filelimit: 'number',
        sort: 'word',
        charset: 'word',
      },
      ...FILES,
    },
  ],
  [
    'file',
    {
      flags: 'bhikN0',
      long: flags('brief mime mime-type mime-encoding keep-going no-dereference'),
      ...FILES,
    },
  ],
  ['uname', { flags: 'asnrvmpio', operandsMax: 0 }],
  ['whoami', NOTHING],
  ['id', { flags: 'ugGnr', operandsMax: 0 }],
  ['nproc', { long: flags('all'), operandsMax: 0 }],
  ['arch', NOTHING],
  ['uptime', { flags: 'ps', operandsMax: 0 }],
  ['free', { flags: 'bkmght', operandsMax: 0 }],
  ['hostname', { flags: 's', operandsMax: 0 }],
  [
    'date',
    {
      // Not every text: `TZ="/x" now` opens the file /x.
      flags: 'uRI',
      values: { d: 'moment' },
      long: { date: 'moment', utc: 'flag', 'rfc-3339': 'word', 'iso-8601': 'word?' },
      rest: 'format',
      operandsMax: 1,
    },
  ],
  ['seq', { flags: 'w', values: { s: 'text' }, rest: 'number', operandsMax: 3, operandsMin: 1 }],
  ['sleep', { rest: 'number', operandsMax: 1, operandsMin: 1 }],
  ['which', { flags: 'a', rest: 'word' }],
  ['pwd', { flags: 'LP', operandsMax: 0 }],
])

export function findGrammar(name: string): ArgumentGrammar | undefined {
  return GRAMMARS.get(name)
}

function flags(names: string): { readonly [name: string]: 'flag' } {
  return all(names, 'flag')
}

function all<const K extends string>(names: string, kind: K): { readonly [name: string]: K } {
  return Object.fromEntries(
    names
      .trim()
      .split(/\s+/)
      .map((name) => [name, kind]),
  )
}
