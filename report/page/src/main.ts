import { Shell } from './app/shell';
import { startTheme } from './app/theme';
import { DiffShell } from './diff/diff_shell';
import { readDiff } from './diff/summary';
import { readSummary } from './model/summary';

async function start(root: HTMLElement): Promise<void> {
  const diff = readDiff();
  const summary = diff ? null : await readSummary();
  root.textContent = '';
  let shell: Shell | DiffShell | null = null;
  startTheme(() => shell?.draw());
  shell = diff ? new DiffShell(diff, root) : new Shell(summary!, root);
}

const root = document.getElementById('app')!;
start(root).catch((error: Error) => {
  const fault = document.createElement('p');
  fault.className = 'fault';
  fault.textContent = error.message;
  root.replaceChildren(fault);
});
