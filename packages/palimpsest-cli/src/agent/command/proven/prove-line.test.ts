import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { createWorkbench, type Workbench } from '../../../../../../test/kit/workbench.ts'
import { resolveProof } from '../../permissions/resolve-proof.ts'
import { proveLine } from './prove-line.ts'

let bench: Workbench
beforeAll(async () => {
  bench = await createWorkbench()
  for (const folder of ['src', 'a b']) mkdirSync(join(bench.work, folder))
  for (const name of ['a.txt', 'b.txt', '-o', '@list', 'src/deep.txt', "it's.txt"])
    writeFileSync(join(bench.work, name), 'x\n')
  writeFileSync(join(bench.outside, 'secret'), 'SECRET')
  symlinkSync('../outside', join(bench.work, 'out'))
  symlinkSync('a.txt', join(bench.work, 'link.txt'))
})
afterAll(() => bench.dispose())

/** The line as it would run, or why not. */
async function written(line: string): Promise<string> {
  const proof = proveLine(line)
  if (!proof.proven) return `no: ${proof.why}`
  const resolved = await resolveProof(proof, bench.access)
  return resolved.ok ? resolved.command.replaceAll(bench.work, 'WORK') : `no: ${resolved.why}`
}

describe('a proven line', () => {
  test.each([
    ['ls', "'ls'"],
    ['ls -la src', "'ls' '-l' '-a' '--' 'src'"],
    ["l\\s 'a b'", "'ls' '--' 'a b'"],
    ["cat it\\'s.txt", String.raw`'cat' '--' 'it'\''s.txt'`],
    ['cat *.txt', String.raw`'cat' '--' 'a.txt' 'b.txt' 'it'\''s.txt' 'link.txt'`],
    ['cat src/*.md', "'cat' '--' 'src/*.md'"],
    ['head -3 a.txt | tail -n 1', "'head' '-n3' '--' 'a.txt' | 'tail' '-n1'"],
    ['cat a.txt|sort -k 2 -t ,|uniq -c', "'cat' '--' 'a.txt' | 'sort' '-k2' '-t,' | 'uniq' '-c'"],
    ['sort -- -o', "'sort' '--' './-o'"],
    ['strings @list', "'strings' '--' './@list'"],
    ['grep -n -e x a.txt 2>/dev/null', "'grep' '-n' '-ex' '--' 'a.txt' 2>/dev/null"],
    ['grep -- -o a.txt', "'grep' '--' '-o' 'a.txt'"],
    ['grep "a;b && rm x" a.txt', "'grep' '--' 'a;b && rm x' 'a.txt'"],
    ['rg -n alpha', "'rg' '--no-config' '-n' '--' 'alpha'"],
    ['wc -l < a.txt', "'wc' '-l' < 'a.txt'"],
    ['cd src && ls; pwd', "cd -P -- 'WORK/src' || exit 1\n'ls' ; 'pwd'"],
    ['cd src', "cd -P -- 'WORK/src' || exit 1\n"],
    ['! test -f x || echo "a  b"', "! 'test' '-f' 'x' || 'echo' 'a  b'"],
    ["printf '%s\\n' one", "'printf' '--' '%s\\n' 'one'"],
    ['find . -name "*.txt" -not -path ./x', "'find' '.' '-name' '*.txt' '-not' '-path' './x'"],
    [
      'git diff HEAD~1 -- a.txt',
      "'git' '--no-pager' 'diff' '--no-ext-diff' '--no-textconv' 'HEAD~1' '--' 'a.txt'",
    ],
    [
      'git log -3 --format=%h',
      "'git' '--no-pager' 'log' '--no-ext-diff' '--no-textconv' '-n3' '--format=%h'",
    ],
    [
      "git log --pretty=format:'%h %an %ad%d %C(auto)%s%+b %<(20,trunc)%ae%n'",
      "'git' '--no-pager' 'log' '--no-ext-diff' '--no-textconv' '--pretty=format:%h %an %ad%d %C(auto)%s%+b %<(20,trunc)%ae%n'",
    ],
    [
      "git branch --format='%(refname:short) %(*objectname) %(upstream:track) 100%%'",
      "'git' '--no-pager' 'branch' '--format=%(refname:short) %(*objectname) %(upstream:track) 100%%'",
    ],
    ["git tag -l 'v*'", "'git' '--no-pager' 'tag' '-l' 'v*'"],
    ['git --version', "'git' '--version'"],
    ['date +%F; seq 3', "'date' '--' '+%F' ; 'seq' '--' '3'"],
  ])('%j runs as %j', async (line, expected) => {
    expect(await written(line)).toBe(expected)
  })
})

