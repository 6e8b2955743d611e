/** What the page shows, kept in the '#' of its address. */

export interface TabState {
  sort: string;
  down: boolean;
  query: string;
  regex: boolean;
  /** Key of the field whose texts are searched; '': all. */
  within: string;
  /** Keys of the columns that are not shown, separated by commas. */
  hide: string;
  /** A condition, as `prof --where` has them; '': all rows. */
  where: string;
  by: string;
  top: number;
}

/** A note of the reader at a stretch of the timeline, in ns. */
export interface Note {
  from: number;
  to: number;
  text: string;
}

export interface State {
  tab: string;
  /** '': all. */
  rank: string;
  /** Such as "3-7,9"; '': all. */
  steps: string;
  tabs: Map<string, TabState>;
  /** What the timeline shows, in ns. */
  view: [number, number] | null;
  /** A selected range of the timeline or of the memory curve, in ns. */
  range: [number, number] | null;
  /** The search of the timeline. */
  find: string;
  findRegex: boolean;
  /** Whether the timeline shows the critical path. */
  path: boolean;
  /** The step at whose start two runs are aligned; '': one is proposed. */
  align: string;
  /** The event that is chosen in the timeline, "lane.number"; ''. */
  event: string;
  notes: Note[];
  /** Keys of the timeline's lanes that are pinned or hidden, and of its groups that are folded, separated by commas. */
  pinned: string;
  hidden: string;
  folded: string;
}

export function newTab(): TabState {
  return { sort: '', down: false, query: '', regex: false, within: '', where: '', hide: '', by: '', top: 0 };
}

function spanOf(text: string | null): [number, number] | null {
  const match = /^(-?[\d.]+)~(-?[\d.]+)$/.exec(text ?? '');
  if (!match) return null;
  const [from, to] = [Number(match[1]), Number(match[2])];
  return Number.isFinite(from) && Number.isFinite(to) && to > from ? [from, to] : null;
}

/** Notes that an address may have. */
const MOST_NOTES = 30;

function noteOf(text: string): Note[] {
  const match = /^(-?\d+)~(-?\d+)~([^]*)$/.exec(text);
  if (!match) return [];
  const [from, to] = [Number(match[1]), Number(match[2])];
  return Number.isSafeInteger(from) && Number.isSafeInteger(to) && to >= from ? [{ from, to, text: match[3].slice(0, 200) }] : [];
}

/** Reads the '#' of an address; keeps of `state` what tabs had that it does not name. */
export function readHash(hash: string, state: State): void {
  const words = new URLSearchParams(hash.replace(/^#/, ''));
  state.tab = words.get('tab') ?? state.tab;
  state.rank = words.get('rank') ?? '';
  state.steps = words.get('steps') ?? '';
  state.view = spanOf(words.get('t'));
  state.range = spanOf(words.get('range'));
  state.find = words.get('find') ?? '';
  state.findRegex = words.get('findre') === '1';
  state.path = words.get('path') === '1';
  state.align = words.get('align') ?? '';
  state.event = words.get('event') ?? '';
  state.notes = words.getAll('note').slice(0, MOST_NOTES).flatMap(noteOf);
  state.pinned = words.get('pin') ?? '';
  state.hidden = words.get('away') ?? '';
  state.folded = words.get('fold') ?? '';
  const tab = newTab();
  const sort = words.get('sort') ?? '';
  tab.down = sort.startsWith('-');
  tab.sort = sort.replace(/^-/, '');
  tab.query = words.get('q') ?? '';
  tab.regex = words.get('re') === '1';
  tab.within = words.get('in') ?? '';
  tab.where = words.get('where') ?? '';
  tab.hide = words.get('hide') ?? '';
  tab.by = words.get('by') ?? '';
  tab.top = Math.max(0, Math.floor(Number(words.get('top')) || 0));
  state.tabs.set(state.tab, tab);
}

export function writeHash(state: State): string {
  const words = new URLSearchParams();
  const put = (key: string, value: string): void => {
    if (value !== '') words.set(key, value);
  };
  const span = (value: [number, number] | null): string => (value ? value.map((time) => Math.round(time)).join('~') : '');
  put('tab', state.tab);
  put('rank', state.rank);
  put('steps', state.steps);
  const tab = state.tabs.get(state.tab);
  if (tab) {
    if (tab.sort) put('sort', (tab.down ? '-' : '') + tab.sort);
    put('q', tab.query);
    put('re', tab.regex ? '1' : '');
    put('in', tab.query ? tab.within : '');
    put('where', tab.where);
    put('hide', tab.hide);
    put('by', tab.by);
    put('top', tab.top ? String(tab.top) : '');
  }
  put('t', span(state.view));
  put('range', span(state.range));
  put('find', state.find);
  put('findre', state.findRegex ? '1' : '');
  put('path', state.path ? '1' : '');
  put('align', state.align);
  put('event', state.event);
  for (const { from, to, text } of state.notes) words.append('note', `${from}~${to}~${text}`);
  put('pin', state.pinned);
  put('away', state.hidden);
  put('fold', state.folded);
  return `#${words.toString()}`;
}

type Listener = () => void;

/** The state with those who follow it. Changes are told once a frame. */
export class Store {
  readonly state: State = {
    tab: '', rank: '', steps: '', tabs: new Map(), view: null, range: null, find: '', findRegex: false, path: false, align: '', event: '',
    notes: [], pinned: '', hidden: '', folded: '',
  };
  private readonly listeners: Listener[] = [];
  private waiting = false;
  private written = '';

  constructor() {
    readHash(location.hash, this.state);
    this.written = location.hash;
    addEventListener('hashchange', () => {
      if (location.hash === this.written) return;
      this.written = location.hash;
      readHash(location.hash, this.state);
      this.tell();
    });
  }

  tab(name = this.state.tab): TabState {
    let tab = this.state.tabs.get(name);
    if (!tab) {
      tab = newTab();
      this.state.tabs.set(name, tab);
    }
    return tab;
  }

  /** Changes the state, the address and what is shown. `entry`: the browser's "back" returns. */
  update(change: (state: State) => void, entry = false): void {
    change(this.state);
    const hash = writeHash(this.state);
    if (hash !== this.written) {
      this.written = hash;
      try {
        if (entry) history.pushState(null, '', hash);
        else history.replaceState(null, '', hash);
      } catch {
        // Some browsers refuse many in a short time: the next one names all of the state again.
      }
      this.written = location.hash;
    }
    this.tell();
  }

  follow(listener: Listener): void {
    this.listeners.push(listener);
  }

  tell(): void {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      for (const listener of this.listeners) listener();
    });
  }
}
