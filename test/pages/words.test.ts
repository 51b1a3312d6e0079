import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseLanguage, shippedLanguages, wordsIn } from '../../src/pages/words.ts';

/** Every word of a language by its path, the ones with gaps filled with marks. */
function wordsByPath(branch: object, path = ''): Map<string, string> {
  const words = new Map<string, string>();
  for (const [key, leaf] of Object.entries(branch) as [string, unknown][]) {
    const here = `${path}/${key}`;
    if (typeof leaf === 'function') words.set(here, (leaf as (...gaps: string[]) => string)('‹1›', '‹2›'));
    else if (typeof leaf === 'string') words.set(here, leaf);
    else for (const [inner, word] of wordsByPath(leaf as object, here)) words.set(inner, word);
  }
  return words;
}

const english = wordsByPath(wordsIn('en').words);

test('English, German, Chinese and Thai ship, English first', () => {
  assert.deepEqual(shippedLanguages, ['en', 'de', 'zh-CN', 'th']);
});

for (const language of shippedLanguages) {
  const words = wordsByPath(wordsIn(language).words);

  test(`${language} has exactly the words that English has, none of them empty`, () => {
    assert.deepEqual([...words.keys()], [...english.keys()]);
    assert.deepEqual([...words].filter(([, word]) => word.trim() === ''), []);
  });

  test(`${language} fills the same gaps in every sentence as English`, () => {
    const gaps = (word: string | undefined) => [...new Set(word?.match(/‹\d›/g) ?? [])].sort();
    for (const [path, word] of words) assert.deepEqual(gaps(word), gaps(english.get(path)), path);
  });

  if (language !== 'en') {
    test(`${language} leaves nothing in English`, () => {
      const same = [...words].filter(([path, word]) => path !== '/direction' && english.get(path) === word);
      assert.deepEqual(same, []);
    });
  }
}

test('Chinese punctuation is full-width beside Chinese characters', () => {
  const half = [...wordsByPath(wordsIn('zh-CN').words)].filter(([, word]) => /\p{Script=Han}[,.;:!?()]|[,;:!?()]\p{Script=Han}/u.test(word));
  assert.deepEqual(half, []);
});

test('a Thai line never begins with the mark of repetition', () => {
  assert.deepEqual([...wordsByPath(wordsIn('th').words)].filter(([, word]) => / ๆ/.test(word)), []);
});

test('sentences stay whole when the client gave itself no name', () => {
  for (const language of shippedLanguages) {
    const { facts, done, declined, problem } = wordsIn(language).words;
    const nameless = [
      facts.assurance(undefined),
      done.byItself(undefined),
      done.sayContinue(undefined),
      declined.later(undefined),
      problem['too-many'].todo(undefined),
      problem.unavailable.todo(undefined),
    ];
    for (const sentence of nameless) assert.doesNotMatch(sentence, /undefined|‹|\s[.,]/);
  }
});

test('a language that does not ship falls back to English, and says so', () => {
  const { language, words } = wordsIn('tlh');
  assert.equal(language, 'en');
  assert.equal(words.languageName, 'English');
});

const offered = ['en', 'de', 'zh-CN', 'th'];

const choices: readonly (readonly [header: string | undefined, wanted: string | undefined, chosen: string, why: string])[] = [
  [undefined, undefined, 'en', 'without any wish the first offered language is taken'],
  ['', undefined, 'en', 'an empty header is no wish'],
  ['de', undefined, 'de', 'the named language is taken'],
  ['DE', undefined, 'de', 'case does not matter'],
  ['de-AT', undefined, 'de', 'a region falls back to its language'],
  ['de-Latn-CH-1996', undefined, 'de', 'several subtags fall back one by one'],
  ['zh', undefined, 'zh-CN', 'a language without region takes an offered region'],
  ['zh-Hans-SG', undefined, 'zh-CN', 'another region of the language is better than another language'],
  ['fr, de;q=0.8, en;q=0.9', undefined, 'en', 'the higher weight wins whatever the order'],
  ['en;q=0.5, th', undefined, 'th', 'no weight means 1'],
  ['de;q=0.7,en;q=0.7', undefined, 'de', 'of equal weights the first wins'],
  ['de;q=0, fr', undefined, 'en', 'weight 0 means not this one'],
  ['fr, *;q=0.1', undefined, 'en', 'a star is the first offered language'],
  ['de;q=nonsense', undefined, 'en', 'a weight that is no number is left out'],
  ['de;q=7', undefined, 'en', 'a weight above 1 is left out'],
  ['en;level=1;q=0.2, de ; q=0.3', undefined, 'de', 'other parameters and spaces are allowed'],
  [';;;,,q=1,-,', undefined, 'en', 'garbage is no wish'],
  ['en', 'de', 'de', 'the switch is stronger than the header'],
  ['de', 'fr', 'de', 'a switch to what is not offered is ignored'],
  ['de', '../../etc', 'de', 'a hostile switch is ignored'],
];

for (const [header, wanted, chosen, why] of choices) {
  test(`choosing a language: ${why}`, () => {
    assert.equal(chooseLanguage(header, wanted, offered), chosen);
  });
}

test('choosing a language: the operator decides what is offered and which comes first', () => {
  assert.equal(chooseLanguage('en', undefined, ['de']), 'de');
  assert.equal(chooseLanguage('fr', undefined, ['de', 'en']), 'de');
  assert.equal(chooseLanguage('fr', undefined, []), 'en');
});