describe('a line that is not proven', () => {
  test.each([
    // Programs whose arguments are programs.
    "sed -n '1p' a.txt",
    "awk '{print $1}' a.txt",
    'jq . a.txt',
    "python3 -c 'print(1)'",
    'node -e 1',
    'bash -n a.txt',
    'xargs ls',
    'env ls',
    'tee x',
    // Words that are computed.
    'cat "$x"',
    'cat $(ls)',
    'cat `ls`',
    'cat <(ls)',
    'cat {a,b}.txt',
    'cat [ab].txt',
    'cat **/x',
    'cat ~root/x',
    'echo $HOME',
    'true `ls`',
    'false $(ls)',
    ': "$(ls)"',
    'type $x',
    'test "$x" = y',
    'find $x',
    'find . -name $x',
    'printf "$x"',
    '$x a.txt',
    'x=1 ls',
    'x=1',
    // Shapes that are more than commands in a row.
    '(ls)',
    'ls ( -a',
    'ls ) -a',
    'ls ( x )',
    '{ ls; }',
    'if ls; then pwd; fi',
    'for f in a; do ls; done',
    'while false; do ls; done',
    'f() { ls; }; f',
    'ls &',
    'time ls',
    'ls |& cat',
    'cat <<E\nx\nE',
    'cat <<< x',
    // Redirections.
    'ls > x',
    'ls >> x',
    'ls >| x',
    'ls <> x',
    'ls 3>&1',
    'ls {fd}>/dev/null',
    'cat < /dev/tcp/127.0.0.1/9',
    // Options that write, run, follow links, or take names from elsewhere.
    'sort -o x a.txt',
    'sort -ox a.txt',
    'sort --output=x a.txt',
    'sort --outp=x a.txt',
    'sort --compress-program=./x a.txt',
    'sort --files0-from=a.txt',
    'sort -T . a.txt',
    'sort --random-source=a.txt a.txt',
    'uniq a.txt b.txt',
    'uniq *.txt',
    'xxd a.txt b.txt',
    'xxd -r a.txt',
    'wc --files0-from=-',
    'du --files0-from=a.txt',
    'md5sum -c a.txt',
    'sha256sum --check a.txt',
    'tail -f a.txt',
    'ls -L',
    'grep -R x .',
    'grep --dereference-recursive x .',
    'diff -r src src',
    'diff src src',
    'diff --to-file=a.txt b.txt',
    'rg --pre ./x y',
    'rg -z y',
    'rg -L y',
    'rg --hostname-bin=./x y',
    'tree -o x',
    'tree -l',
    'tree --fromfile a.txt',
    'file -f a.txt',
    'file -m a.txt a.txt',
    'file -C',
    'file -z a.txt',
    'date -s tomorrow',
    'date 010100002030',
    'date -- 010100002030',
    'date -f a.txt',
    'date -r a.txt',
    'hostname x',
    'hostname -f',
    'od --output-duplicates=x a.txt',
    'hexdump -f a.txt',
    'printf %n PATH',
    'printf -v PATH x',
    'printf %*d 1 2',
    'test -v x',
    '[ -o x ]',
    '[ a -eq b[0] ]',
    'find . -delete',
    'find . -exec ls {} +',
    'find . -fprint x',
    'find -L . -name x',
    'find -H out',
    'find . -files0-from a.txt',
    'find . -follow',
    'find . -newerXY a.txt',
    'node --version -e 1',
    'python3 -c 1 --version',
    'go version',
    'cargo --version',
    'type -x ls',
    'command ls',
    // Git.
    'date -d \'TZ="/etc/passwd" now\'',
    'date --date=\'TZ="../outside/secret" 12:00\'',
    'git -c core.pager=x log',
    'git -C src status',
    'git --exec-path=. status',
    'git --git-dir=x status',
    'git commit -m x',
    'git diff --output=x',
    'git diff --ext-diff',
    'git diff --textconv',
    'git diff --no-index a.txt b.txt',
    'git log --outp=x',
    ...Array.from('?GSKFPT', (letter) =>
      ['', '+', '-', ' '].map((sign) => `git log --format='%${sign}G${letter}'`),
    ).flat(),
    "git log --pretty='tformat:%h%<(9)%G?'",
    "git log --format='%C(G?)%g?%Gs'",
    "git shortlog --group='format:%GS'",
    "git stash list --format='%+GG'",
    "git reflog show --format='%-GG'",
    "git for-each-ref --format='%(signature)'",
    "git for-each-ref --format='%(*signature:grade)'",
    "git branch --format='%(if)%(signature)%(then)x%(end)'",
    "git tag --list --format='%(describe)'",
    'git log --show-signature',
    'git log --glob -- --output=x',
    'git branch new',
    'git branch -d x',
    'git branch -l new',
    'git branch --contains -- -D main',
    'git branch --merged -- -D main',
    'git tag v1',
    'git tag -v v1',
    'git tag -a x',
    'git grep -O./x y',
    'git grep --no-index x',
    'git cat-file --textconv HEAD:a',
    'git cat-file --filters HEAD:a',
    'git cat-file --batch',
    'git blame --contents=a.txt b.txt',
    'git ls-files -X a.txt',
    'git ls-files --exclude-from=a.txt',
    'git rev-parse --parseopt',
    'git shortlog --output=x',
    'git stash show -p',
    'git show --textconv',
    // Where it goes.
    'ls; cd src; ls',
    'cd; ls',
    'cd -; ls',
    'cd src/../..; ls',
    'cd out; ls',
    'cd a.txt; ls',
    'cd s*; ls',
    // What it reads.
    'cat ../outside/secret',
    'cat out/secret',
    'cat out/../outside/secret',
    'cat src/../../outside/secret',
    'cat /etc/passwd',
    'cat /proc/self/environ',
    'cat ~/x',
    'cat < ../outside/secret',
    'cat out/*',
    'cat *',
    'find *',
    'cd src || ls',
    'cat ../*',
    'grep -f out/secret a.txt',
    'grep --file=../outside/secret a.txt',
    'grep --exclude-from=../outside/secret x a.txt',
    'test -f /etc/shadow',
    'find out',
    'find . -newer ../outside/secret',
    'ls out',
    'git diff ../outside/secret a.txt',
    'git log -- ../outside/secret',
  ])('%j', async (line) => {
    expect(await written(line)).toMatch(/^no: /)
  })
})
