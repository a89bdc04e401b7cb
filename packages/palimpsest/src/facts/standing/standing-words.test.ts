import { describe, expect, test } from 'vitest'

import type { StandingWords } from '../facts.ts'
import { stepStanding } from './standing-words.ts'

/** What stands after the messages, in order. */
function standingAfter(...messages: readonly string[]): readonly string[] {
  let standing: readonly StandingWords[] = []
  for (const [i, text] of messages.entries()) standing = stepStanding(standing, `m${i}`, text)
  return standing.map(({ text }) => text)
}

describe('standing words of the user', () => {
  test.each([
    ['Never push to main.', 'English'],
    ["Please don't touch the generated files.", 'English'],
    ['From now on use tabs for indentation.', 'English'],
    ['You must run the linter before every commit.', 'English'],
    ['I prefer small commits.', 'English'],
    ["I don't want you to edit the lock file.", 'English'],
    ['Use only the standard library.', 'English'],
    ['Run ./check.sh after each change.', 'English'],
    ['Keep every function under 40 lines.', 'English'],
    ['Production is off limits.', 'English'],
    ['No new dependencies.', 'English'],
    ["It works, so don't touch it.", 'English'],
    ['Can we not commit the docs?', 'English'],
    ["Don't commit yet, ok?", 'English'],
    ['The lock file must not be changed.', 'English'],
    ['Whatever you do, the file format must not change.', 'English'],
    ['Only stop if you have a question.', 'English'],
    ['Under no circumstances should you delete data.', 'English'],
    ['Change the code and never the test.', 'English'],
    ['Please leave the lock file alone.', 'English'],
    ['Make sure not to break the public API.', 'English'],
    ["I'd rather you didn't rename things.", 'English'],
    ["I don't want you to run the tests.", 'English'],
    ['Avoid default exports.', 'English'],
    ["We're not going to touch the parser in this task.", 'English, a statement'],
    ["We don't use lodash in this project.", 'English, a statement'],
    ['We cannot change the schema.', 'English, a statement'],
    ['The plan is good but do not commit yet.', 'English, after a statement about one thing'],
    ['fix the login do not touch the parser', 'English, without a comma'],
    ['Without making any changes, tell me why it fails.', 'English, attached to a task'],
    ['Explain the bug without changing any code.', 'English, attached to a task'],
    ['No hardcoded values.', 'English, without a verb'],
    ["I don't want a markdown file.", 'English'],
    ['I need you to stop guessing.', 'English'],
    ["Let's hold off on deploying.", 'English'],
    ['Never fetch data inside screen components.', 'English, a screen of the code'],
    ['#file:main.ts do not change the title', 'English, after a reference'],
    ['Bitte niemals direkt auf main pushen.', 'German'],
    ['Ab jetzt schreibst du Commits auf Deutsch.', 'German'],
    ['Fass die Datei config.yml nicht an.', 'German'],
    ['Ne touche jamais au dossier vendor.', 'French'],
    ['Dorénavant, écris les tests en premier.', 'French'],
    ['Nunca borres la carpeta de migraciones.', 'Spanish'],
    ['No toques el archivo de configuración.', 'Spanish'],
    ['Nunca apague a pasta de migrações.', 'Portuguese'],
    ['De agora em diante use apenas o yarn.', 'Portuguese'],
    ['Non modificare mai i file generati.', 'Italian'],
    ["D'ora in poi usa solo pnpm.", 'Italian'],
    ['Никогда не удаляй папку migrations.', 'Russian'],
    ['Не трогай файл конфигурации.', 'Russian'],
    ['Код пока не меняй.', 'Russian'],
    ['Il ne faut pas modifier la base.', 'French'],
    ['不要修改数据库迁移文件。', 'Chinese'],
    ['以后必须先运行测试。', 'Chinese'],
    ['設定ファイルは変更しないでください。', 'Japanese'],
    ['必ずテストを実行すること。', 'Japanese'],
    ['마이그레이션 파일을 수정하지 마세요.', 'Korean'],
    ['앞으로 항상 테스트를 먼저 실행해 주세요.', 'Korean'],
  ])('"%s" is kept word for word (%s)', (sentence) => {
    expect(standingAfter(`Fix the bug.\n\n${sentence}`)).toEqual([sentence])
  })

  test.each([
    "I don't know why this fails.",
    'Why is it never called?',
    "Shouldn't we only run this once?",
    'It must have been the cache.',
    'Fix the login page.',
    'Kannst du das bitte reparieren?',
    'Corrige el error de inicio de sesión.',
    '请修复登录页面。',
  ])('"%s" is small talk', (sentence) => {
    expect(standingAfter(sentence)).toEqual([])
  })

  test.each([
    ['The simulator never answers 529.', 'a report'],
    ['Tests never pass in CI.', 'a report'],
    ['They crash and never recover.', 'the subject of the first half'],
    ["I tested it out and don't like it.", 'the subject of the first half'],
    ["Don't know why it fails.", 'an "I" that was left out'],
    ['The header should always show the name of the project.', 'what the product does'],
    ['Users must not see the data of others.', 'what the product does'],
    ["Don't make the hover turn the buttons grey.", 'what a screen shows'],
    ["Let's not redact that.", 'what the product does'],
    ["Don't return an error when the list is empty.", 'what the product does'],
    ["Don't do this if I click on an empty row.", 'what the product does'],
    ["If the user is a guest, don't save the draft.", 'what the product does'],
    ["Don't delete the order, just mark it as cancelled.", 'what the product does'],
    ['Avoid overlapping labels.', 'what the product does'],
    ["We're not adding the tax, that's the bug.", 'a report'],
    ["So we're not going to use the old list, right?", 'a question'],
    ['Tests do not run on my machine.', 'a report'],
    ['The script runs without making any changes.', 'a report'],
    ['Put them one after another and not in a grid.', 'a place'],
    ['No existing comments, so I can post a new one.', 'a report without a verb'],
    ['The README says you must run make first.', "somebody else's word"],
    ['The docs say: never call this twice.', "somebody else's word"],
    ['Remove the line that says "never cache this".', 'quoted'],
    ['No response yet.', 'a report without a verb'],
    ['It reads the first one, never the last one.', 'a report after a comma'],
    ['Other buttons (clear, activate) never appear.', 'a report around brackets'],
    ['Every time I save, it crashes.', 'a report'],
    ['Make sure the dialog closes when I press Escape.', 'a request'],
    ['Read the whole file before you answer this.', 'a request'],
    ['I prefer the second option.', 'a choice'],
    ["Don't worry about it.", 'a phrase'],
    ['You must be kidding.', 'a phrase'],
    ['Das funktioniert nicht.', 'German'],
    ["Ne s'affiche pas.", 'French'],
    ['Не удалось загрузить файл.', 'Russian'],
    ['不要显示标题。', 'Chinese'],
    ['Der Server antwortet nie vor neun Uhr.', 'German'],
    ["Le bouton ne s'affiche jamais sur mobile.", 'French'],
    ['Siempre falla en el segundo intento.', 'Spanish'],
    ['Nunca aparece o botão.', 'Portuguese'],
    ['Il server non risponde mai.', 'Italian'],
    ['Сервер никогда не отвечает.', 'Russian'],
    ['这个接口从来不返回空值。', 'Chinese'],
    ['このエラーはいつも月曜日に出ます。', 'Japanese'],
    ['테스트가 안 돼요.', 'Korean'],
  ])('"%s" is not an instruction (%s)', (sentence) => {
    expect(standingAfter(sentence)).toEqual([])
  })

  test('list items take their meaning from the line above them', () => {
    expect(standingAfter('Rules:\n- fix the tool only\n- the parser is slow')).toEqual(['fix the tool only'])
    expect(standingAfter('Do not:\n- new dependencies\n- edits of the lock file')).toEqual([
      'new dependencies',
      'edits of the lock file',
    ])
    expect(
      standingAfter('Please do this in a loop:\n- pick a claim\n- verify it\n\nFix the parser.'),
    ).toEqual(['Please do this in a loop:', 'pick a claim', 'verify it'])
    expect(standingAfter('Constraints for this task:\n- no border radius\n- it is slow')).toEqual([
      'no border radius',
    ])
    expect(standingAfter('Ideas:\n- pick a claim\n- verify it')).toEqual([])
  })

  test('a question at the end does not make the rest a question', () => {
    expect(standingAfter('Do not commit yet, can you show me the diff?')).toEqual([
      'Do not commit yet, can you show me the diff?',
    ])
    expect(standingAfter("Don't we have that already, and should it never be used?")).toEqual([])
  })

  test('only the sentence is kept, and wrapped lines are one sentence', () => {
    expect(
      standingAfter('The build is slow today. Never push to main\nwithout asking me. Thanks for the fix.'),
    ).toEqual(['Never push to main without asking me.'])
  })

  test('each list item is a separate sentence', () => {
    expect(
      standingAfter('Three things:\n- never use `any`\n- always write a test\n* fix the parser'),
    ).toEqual(['never use `any`', 'always write a test'])
  })

  test('a short message that starts with a negation forbids; a bare "no" does not', () => {
    expect(standingAfter('No, not in that folder please')).toEqual(['No, not in that folder please'])
    expect(standingAfter('no', 'No thanks', 'nein')).toEqual([])
  })

  test('repeated words count once', () => {
    expect(standingAfter('Never push to main.', 'never push to main.')).toEqual(['Never push to main.'])
  })

  test.each([
    ['a comment in code', '// never call this from outside'],
    ['a hash comment', '# do not edit this file\nversion = 3'],
    ['code after a line of prose', 'Look at this:\nfoo(bar) // never call this twice\nreturn x;'],
    ['rules in a fenced block', 'Our README says\n```md\n- Never use tabs\n- Always run make\n```'],
    ['an unclosed fence', 'see\n```\nnever do this'],
    ['an indented paste', 'From the docs:\n\n    Never commit secrets.\n    Always sign your work.'],
    ['a block comment', '/*\n * You must not change this.\n * Never.\n */'],
    ['a quoted mail', '> Never deploy on Friday.\n> You must ask first.'],
    ['a diff', 'diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-// always close it\n+// never close it'],
    ['a stack trace', 'Error: must not be null\n    at never (/src/a.ts:3:4)\n    at always (/src/b.ts:1:1)'],
    ['a log', '2026-01-02 10:00:01 WARN never reached\n[ERROR] must be set'],
    ['a document inside tags', '<document>\nNever feed the animals.\n</document>'],
  ])('%s is not an instruction', (_, paste) => {
    expect(standingAfter(paste)).toEqual([])
  })

  test('an instruction next to pasted text is found', () => {
    expect(standingAfter('```ts\n// never\n```\nNever merge this without review.')).toEqual([
      'Never merge this without review.',
    ])
  })
})

