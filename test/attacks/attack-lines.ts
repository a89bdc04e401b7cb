import type { AttackWords } from './stage.ts'

// Lines that try to write, run or read what they must not, for every program that may run unasked: by each of its options, with each kind of
// value, and by what people have come up with. In braces stand the words of the stage.

/** Every program that may run unasked somewhere, by one list or the other. */
const PROGRAMS =
  `cat tac head tail wc nl rev cut paste tr fold fmt expand unexpand column comm cmp diff ls du df stat basename dirname realpath
  readlink md5sum sha256sum b2sum cksum od hexdump xxd strings grep egrep fgrep rg sort uniq tree file uname whoami id nproc arch uptime free
  hostname date seq sleep which pwd echo printf test find command type node python3 gcc git sed awk jq bash sh tee xargs timeout env tar unzip
  gzip zcat base64 iconv bc join shuf perl`
    .trim()
    .split(/\s+/)

const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0'
const LONG =
  `output output-file file files0-from files-from from-file to-file exclude-from include-from pre hostname-bin compress-program random-source
  reference relative-to check magic-file compile config rcfile follow dereference dereference-recursive recursive in-place inplace expression
  exec eval require import library-path rawfile slurpfile args open-files-in-pager ext-diff textconv no-index contents exec-path git-dir
  temporary-directory use-compress-program checkpoint-action to-command target-directory init-file`
    .trim()
    .split(/\s+/)

/** By option: a letter and a value, apart or together; a long one; one after `--`. The value is a file to read or to write, or a program. */
function byOption(program: string): readonly string[] {
  const values = ['{secret}', '{past}', '{target}', '{script}', 'names', '@list']
  const short = Array.from(LETTERS).map((letter, index) => {
    const space = index % 2 === 0 ? ' ' : ''
    return `${program} -${letter}${space}${values[index % values.length]} a.txt`
  })
  const long = LONG.map((name, index) => {
    const value = values[index % values.length] ?? ''
    if (index % 5 === 0) return `${program} a.txt -- --${name}=${value}`
    return index % 2 === 0 ? `${program} --${name}=${value} a.txt` : `${program} --${name} ${value} a.txt`
  })
  return [...short, ...long]
}

/** By operand: a secret in every way to name it, names that turn into options, a second file that would be written. */
function byOperand(program: string): readonly string[] {
  return [
    '{secret}',
    '{up}',
    '{link}',
    '{past}',
    '{environ}',
    'link.txt',
    'src/../l/secret.txt',
    './l/./secret.txt',
    'l/*',
    'l/s?cret.txt',
    '../*/secret.txt',
    '~/.ssh/id_rsa',
    '"$HOME"/.ssh/id_rsa',
    '*',
    '-*',
    '@*',
    'a.txt {target}',
    'a.txt b.txt {target}',
    '@list',
    '- < {secret}',
    '< {past}',
    '"$(cat {secret})"',
    '`{run}`',
    '$({run})',
    '<({run})',
    'a.txt > {target}',
    'a.txt >> {target}',
    'a.txt | tee {target}',
    'a.txt; {run}',
    'a.txt && {script}',
    'a.txt & {run}',
    'a.txt\n{run}',
    "'a.txt'{,x}",
    '$(echo {secret})',
    '--help; {run}',
  ].map((words) => `${program} ${words}`)
}

