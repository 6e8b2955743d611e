import { Shell } from './app/shell';
import { startTheme } from './app/theme';
import { DiffShell } from './diff/diff_shell';
import { readDiff } from './diff/summary';
import { readSummary } from './model/summary';

const root = document.getElementById('app')!;
try {
  const diff = readDiff();
  const summary = diff ? null : readSummary();
  root.textContent = '';
  let shell: Shell | DiffShell | null = null;
  startTheme(() => shell?.draw());
  shell = diff ? new DiffShell(diff, root) : new Shell(summary!, root);
} catch (error) {
  const fault = document.createElement('p');
  fault.className = 'fault';
  fault.textContent = (error as Error).message;
  root.replaceChildren(fault);
}
