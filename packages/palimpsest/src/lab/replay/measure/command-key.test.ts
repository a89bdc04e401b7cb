import { describe, expect, test } from 'vitest'

import { checksLeft, commandKey } from './command-key.ts'

describe('the same command', () => {
  test.each([
    ['npm test', 'cd /repo && npm test 2>&1 | tail -20'],
    ['npm test', 'CI=1 timeout 300 npm test 2>&1 | grep -E "FAIL|✗" | head -40'],
    ['go test ./...', 'bash -lc go test ./... 2>&1 | tail -5; echo "exit: $?"'],
    ['npx vitest run a.test.ts', 'cd "/a b/c"; npx vitest run a.test.ts   2>&1'],
    ['cargo clippy --all', 'cargo clippy --all 2>&1 | grep -c warning'],
  ])('%s is %s', (plain, dressed) => {
    expect(commandKey(dressed).same).toBe(plain)
    expect(commandKey(plain)).toMatchObject({ same: plain, isCheck: true, losesExit: false })
  })

  test.each([
    ['npm test', 'npm test -- a'],
    ['go test ./a', 'go test ./b'],
    // What is no check is told by what it shows, too.
    ['cat a.log | head -5', 'cat a.log | tail -5'],
    ['ls | grep a', 'ls | grep b'],
  ])('%s is not %s', (one, other) => {
    expect(commandKey(one).same).not.toBe(commandKey(other).same)
  })
})

describe('what fixes a failure', () => {
  test('of a check: the same check, or one that covers all of it and more', () => {
    const left = (done: string, failed: string): string[] =>
      checksLeft(commandKey(failed).checks, commandKey(done))
    expect(left('go test ./...', 'cd x && go test ./... | tail -3')).toEqual([])
    expect(left('npm test', 'npm test -- login.test.ts')).toEqual([])
    expect(left('npm test -- login.test.ts', 'npm test')).toEqual(['npm test'])
    expect(left('npm run test', 'npm run testing')).toEqual(['npm run testing'])
    expect(left('go test -race ./...', 'go test ./cache -run TestA')).toEqual([])
    expect(left('go test -run TestB ./...', 'go test ./cache')).toEqual(['go test ./cache'])
    expect(left('mise run fmt && mise run lint', 'mise run lint | tail -3')).toEqual([])
    expect(left('mise run lint', 'mise run test | tail -3 && mise run lint')).toEqual(['mise run test'])
    expect(left('ls', 'npm test')).toEqual(['npm test'])
    expect(left('npm test', "npm test | tee x.log; echo '; ---'; tail -3 x.log")).toEqual([])
  })

  test('of anything else: a run of the same program and subcommand', () => {
    expect(commandKey('git rebase origin/main').programs).toEqual(['git rebase'])
    expect(commandKey('cd x && git add . && git rebase --continue').programs).toEqual([
      'git add',
      'git rebase',
    ])
    expect(commandKey('python3 -c "print(1) && exit"').programs).toEqual(['python3'])
    expect(commandKey("cat <<'EOF' > a.sh\nrm b; ls\nEOF").programs).toEqual(['cat'])
    expect(commandKey('./deploy.sh --all').programs).toEqual(['./deploy.sh'])
  })

  test.each([
    ['npm test', false],
    ['npm test 2>&1', false],
    ['npm test | tail -3', true],
    ['npm test; echo $?', true],
    ['npm test || true', true],
    ["npm test -- 'a | b; c'", false],
    ['npm run build && npm test', false],
  ])('the exit code of %s is lost: %s', (command, isLost) => {
    expect(commandKey(command).losesExit).toBe(isLost)
  })

  test('names a command by two words', () => {
    expect(commandKey('cd x && go test ./... 2>&1').named).toBe('go test')
    expect(commandKey('make').named).toBe('make')
  })
})

test('the exit code comes from the part that ran last, and a word before an operator is a program', () => {
  expect(commandKey('env | rg TOKEN')).toMatchObject({ named: 'env |', last: 'rg TOKEN' })
  expect(commandKey('time npm test').named).toBe('npm test')
  expect(commandKey("cd a && ls | grep 'b | c' > out.txt").last).toBe("grep 'b | c' > out.txt")
  expect(commandKey('npm test').last).toBe('npm test')
})
