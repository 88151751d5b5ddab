// docs/rules.md is what the machine says today.
import { expect, it } from 'vitest';
import { RULES } from '../../machines/job/rules.ts';
import { rulesPage } from './rules-page.ts';

it('docs/rules.md is made from the rules and the machine', async () => {
  await expect(rulesPage()).toMatchFileSnapshot('../../docs/rules.md');
});

it('every rule stands on it, with its sentence and a transition', () => {
  const page = rulesPage();
  for (const [id, sentence] of Object.entries(RULES)) expect(page).toContain(`**${id}** ${sentence}\n\n- \``);
  expect(page).not.toMatch(/## [A-Z]$/m);
});
