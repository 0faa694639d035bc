// Makes the studio of this window and ties it to the page: theme, title, notices outside the window.
import type { EventMessage } from '#contract/api.ts';
import type { Client } from '../api/client.ts';
import { createNavigation } from '../store/navigation.ts';
import { createStudio, type Studio } from '../store/studio.ts';
import { createStudioStore, isDarkTheme, type StudioStore, type ThemeChoice } from '../store/studio-store.ts';
import { formatWord } from '../ui/format.ts';
import { recall, remember } from '../ui/storage.ts';
import { titleOf } from './title.ts';

export function startStudio(client: Client): Studio {
  const darkQuery = matchMedia('(prefers-color-scheme: dark)');
  const store = createStudioStore(recallTheme(), darkQuery.matches);
  darkQuery.addEventListener('change', (event) => store.getState().setSystemIsDark(event.matches));
  bindPage(store);
  const navigation = createNavigation(window);
  const studio = createStudio({
    client,
    store,
    navigation,
    onFinished: (message) => notifyOutside(store, message),
  });
  studio.start();
  return studio;
}

/** The theme is known before the settings arrive, so the first paint has it. */
function recallTheme(): ThemeChoice {
  const theme = recall('theme');
  return theme === 'light' || theme === 'dark' ? theme : 'system';
}

function bindPage(store: StudioStore): void {
  const apply = (): void => {
    const state = store.getState();
    document.documentElement.dataset['theme'] = isDarkTheme(state) ? 'dark' : 'light';
    document.title = titleOf(state);
    remember('theme', state.theme);
  };
  apply();
  store.subscribe(apply);
}

/** Hosts with notices of their own show them; a browser does when it was allowed and nobody looks at the window. */
function notifyOutside(store: StudioStore, message: Extract<EventMessage, { name: 'run.finished' }>): void {
  const hostShows = store.getState().info?.capabilities.includes('notices') ?? false;
  if (hostShows || !document.hidden || typeof Notification === 'undefined') return;
  if (Notification.permission !== 'granted') return;
  const { item, status } = message.payload;
  // oxlint-disable-next-line no-new -- showing it is the effect
  new Notification(`${item.name}: ${formatWord(status)}`, {
    body: `${item.counts.completed} of ${item.counts.planned} episodes have a verdict.`,
  });
}