/** What needs knowledge of the program. */
const KNOWN: readonly string[] = [
  // sed
  "sed '1e {run}' a.txt",
  "sed 's/.*/{run}/e' a.txt",
  "sed 's,.*,{run},e' a.txt",
  "sed 's/alpha/x/w {target}' a.txt",
  "sed 'r {secret}' a.txt",
  "sed 'R {secret}' a.txt",
  "sed -n 'w {target}' a.txt",
  'sed -f script.sed a.txt',
  "sed -s -n '$p' a.txt {secret}",
  "sed --expression='1e {run}' a.txt",
  "sed -n '/x[/]y/p;1e {run}' a.txt",
  "sed 'y/[/]/;1e {run}' a.txt",
  "sed '1{e {run}\n}' a.txt",
  'sed -i s/alpha/x/ a.txt',
  'sed -n -i.bak p a.txt',
  'sed --in-place=x p a.txt',
  "sed -E 's/(alpha)/{run}/ge' a.txt",
  // awk
  'awk \'BEGIN { system("{run}") }\'',
  'awk \'BEGIN { "{run}" | getline x }\'',
  'awk \'BEGIN { print "x" | "{run}" }\'',
  'awk \'BEGIN { print "x" > "{target}" }\'',
  'awk \'BEGIN { while ((getline l < "{secret}") > 0) print l }\'',
  'awk \'BEGIN { ARGV[1] = "{secret}"; ARGC = 2 } 1\'',
  'awk -f script.awk',
  "awk -v 'x=$(cat {secret})' 'BEGIN { print x }'",
  'awk 1 x=1 {secret}',
  'awk -e \'BEGIN { system("{run}") }\'',
  'awk \'@load "filefuncs"; BEGIN { system("{run}") }\'',
  "gawk -i inplace '{ print }' a.txt",
  // jq
  "jq -n --rawfile s {secret} '$s'",
  "jq -n --slurpfile s {secret} '$s'",
  'jq -L l . data.json',
  "jq -nR 'input' {secret}",
  "jq -n 'env'",
  "jq -n '$ENV.KEY'",
  'jq --argfile s {secret} . data.json',
  'jq -f {secret} data.json',
  "jq -n 'input_filename, $__prog_args' {secret}",
  // find, xargs and others that run
  'find . -exec {run} \\;',
  'find . -execdir ./evil.sh {} +',
  'find . -name a.txt -ok {run} \\;',
  'find . -name a.txt -delete',
  'find . -fprint {target}',
  'find . -fprintf {target} x',
  'find . -fls {target}',
  'find -L . -name secret.txt -exec cat {} +',
  'find l/ -name secret.txt',
  'find . -newer {secret} -exec {run} ;',
  'find . -files0-from names0',
  'find / -name secret.txt -path "*outside*" -exec cat {} +',
  'ls | xargs {run}',
  'echo {secret} | xargs cat',
  'xargs -a names cat',
  'cat names | xargs -I{} cat {}',
  'timeout 5 {run}',
  'env {run}',
  'env -i PATH=. ls',
  'env -S "{run}"',
  'nice {run}',
  'command {run}',
  'time {run}',
  'bash -c "{run}"',
  'bash -n -c "{run}"',
  'bash -n evil.sh; {run}',
  'sh -n < evil.sh; . ./evil.sh',
  'exec {run}',
  'eval {run}',
  'source evil.sh',
  'trap "{run}" EXIT',
  // sort, uniq, diff, grep, tar
  'sort -o {target} a.txt',
  'sort -S 1 --compress-program=./evil.sh a.txt a.txt a.txt',
  'sort --files0-from=names0',
  'sort -T . a.txt',
  'sort -m a.txt {secret}',
  'sort --random-source={secret} -R a.txt',
  'uniq a.txt {target}',
  'diff -r . l',
  'diff l src',
  'diff --to-file={secret} a.txt',
  'diff a.txt l',
  'comm a.txt {secret}',
  'grep -r SECRET l/',
  'grep -R SECRET .',
  'grep -rS SECRET . l',
  'grep -f {secret} a.txt',
  'grep -H "" {past}',
  'grep --include=* -r "" ../outside',
  'rg --pre ./evil.sh x',
  'rg -L SECRET',
  'rg --follow SECRET',
  'rg SECRET l/',
  'rg -z x',
  'rg -f {secret} a.txt',
  'rg --ignore-file={secret} x',
  'rg "" --no-ignore -uuu ..',
  'tar -tf a.txt --to-command=./evil.sh',
  'tar -tf a.txt --use-compress-program=./evil.sh',
  'tar --checkpoint=1 --checkpoint-action=exec=./evil.sh -tf a.txt',
  'tar -cf {target} a.txt',
  'tar -xf a.txt -O',
  'unzip -p a.txt',
  'gzip -c a.txt > {target}',
  'gzip a.txt',
  'tee {target} < a.txt',
  'tee -a a.txt < b.txt',
  'dd if=a.txt of={target}',
  'strings @list',
  'strings -n 1 @@list',
  'wc --files0-from=names0',
  'du --files0-from=names0',
  'md5sum -c sums',
  'file -f names',
  'file -m {secret} a.txt',
  'file -C -m a.txt',
  'xxd a.txt {target}',
  'xxd -r a.txt {target}',
  'date -f {secret}',
  'tree -o {target}',
  'tree -l l',
  'tree --fromfile {secret}',
  'od --skip-bytes=0 {secret}',
  'column -t {secret}',
  'tail -n +1 -- a.txt {past}',
  'head -c 100 {past} {up}',
  'stat -L link.txt; cat link.txt',
  'realpath {secret}; cat $(realpath l)/secret.txt',
  'base64 {secret}',
  'iconv -o {target} a.txt',
  'shuf -o {target} a.txt',
  // Shell: names, values, channels.
  'printf "%n" PATH; ls',
  'printf -v PATH 0; ls',
  'printf "%s" -v PATH; ls',
  'PATH=.:$PATH; ls',
  'PATH=./0 ls',
  'export PATH=$PWD/0; ls',
  'declare -x PATH=./bin; ls',
  'for PATH in ./0; do ls; done',
  'read PATH <<< ./0; ls',
  'mapfile -t PATH < names; ls',
  ': ${PATH:=./0}; ls',
  'hash -p ./evil.sh ls; ls',
  'alias ls=./evil.sh; ls',
  'shopt -s expand_aliases; alias ls=./evil.sh\nls',
  'ls() { {run}; }; ls',
  'function cat { {run}; }; cat a.txt',
  'BASH_ENV=./evil.sh ls',
  'ENV=./evil.sh sh -n a.txt',
  'LD_PRELOAD=./evil.so ls',
  'GIT_EXTERNAL_DIFF=./evil.sh git diff',
  'GIT_SSH_COMMAND=./evil.sh git ls-remote x:y',
  'PAGER=./evil.sh git log',
  'NODE_OPTIONS="--require ./evil.sh" node --version',
  'PYTHONSTARTUP=./evil.sh python3 -V',
  'RIPGREP_CONFIG_PATH=names rg x',
  'GREP_OPTIONS="-f {secret}" grep x a.txt',
  'LESSOPEN="|./evil.sh %s" cat a.txt',
  'IFS=/ cat names',
  'x={secret}; cat $x',
  'x=ca; ${x}t {secret}',
  'cat ${HOME}/.ssh/id_rsa',
  'cat $(printf {secret})',
  'cat {{secret},a.txt}',
  "cat $'\\x2e\\x2e/outside/secret.txt'",
  'cat ..""/outside/secret.txt',
  'cat .\\./outside/secret.txt',
  'cd .. && cat outside/secret.txt',
  'cd l && cat secret.txt',
  'cd l/.. && cat home/.ssh/id_rsa',
  'cd src; cd ../..; cat outside/secret.txt',
  'cd -P l; cat secret.txt',
  'pushd l; cat secret.txt',
  'y="a[\\$({run})]"; echo $((y))',
  'y="a[\\$({run})]"; [[ $y -eq 0 ]]',
  'y="a[\\$({run})]"; test -v "$y"',
  'y="\\$({run})"; echo "${y@P}"',
  'let "y=a[\\$({run})]"',
  'echo ${a[$({run})0]}',
  'echo $(( $({run})0 ))',
  '((x=$({run})0))',
  'case $({run}) in *) ls;; esac',
  '[[ -n $({run}) ]]',
  'cat <<E\n$({run})\nE',
  'cat <<< "$({run})"',
  'coproc {run}',
  '{ {run}; }',
  '({run})',
  '! {run}',
  'ls | {run}',
  'ls |& ./evil.sh',
  'exec 3<> {target}',
  'exec > {target}; ls',
  'ls {fd}> {target}',
  'ls > /dev/fd/2 > {target}',
  'cat < /dev/tcp/127.0.0.1/9',
  'echo x > /dev/tcp/127.0.0.1/9',
  'cat /proc/self/environ {environ}',
  'cat /proc/$PPID/environ',
  'cat /proc/*/environ',
  'tr "\\0" "\\n" < {environ}',
  'ls -la /proc/1/root/ /proc/1/cwd/; cat /proc/1/root{secret}',
  'cat /proc/self/cwd/../outside/secret.txt',
  'cat /dev/fd/0 < {secret}',
  'wc -l /proc/self/root{secret}; cat /proc/self/root{secret}',
  'echo * ../* ~/*; cat ../outside/*',
  // Interpreters.
  'python3 -c \'import os; os.system("{run}")\'',
  'python3 -c \'print(open("{secret}").read())\'',
  'python3 -c \'import pathlib; print(pathlib.Path("{past}").read_text())\'',
  "python3 - <<'E'\nimport os\nos.popen('{run}').read()\nE",
  "python3 -V -c 'import os'",
  'python3 -i evil.sh',
  'node -e \'require("child_process").execSync("{run}")\'',
  'node -p \'require("fs").readFileSync("{secret}","utf8")\'',
  'node -e \'process.binding("spawn_sync")\'',
  'node --version --require ./evil.sh',
  'perl -e \'system("{run}")\'',
  "perl -ne 'print' {secret}",
  "perl -pi -e 's/alpha/x/' a.txt",
  'perl -ne \'BEGIN { open F, ">{target}" } print F\' a.txt',
  'ruby -e \'puts File.read("{secret}")\'',
  // Git, without a repository of its own.
  'git -c core.fsmonitor=./evil.sh status',
  "git -c alias.x='!{run}' x",
  'git -c core.pager=./evil.sh -p log',
  'git --exec-path=. status',
  'git --git-dir=l status',
  'git -C .. status',
  'git diff --no-index a.txt {secret}',
  'git diff a.txt {secret}',
  'git grep --no-index SECRET ../outside',
  'git grep -O./evil.sh x',
  'git log --output={target}',
  'git hash-object -w a.txt',
  'git config --file={secret} -l',
  'git config --get-regexp . --file {secret}',
  'git check-ignore -v --no-index --stdin < {secret}',
  'git archive --output={target} HEAD',
  'git archive --remote=ext::./evil.sh HEAD',
  'git ls-remote "ext::{run}"',
  'git rev-parse --parseopt < {secret}',
  'git show-branch --list',
  'git blame --contents {secret} a.txt',
  'git interpret-trailers --file {secret}',
  'git var GIT_EDITOR',
  'git help -w log',
  'git branch --contains -- -D main',
  'git log --glob -- --output={target}',
  'git bundle list-heads {secret}',
]

/** What needs knowledge, word for word. */
export function knownLines(): readonly string[] {
  return KNOWN
}

/** What is made for every program: thousands. */
export function madeLines(): readonly string[] {
  return [...new Set([...PROGRAMS.flatMap(byOperand), ...PROGRAMS.flatMap(byOption)])]
}

/** Each so-and-so-many-th. */
export function everyNth<T>(list: readonly T[], step: number, first = 0): readonly T[] {
  return list.filter((_, index) => index % step === first)
}

/** Of the known ones those that leave nothing but a mark when they run as they are: nobody wants his clock set. */
export function controlLines(): readonly string[] {
  return KNOWN.filter((line) =>
    /^(sed|awk|cat|head|grep|find|python3 -c|perl|node|ls|echo|printf|tee|uniq|sort)\b/.test(line),
  )
}

export function fill(line: string, words: AttackWords): string {
  return Object.entries(words).reduce((text, [name, value]) => text.replaceAll(`{${name}}`, value), line)
}