describe('revocations', () => {
  test.each([
    ['Never push to main.', 'You may now push to main.'],
    ["Don't edit src/gen/api.ts.", "It's fine to edit src/gen/api.ts again."],
    ['Always write commit messages in German.', 'Forget what I said about commit messages.'],
    ['Never run the integration tests.', 'Ignore the rule about integration tests.'],
    ['Do not use lodash.', 'lodash is allowed again.'],
    ['Always ask before deleting files.', 'You no longer need to ask before deleting files.'],
    ['Niemals die Datenbank löschen.', 'Du darfst die Datenbank jetzt wieder löschen.'],
    ['Ne touche jamais au dossier vendor.', 'Tu peux maintenant toucher au dossier vendor.'],
    ['Nunca uses la biblioteca lodash.', 'Ya puedes usar la biblioteca lodash.'],
    ['Nunca altere a pasta de migrações.', 'Agora pode alterar a pasta de migrações.'],
    ['Non modificare mai la cartella vendor.', 'Ora puoi modificare la cartella vendor.'],
    ['Никогда не трогай папку migrations.', 'Теперь можно трогать папку migrations.'],
    ['不要修改数据库迁移文件。', '现在可以修改数据库迁移文件了。'],
    ['設定ファイルは変更しないでください。', '設定ファイルはもう変更してもいいです。'],
    ['마이그레이션 파일을 수정하지 마세요.', '이제 마이그레이션 파일을 수정해도 됩니다.'],
    ['Do not commit.', `OK, commit it now. The log:\n\n\`\`\`\n${'GET /x 200 12ms\n'.repeat(90)}\`\`\`\n`],
    ['Do not commit.', `OK, commit it now. The log:\n\n${'2026-11-01 12:00 GET /x took 3 ms\n'.repeat(60)}`],
    ['Do not commit.', 'OK, you can commit.'],
    ['Bitte nicht committen.', 'OK, committe jetzt.'],
    ['Bitte nichts löschen.', 'Danke, dann lösche alles.'],
    ['Ne commite rien.', "C'est bon, tu peux commiter."],
    ['Use tabs, not spaces.', 'Scrap that, use spaces.'],
    ['Only use the standard library.', 'Never mind the standard library rule, use lodash.'],
  ])('"%s" is revoked by "%s"', (rule, revocation) => {
    expect(standingAfter(rule)).toEqual([rule])
    expect(standingAfter(rule, revocation)).toEqual([])
  })

  test.each([
    ['Do not commit.', 'OK, commit it now.'],
    ['Do not commit.', 'Looks good. Please commit and push.'],
    ['Do not commit anything yet.', 'Ok go ahead and commit this'],
    ["Don't push until I've looked at it.", 'Had a look, all good, push it.'],
    ["Don't push.", 'you may push again'],
    ["Don't write code yet, talk me through it.", 'Great, implement the plan.'],
    ['Just plan for now, no code yet.', 'Good plan, start coding.'],
    ['Do not edit the README.', 'Please edit the README and fix the typo.'],
    ['Do not deploy to staging.', 'Now deploy to staging.'],
  ])('"%s", a temporary instruction, ends with the command "%s"', (rule, command) => {
    expect(standingAfter(rule)).toEqual([rule])
    expect(standingAfter(rule, command)).toEqual([])
  })

  test.each([
    ["Don't push to main.", 'push it'],
    ['Never push to main.', 'push it to main'],
    ['Do not commit docs.', 'commit it'],
    ['Do not commit.', 'Do you want to commit now?'],
    ['Do not commit.', 'fix the commit parser'],
    ['Do not commit.', 'explain the last commit'],
    ['Do not merge.', 'merge main into this branch'],
    ['Do not deploy.', 'add a deploy script'],
    ['Do not edit src/a.ts.', 'edit src/b.ts'],
    ['Do not commit.', `Here is my plan.\n${'It has many words about the parser. '.repeat(30)}\n- commit`],
  ])('"%s" outlives "%s"', (rule, command) => {
    expect(standingAfter(rule, command)).toEqual([rule])
  })

  test.each([
    ['Do not use tabs.', 'Always use tabs.'],
    ['Always ask before deleting files.', "Don't ask before deleting files."],
    ['Write commit messages in German from now on.', 'From now on write commit messages in English instead.'],
  ])('a new rule replaces its opposite, or a different answer: "%s", "%s"', (old, fresh) => {
    expect(standingAfter(old, fresh)).toEqual([fresh])
  })

  test('a rule in addition to another replaces nothing', () => {
    const rules = ['Always run the unit tests after each change.', 'Also run the linter after each change.']
    expect(standingAfter(...rules)).toEqual(rules)
  })

  test('a revocation ends only the rule it mentions', () => {
    const rules = [
      'Never push to main.',
      'Never push with --force.',
      'Never edit docs/a-7.md.',
      'Never edit docs/a-8.md.',
    ]
    expect(standingAfter(...rules, 'You may now edit docs/a-7.md again.')).toEqual([
      rules[0],
      rules[1],
      rules[3],
    ])
    expect(standingAfter(...rules, 'You may now push to main.')).toEqual(rules.slice(1))
  })

  test('if in doubt, a rule remains in force', () => {
    const rules = ['Never delete tests.', 'Always run the tests twice.']
    expect(standingAfter(...rules, 'Forget what I said about tests.')).toEqual(rules)
    expect(standingAfter(...rules, 'You may now use the new parser.')).toEqual(rules)
  })

  test('whatever a revocation still forbids remains in force', () => {
    expect(standingAfter('Never push to main.', 'You may now push to main, but never force it.')).toEqual([
      'You may now push to main, but never force it.',
    ])
  })

  test('a rule repeated after its revocation is in force again', () => {
    expect(standingAfter('Never push to main.', 'You may now push to main.', 'Never push to main.')).toEqual([
      'Never push to main.',
    ])
  })
})
