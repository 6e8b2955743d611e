/** Light and dark: as the system has it, or as the reader chose. */

const THEMES = ['auto', 'light', 'dark'] as const;
type Theme = (typeof THEMES)[number];
const KEY = 'oplens-theme';
let theme: Theme = 'auto';

function apply(): void {
  document.documentElement.dataset.theme = theme;
}

export function startTheme(changed: () => void): void {
  try {
    const kept = localStorage.getItem(KEY) as Theme | null;
    if (kept && THEMES.includes(kept)) theme = kept;
  } catch {
    // Some browsers keep nothing for files.
  }
  apply();
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', changed);
}

export function themeName(): Theme {
  return theme;
}

export function nextTheme(): void {
  theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // As above.
  }
  apply();
}
