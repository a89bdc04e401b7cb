import { describe, expect, test } from 'vitest'

import { shellChanges } from './shell-changes.ts'

function changed(command: string, failed = false, folder?: string): readonly string[] {
  return shellChanges(command, failed, folder).map(({ path, operation }) => `${operation} ${path}`)
}

describe('files that a shell command changes', () => {
  test.each([
    ['rm -rf build/out.txt', ['deleted build/out.txt']],
    ['git rm src/a.ts src/b.ts', ['deleted src/a.ts', 'deleted src/b.ts']],
    ['mv old.ts src/new.ts', ['deleted old.ts', 'moved src/new.ts']],
    ['git mv a.ts b.ts', ['deleted a.ts', 'moved b.ts']],
    ['cp -r a.ts b.ts', ['written b.ts']],
    ['echo hello > notes.txt', ['written notes.txt']],
    ['echo hello >> "notes.txt"', ['written notes.txt']],
    ['npm test 2>&1 | tee out.log', ['written out.log']],
    ["sed -i 's/a/b/' src/x.ts", ['edited src/x.ts']],
    ["sed -i '' -e 's/a/b/' src/x.ts", ['edited src/x.ts']],
    ['touch a.ts && mkdir -p src/deep', ['created a.ts', 'created src/deep']],
    ['cd pkg && rm index.ts', ['deleted pkg/index.ts']],
    ['bash -lc "rm a.ts && touch b.ts"', ['deleted a.ts', 'created b.ts']],
    ['sudo FOO=1 rm a.ts', ['deleted a.ts']],
    [
      "cat > script.py <<'EOF'\nrm everything.txt\nx > y.txt\nEOF\nrm z.txt",
      ['written script.py', 'deleted z.txt'],
    ],
  ])('%s', (command, expected) => {
    expect(changed(command)).toEqual(expected)
  })

  test.each([
    'ls -la > /dev/null',
    'npm test 2> /dev/null',
    'npm test 2>&1',
    'rm $FILE *.tmp',
    'grep "a > b" src/x.ts',
    "sed 's/a/b/' src/x.ts",
    'git log --format=%H',
    'echo "rm a.ts"',
    'node -e "x => y"',
  ])('%s changes no file', (command) => {
    expect(changed(command)).toEqual([])
  })

  test('of a failed command, only the part that failed changed nothing', () => {
    expect(changed("sed -i 's/a/b/' src/x.ts && npm test", true)).toEqual(['edited src/x.ts'])
    expect(changed('rm a.ts', true)).toEqual([])
  })

  test('a folder given with the call is the base for relative paths', () => {
    expect(changed('rm ./a.ts /tmp/b.ts', false, '/work/x')).toEqual([
      'deleted /work/x/a.ts',
      'deleted /tmp/b.ts',
    ])
  })
})
