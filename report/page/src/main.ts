import { Shell } from './app/shell';
import { startTheme } from './app/theme';
import { readSummary } from './model/summary';

const root = document.getElementById('app')!;
try {
  const summary = readSummary();
  root.textContent = '';
  let shell: Shell | null = null;
  startTheme(() => shell?.draw());
  shell = new Shell(summary, root);
} catch (error) {
  const fault = document.createElement('p');
  fault.className = 'fault';
  fault.textContent = (error as Error).message;
  root.replaceChildren(fault);
}
