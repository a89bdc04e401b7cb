import { expect, test } from 'vitest'

import { html } from './html.ts'

test('values that are put into markup stay text, in content and in attributes', () => {
  const name = `"><script>alert('x')</script>&amp;\u202E`
  expect(html`<a title="${name}">${name}</a>`.markup).toBe(
    String.raw`<a title="&quot;&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;amp;\u202e">&quot;&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;amp;\u202e</a>`,
  )
})

test('markup stays markup, alone and in lists', () => {
  const rows = [1, 2].map((number) => html`<b>${number}</b>`)
  expect(html`<p>${rows}${html`<i>&</i>`}</p>`.markup).toBe('<p><b>1</b><b>2</b><i>&</i></p>')
})
