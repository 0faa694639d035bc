// Commands that act on every page. Pages put their own before these while they are open.
import { pages } from '../store/address.ts';
import { useCommand, useStudio } from '../store/use-studio.tsx';
import { isDarkTheme } from '../store/studio-store.ts';
import { useEffect } from 'react';

export function useGlobalCommands(): void {
  const { commands, navigation, store, client } = useStudio();
  useCommand('palette.open', () => store.getState().setOverlay('palette'));
  useCommand('keys.show', () => store.getState().setOverlay('keys'));
  useCommand('theme.toggle', () => {
    const { settings, setTheme, setWorkspace } = store.getState();
    const theme = isDarkTheme(store.getState()) ? 'light' : 'dark';
    setTheme(theme);
    if (!settings) return;
    const changed = { ...settings, appearance: { theme } } as const;
    setWorkspace({ settings: changed });
    void client.request('settings.set', { settings: changed }).catch(() => undefined); // Kept in this browser anyway.
  });
  useCommand('help.open', () => {
    const { info } = store.getState();
    if (!info?.docsUrl) return;
    if (info.host === 'electron') location.assign(info.docsUrl);
    else window.open(info.docsUrl, '_blank', 'noreferrer');
  });
  useCommand('search.focus', () => {
    document.querySelector<HTMLInputElement>('main input[type="search"]')?.focus();
  });
  useCommand('back', () => goBack());
  useEffect(() => {
    const ends = pages.map((page) => commands.register(`go.${page}`, { run: () => navigation.go({ page }) }));
    return () => {
      for (const end of ends) end();
    };
  }, [commands, navigation]);

  function goBack(): void {
    const address = navigation.get();
    if (document.activeElement instanceof HTMLInputElement) document.activeElement.blur();
    else if (address.episode !== null) navigation.change({ episode: null });
    else if (address.run !== null) navigation.go({ page: address.page });
  }
}
