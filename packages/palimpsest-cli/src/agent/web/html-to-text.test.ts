import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { cases } from '../../../../../test/kit/cases.ts'
import { htmlToText, titleOf } from './html-to-text.ts'

const BASE = new URL('https://example.com/docs/')
const toText = (html: string): string => htmlToText(html, BASE)

describe('HTML as text', () => {
  test('keeps what a reader sees, with headings, lists, tables and links', () => {
    const html = `<!doctype html><html><head><title>T</title><style>p{}</style></head><body>
      <h1>Guide</h1><p>Read   the <a href="intro.html">introduction</a> &amp; <b>go on</b>.</p>
      <ul><li>one</li><li>two</li></ul>
      <table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>
      <pre>  keep
    this</pre><script>if (a < b) alert("</p>")</script><img alt="a cat" src=x>
      <!-- not <p>this</p> --></body></html>`
    expect(toText(html)).toBe(
      '# Guide\n\nRead the introduction (https://example.com/docs/intro.html) & go on.\n\n- one\n- two\n\n| a | b\n\n| 1 | 2\n\n  keep\n    this\n[image: a cat]',
    )
  })

  test.each([
    [
      'a &lt;b&gt; &#65;&#x42; &nbsp;c &unknown; &#0; &#xD800; &toString;',
      'a <b> AB c &unknown; \uFFFD \uFFFD &toString;',
    ],
    ['1 < 2 and 3 > 2', '1 < 2 and 3 > 2'],
    ['<p title="a > b">x</p>', 'x'],
    ['<SCRIPT>x</SCRIPT>y', 'y'],
    ['<script>never closed', ''],
    ['<a href="javascript:alert(1)">x</a><a href="#top">y</a>', 'xy'],
    ['<a href="https://example.com/">https://example.com/</a>', 'https://example.com/'],
    ['İ<script>x</script>y', 'İy'],
    ['<', '<'],
    ['', ''],
  ])('%j', (html, expected) => {
    expect(toText(html)).toBe(expected)
  })

  test('finds the title', () => {
    expect(titleOf('<head><TITLE lang=en> A &amp;\n B </TITLE></head>')).toBe('A & B')
    expect(titleOf('<p>none</p>')).toBeUndefined()
  })

  test.each([
    [
      'tags that stay open',
      `${'<b>'.repeat(2_500)}a<i>b</i><script>c</script> <pre>d\n  e</pre>`,
      'ab\nd\n  e',
    ],
    ['tags in what is not shown', `<svg>${'<g>'.repeat(2_500)}</svg>a`, 'a'],
    ['implied tags', `${'<b>'.repeat(1_000)}</p>a${'<b>'.repeat(999)}</br>b`, 'a\nb'],
    ['tags in links', `<a href="x">${'<b>'.repeat(1_500)}a</a>`, 'a'],
  ])('reads a page that nests deeper than any real one: %s', (_, html, expected) => {
    expect(toText(html)).toBe(expected)
    expect(titleOf(`${html}<title>T</title>`)).toBe('T')
  })

  test('converting any text ends, and no tag name survives', () => {
    const piece = fc.constantFrom(
      '<',
      '>',
      '<a href=',
      '"',
      "'",
      '<script>',
      '</script>',
      '<!--',
      '-->',
      '<pre>',
      '</pre>',
      'text',
      '&amp;',
      '<p',
      '/',
      '\n',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        expect(toText(pieces.join(''))).not.toMatch(/<script>/)
      }),
      cases(500, 100_000),
    )
  })
})
