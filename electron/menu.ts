// The application menu: what every program of the system has, and the pages. Actions of the page live in its own
// command palette.
import type { MenuItemOptions } from './electron-api.ts';

export interface MenuActions {
  /** Shows a page of the interface: `/evaluate`, `/history`, … */
  readonly show: (page: string) => void;
  readonly openGraph: () => void;
}

const pages = ['Evaluate', 'History', 'Compare', 'Replay', 'Canvas', 'Nodesets', 'Settings'] as const;

export function menuTemplate(platform: NodeJS.Platform, actions: MenuActions): MenuItemOptions[] {
  const mac = platform === 'darwin';
  return [
    ...(mac ? [{ role: 'appMenu' } as const] : []),
    {
      label: 'File',
      submenu: [
        { label: 'Open graph…', accelerator: 'CmdOrCtrl+O', click: actions.openGraph },
        { type: 'separator' },
        mac ? { role: 'close' } : { role: 'quit' },
      ],
    },
    { role: 'editMenu' },
    {
      label: 'View',
      submenu: [
        ...pages.map((page, index): MenuItemOptions => ({
          label: page,
          accelerator: `CmdOrCtrl+${index + 1}`,
          click: () => actions.show(`/${page.toLowerCase()}`),
        })),
        { type: 'separator' },
        { role: 'reload' },
        { role: 'resetZoom' },
        { role: 'zoomIn' },
        { role: 'zoomOut' },
        { role: 'togglefullscreen' },
      ],
    },
    { role: 'windowMenu' },
  ];
}
