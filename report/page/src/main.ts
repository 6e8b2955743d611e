import { Shell } from './app/shell';
import { startTheme } from './app/theme';
import { DiffShell } from './diff/diff_shell';
import { readDiff } from './diff/summary';
import { hasSummary, readSummary } from './model/summary';

async function start(root: HTMLElement): Promise<void> {
  const diff = readDiff();
  // A page of two runs may have their timelines too.
  const summary = diff && !hasSummary() ? null : await readSummary();
  root.textContent = '';
  let shell: Shell | DiffShell | null = null;
  startTheme(() => shell?.draw());
  shell = diff ? new DiffShell(diff, root, summary) : new Shell(summary!, root);
}

const root = document.getElementById('app')!;
start(root).catch((error: Error) => {
  const fault = document.createElement('p');
  fault.className = 'fault';
  fault.textContent = error.message;
  root.replaceChildren(fault);
});
